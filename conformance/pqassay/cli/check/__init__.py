"""The command ``pqassay check``: its options, what a configuration file and earlier runs add to them, and what it leaves behind."""
