"""Queries: Spark reads only the files that indexes cannot exclude."""
