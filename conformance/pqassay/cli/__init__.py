"""The command `pqassay`: options in, exit codes and text out.

Contents: the commands, one module each, or a package for commands with many options (`check` with
``pqassay.toml``, `run`), the progress bar, and messages for failures.  A command parses its options, calls
the room that does the work, and writes the result.

Excluded: decisions about a file. Heavy libraries are imported inside the command that needs them, so that ``pqassay --help`` stays quick.
Only ``python -m pqassay`` and the pipeline, whose command has the same options, import this room.
"""
