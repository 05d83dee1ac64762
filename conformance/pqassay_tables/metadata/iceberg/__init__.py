"""Iceberg tables: the JSON metadata, read into facts as they are written.

What lives here: which metadata file is read, and what it says (`metadata`).
"""
