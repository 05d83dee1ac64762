"""Rules: the list, a page for each, the tables of the chapters, and mistakes of documents.

Contents: the list (`rule_list`), the pages (`rule_pages`), the tables of a family (`rule_tables`), rules for readers (`reader_rules`) and
mistakes in the documents that rules come from (`errata_tables`).

Excluded: sentences of rules, which are read from the catalog.
"""
