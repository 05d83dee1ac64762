"""IDX1: the index of distinct values that is embedded in a Parquet file.

Contents: the grammar of the blob and the published way to read it (`blob`), and the companion record, which names the
column is described (`companion`).
"""
