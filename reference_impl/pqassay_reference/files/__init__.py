"""Files: which files of a folder are data, and which folders are tables, whose files must not be read by themselves.

Excluded: contents of files.
"""
