"""Golden Iceberg tables: manifests of a small Avro writer beside tiny Parquet files, and the same with one claim that is false."""
