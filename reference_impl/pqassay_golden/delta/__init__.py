"""Golden Delta tables: logs written by hand beside tiny Parquet files, and the same with one claim that is false."""
