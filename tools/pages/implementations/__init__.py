"""What implementations answered: read from the kept results, and shown by file, family, feature and implementation.

Contents: results as they are kept (`results`), what an answer is worth (`answers`), matrices (`matrix`, `results_tables`), the pages of
implementations (`implementation_pages`), who can do what (`status_page`) and defects written as issues (`upstream_issues`).

Excluded: an answer that was typed.
"""
