"""Golden files: recipes as tables, and the generator that writes them, the same bytes on every machine.

What lives here: for each family a module of its name, and where there are many cases further ones whose names begin with it, as
`page_index` and `page_index_pages`.  Their tables of cases, ``GOOD`` and ``BAD``, are found by the generator.  How a case is made
(`recipes`, `pm_recipes`), what readers owe it (`reads`, `stories`, `pm_rows`), and the museum of real defects, whose cases are of all families.

What never comes in: a clock, randomness, and files of other software, which golden files keep under ``interop``.
"""
