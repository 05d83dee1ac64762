"""The schema of a Parquet file: its leaves, its tree, logical types and the values that they allow."""
