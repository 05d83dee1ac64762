"""``_pm``: write, read and query it, and make it from a Parquet file.

Contents: the writer with its snapshots and crash safety (`write`, `parts`, `storage`, `history`), the reader (`read`), queries that
skip row groups (`query`), and the generator (`generate`, `column_values`).
"""
