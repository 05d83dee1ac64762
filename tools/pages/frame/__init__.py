"""The frame of all pages, and the search.

Contents: the frame of generated pages (`frames`), the index of the search (`search_index`) with an entry for each byte (`byte_search`),
colors of command output (`console`), and the pages of modules, which MkDocs makes (`api_pages`).

Excluded: the content of pages.
"""
