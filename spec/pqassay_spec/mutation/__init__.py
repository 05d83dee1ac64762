"""Mutations: one named change to one structure of a file, by which every invalid golden file differs from a valid one.

Contents: the mutations and their operators (`mutations`, `operators`), those that a grammar suggests (`possible`), and
for each kind of file (``file_*``, ``pm_*``) how it is taken apart, changed and put together again.

Excluded: a file that someone keeps; bytes go in and come out.
"""
