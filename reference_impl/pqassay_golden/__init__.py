"""Golden files: recipes as tables, and the generator that writes them, the same bytes on every machine.

Contents: for each family a module of its name (`bloom`, `idx1`), or a room of its name where it has many cases (`page_index`, `pm`, `delta`
and others).  Their tables of cases, ``GOOD`` and ``BAD``, are found by the generator, and those of tables, ``GOOD_TABLES`` and ``BAD_TABLES``, likewise.
For all of them: how a case is made (`recipes`, `tables`) and what readers owe it (`reads`, `stories`, `rows`).  The museum of real defects has cases of all families.

Excluded: a clock, randomness, and files of other software, which golden files keep under ``interop``.
"""
