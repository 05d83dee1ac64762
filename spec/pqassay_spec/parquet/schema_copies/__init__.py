"""Copies of the schema in the key-value metadata: of Arrow, pandas and Spark, and the columns in which their types are stored."""
