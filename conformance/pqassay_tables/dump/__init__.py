"""The traces of metadata files of tables: a module for each kind of file, see `pqassay.dump`."""
