"""Pictures of structures: bytes drawn as boxes, and tables of fields.

Contents: drawing as SVG (`drawing`), the layout of a structure that the grammar declares (`declared`, `byte_layout`, `byte_drawing`, and all
that a chapter can ask for in `layouts`), the parts of whole files (`file_map`), the words of a filter (`filter_layout`), and tables of fields (`field_tables`).

Excluded: answers of implementations, and pages of cases or rules.
"""
