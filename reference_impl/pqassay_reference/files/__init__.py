"""Files: which files of a folder are data, and which folders are tables, whose files nobody may read by themselves.

What never comes in: what the files hold.
"""
