"""The commands of the suite: choose an implementation and files, run the tests, and print or write the results.

Contents: options, text and exit codes.  Excluded: judging of answers.
"""
