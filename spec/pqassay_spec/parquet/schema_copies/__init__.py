"""Copies of the schema that Arrow, pandas and Spark store in the key-value metadata, and the columns that fit their types."""
