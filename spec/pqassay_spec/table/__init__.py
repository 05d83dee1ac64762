"""Tables: what Delta and Iceberg store about Parquet files beside them.

Contents: the names of the files that describe tables (`layout`), the JSON objects and their members
(`json_objects`, `delta`, `iceberg`), and the grammars of binary structures (`roaring`, `deletion_vector`, `z85`).

Excluded: the content of a table. The judge reads its files and judges their claims.
"""
