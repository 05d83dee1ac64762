"""What all pages have around them, and the search.

What lives here: the frame of generated pages (`frames`), the index of the search (`search_index`) with an entry for each byte (`byte_search`), colours of
what commands print (`console`), and the pages of modules, which MkDocs makes (`api_pages`).

What never comes in: what a page says.
"""
