"""Comparison of a table's claims about a data file with the values: bounds, counts, partition values, deletion vectors.

Contents: the comparison with the model that all formats of tables feed (`table_claims`), partition transforms, and the bitmaps of
deletion vectors.

Excluded: the forms of metadata; `pqassay_tables.metadata` reads it.
"""
