"""The command `pqassay`: options in, exit codes and text out.

What lives here: the commands, one module each, or a room for those with many options (`check` with ``pqassay.toml``, `run`), the progress bar,
and what a user is told when something fails.  A command parses its options, calls the room that does the work, and writes the result.

What never comes in: anything that decides about a file.  Heavy libraries are imported inside the command that needs them, so that
``pqassay --help`` stays quick.  Nothing imports this room but ``python -m pqassay`` and the pipeline, whose command has the
same options.
"""
