"""Decoding: pages and column chunks as arrays, levels, and the orders and hashes of values.

Contents: codecs, levels, dictionaries and page bodies, the only decoder of column chunks (`chunk_values`), a
survey of all page bodies, and comparison of values: keys, extremes, hashes.

Excluded: claims of metadata about values; the neighboring packages compare them.
"""
