"""The command `pqassay spark`: its options, text and exit codes."""
