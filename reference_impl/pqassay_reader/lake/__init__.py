"""Many files: datasets that prune themselves by the indexes in their files.

Contents: reading the tails of files, the index table that remembers them, and the dataset that DuckDB, DataFusion, Polars and
pyarrow query.  Excluded: the choice of data files in a folder (see `pqassay_reference.files`).
"""
