"""The trace of what tables keep beside their data files: for each kind of file a module of its name, see `pqassay.dump`."""
