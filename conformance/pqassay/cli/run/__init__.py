"""The command ``pqassay run`` and those about drivers: which implementation is asked, and about which files."""
