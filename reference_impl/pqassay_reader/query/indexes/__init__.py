"""Indexes in the file that may exclude rows from a scan: the set of a whole file, distinct sets, and quantile sketches."""
