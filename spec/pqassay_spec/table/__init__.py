"""Tables: what Delta and Iceberg store about Parquet files beside them.

Contents: the names of the files in which tables are described (`layout`), the JSON objects and their members
(`json_objects`, `delta`, `iceberg`), and the grammars of what is binary (`roaring`, `deletion_vector`, `z85`).

Excluded: the content of a table. Reading its files and judging what they say is the judge's.
"""
