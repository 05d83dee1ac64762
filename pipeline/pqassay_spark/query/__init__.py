"""Queries: Spark reads of fewer files, and the data source that writes files with their indexes."""
