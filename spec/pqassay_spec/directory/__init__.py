"""The index directory: any number of indexes, of any granularity, attached to one Parquet file.

Contents: the grammar of the directory and the way to find it (`entries`), the placement of blobs
(`placement`), the identity of the described data (`identity`), and one module for each type of index
(`packed_values`, `distinct_set`, `zone_sums`, `sketches`).

Excluded: data of columns. The judge and the reference compute the expected content of an index independently.
"""
