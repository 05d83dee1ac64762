"""The commands of the reader, and the driver through which the conformance runner asks the reference and the reader.

What lives here: options, text and exit codes.  What never comes in: anything that reads a format; libraries are imported by the
command that needs them.
"""
