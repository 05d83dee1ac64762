"""Golden tables: their manifests, what engines do with their false claims, and a page for each.

Contents: the manifests and files (`golden_tables`), the measured answers of engines (`engine_answers`), what both show of a rule
(`lessons`), and the pages with what can be downloaded (`table_pages`).

Excluded: how answers are measured, which `tools/write_table_engines.py` does.
"""
