"""Files: which files of a folder are data, and which folders are tables, whose files must not be read directly.

Excluded: contents of files.
"""
