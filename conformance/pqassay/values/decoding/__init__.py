"""Decoding: pages and column chunks as arrays, levels, and the orders and hashes of values.

What lives here: codecs, levels, dictionaries and page bodies, the one decode of a column chunk (`chunk_values`), a survey of the bodies
of all pages, and what makes values comparable: keys, extremes, hashes.

What never comes in: what metadata says about values; the rooms beside this one compare them.
"""
