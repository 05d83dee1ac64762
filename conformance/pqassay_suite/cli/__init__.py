"""The commands of the suite: which implementation is asked, about which files, and what becomes of its results.

What lives here: options, text and exit codes.  What never comes in: anything that judges an answer.
"""
