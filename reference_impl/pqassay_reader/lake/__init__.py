"""Many files: datasets that prune themselves with the indexes in their files.

Contents: reading the ends of files, the index table that caches their values, and the dataset for DuckDB, DataFusion, Polars and
pyarrow query.  Excluded: the choice of data files in a folder (see `pqassay_reference.files`).
"""
