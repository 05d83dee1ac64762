"""Columns: the values of a Parquet file as Python and Arrow see them, page by page and row by row."""
