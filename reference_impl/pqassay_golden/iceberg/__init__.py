"""Golden Iceberg tables: manifests of a small Avro writer beside tiny Parquet files, and copies with one false claim."""
