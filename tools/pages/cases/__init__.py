"""Golden files: the list, a page for each with every byte, and the museum.

Contents: the list (`case_list`), the pages (`case_pages`) with the parts that they show, which are bytes with their fields (`hex_view`,
`field_types`), what differs from the parent (`byte_changes`, `changed_bytes`) and what is asked about a file (`case_questions`), and the exhibits (`museum_pages`).

Excluded: what a rule demands.
"""
