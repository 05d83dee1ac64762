"""What a table says about a data file, compared with the values: bounds, counts, partition values, deletion vectors.

What lives here: the comparison with the model that all formats of tables feed (`table_claims`), partition transforms, and the bitmaps of
deletion vectors.

What never comes in: how a format writes its metadata; `pqassay_tables.metadata` reads it.
"""
