"""Golden files: recipes as tables, and the generator that writes them, the same bytes on every machine.

What lives here: a module for each family with tables of cases, ``GOOD`` and ``BAD``, which the generator finds by these
names; how a case is made (`recipes`, `pm_recipes`); and the museum of real defects.

What never comes in: a clock, randomness, and files of other software, which golden files keep under ``interop``.
"""
