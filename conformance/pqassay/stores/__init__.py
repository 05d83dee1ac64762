"""Stores: the files to judge, and access to their bytes, on disk and in object stores.

Contents: paths, folders, patterns and URIs that become a list of targets, the kinds of files by their names, and
objects in remote stores.

Excluded: the contents of files.  ``pyarrow`` is imported by `remote` and `remote_source` only, where a URI
needs it.
"""
