"""The commands of many files, and what ``pqassay check`` loads from here."""
