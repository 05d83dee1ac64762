"""Golden files: the list, a page for each with every byte, and the museum.

Contents: the list (`case_list`), the pages (`case_pages`), and the exhibits (`museum_pages`). Parts of the pages are bytes with their
fields (`hex_view`, `field_types`), differences from the parent (`byte_changes`, `changed_bytes`) and questions about a file
(`case_questions`).

Excluded: the obligations of rules.
"""
