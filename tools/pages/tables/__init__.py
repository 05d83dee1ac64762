"""Golden tables: their manifests, the behavior of engines on their false claims, and a page for each.

Contents: the manifests and files (`golden_tables`), the measured answers of engines (`engine_answers`), both by rule (`lessons`), and the
pages with downloads (`table_pages`).

Excluded: the measurement of answers, see `tools/write_table_engines.py`.
"""
