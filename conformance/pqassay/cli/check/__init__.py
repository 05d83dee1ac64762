"""The command ``pqassay check``: its options, the additions of a configuration file and of earlier runs, and its outputs."""
