"""What all pages have around them, and the search.

Contents: the frame of generated pages (`frames`), the index of the search (`search_index`) with an entry for each byte (`byte_search`), colours of
what commands print (`console`), and the pages of modules, which MkDocs makes (`api_pages`).

Excluded: what a page says.
"""
