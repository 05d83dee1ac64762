"""Commands of `pqassay`, and the driver through which the conformance runner asks the reference.

Contents: options, text and exit codes.  Excluded: anything that reads or writes a format; libraries are
imported by the command that needs them.
"""
