"""Golden Delta tables: logs written by hand beside tiny Parquet files, and copies with one false claim."""
