"""Commands of `pqassay`, and the driver through which the conformance runner asks the reference.

What lives here: options, text and exit codes.  What never comes in: anything that reads or writes a format; libraries are
imported by the command that needs them.
"""
