"""The command ``pqassay check``: its options, its configuration file, its use of earlier runs, and its outputs."""
