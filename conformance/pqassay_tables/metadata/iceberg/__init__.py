"""Iceberg tables: the JSON metadata, read into facts as they are written.

Contents: which metadata file is read, and what it says (`metadata`).
"""
