"""Many files: datasets that prune themselves by the indexes in their files.

What lives here: listing, reading the tails of files, the index table that remembers them, and the dataset that DuckDB,
DataFusion, Polars and pyarrow query.  This is the only room of the reference that may be fast at the cost of being plain, so nothing but
commands and the pipeline may import it.
"""
