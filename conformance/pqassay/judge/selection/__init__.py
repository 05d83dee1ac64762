"""Which files a check judges: those of tables, those on a list, those that are new, or a sample."""
