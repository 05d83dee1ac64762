"""Golden files: recipes as tables, and the generator, which writes the same bytes on every machine.

Contents: for each family a module with its name (`bloom`, `idx1`), or a package if it has many cases (`page_index`, `pm`, `delta`
and others).  The generator finds their tables of cases, ``GOOD`` and ``BAD``, and those of table formats, ``GOOD_TABLES`` and
``BAD_TABLES``. Shared by all: making a case (`recipes`, `tables`) and the duties of readers (`reads`, `stories`, `rows`).  The
museum of real defects has cases of all families.

Excluded: clocks, randomness, and files of other software, which are under ``interop``.
"""
