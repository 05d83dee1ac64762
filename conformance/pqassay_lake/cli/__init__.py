"""The commands for many files, and the parts that ``pqassay check`` loads from this package."""
