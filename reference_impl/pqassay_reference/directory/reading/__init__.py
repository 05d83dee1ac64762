"""Indexes read from a file: the entries that may be used, their blobs, and what they exclude or say."""
