"""The answers of implementations: read from stored results, and shown by file, family, feature and implementation.

Contents: stored results (`results`), verdicts on answers (`answers`), matrices (`matrix`, `results_tables`), the pages of implementations
(`implementation_pages`), abilities (`status_page`) and defects in the form of issues (`upstream_issues`).

Excluded: answers written by hand.
"""
