"""Columns: the values of a Parquet file as Python and Arrow values, page by page and row by row."""
