"""Many files: datasets that prune themselves by the indexes in their files.

Contents: reading the tails of files, the index table that remembers them, and the dataset that DuckDB, DataFusion, Polars and
pyarrow query.  Excluded: which files of a folder are data, which `pqassay_reference.files` says.
"""
