"""Tables of any format: the interface between the judge and the plug-ins that read their metadata.

Contents: the claims of a table about one data file (`claims`), a model that all formats produce and all
checks of data files use; the files of a table for its readers (`files`); and the cache of tables during a
check (`kept`).

Excluded: formats, which are plug-ins (`pqassay.plugins`); verdicts; and access to files.
"""
