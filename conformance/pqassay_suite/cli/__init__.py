"""The commands of the suite: which implementation is asked, about which files, and what becomes of its results.

Contents: options, text and exit codes.  Excluded: judging of answers.
"""
