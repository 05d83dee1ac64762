"""The schema of a Parquet file: its leaves, its tree, and logical types with the values that they allow."""
