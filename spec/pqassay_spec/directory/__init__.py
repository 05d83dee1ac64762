"""The index directory: any number of indexes, of any granularity, attached to one Parquet file.

Contents: the grammar of the directory and the way to find it (`entries`), the placement of what an entry describes
(`placement`), what ties an entry to the data it was made from (`identity`), and one module for each type of index
(`packed_values`, `distinct_set`, `zone_sums`, `sketches`).

Excluded: data. What an index should hold is worked out by the judge and by the reference, each for itself.
"""
