"""Mutations: one named change to one structure of a file. Every invalid golden file differs from a valid one by a mutation.

Contents: the mutations and their operators (`mutations`, `operators`), the mutations that a grammar suggests (`possible`),
and, for each kind of file (``file_*``, ``pm_*``), how it is parsed, changed and built again.

Excluded: files on disk; bytes go in and come out.
"""
