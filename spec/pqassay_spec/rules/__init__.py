"""The rules: their sentences in TOML files, one for each family, and the catalogue that reads them.

Contents: a file for each family (``page_index.toml``), the catalogue, and facts about rules: the documents that
they come from, profiles of readers, known defects of writers.  A table beside a module of the same name
(``quirks.toml``) belongs to that module; every other table is a family.

Excluded: checks.  An id is never changed and never reused.
"""
