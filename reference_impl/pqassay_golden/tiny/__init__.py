"""The tiny writer: Parquet files of known bytes, with every structure that a golden file needs.

Contents: uncompressed pages, page index, bloom filters and statistics, each option visible in the declaration of a file.
Excluded: speed and completeness; it writes golden files, not data.
"""
