"""The command `pqassay spark`: options in, jobs started, text and exit codes out."""
