"""The generated parts of the site, a module for each kind.

Contents: modules that turn the specification, golden files and kept results into Markdown, HTML and JSON, and the hooks by
which MkDocs calls them (`pages.hooks`).  There are two kinds:

- a **placeholder**, a comment in a page written by people that is replaced by lines of Markdown: `pages.placeholders` lists them;
- a **generated page**, one of many of a kind, such as a page for each rule: a module with ``pages(site)`` that yields
  `pages.page.Page`, and with ``files(site)`` if there is something to download.  `pages.kinds` lists them.  Such pages do not go
  through MkDocs, which would take minutes for a thousand: they are put into the frame of the index page of their folder, see `pages.frame.frames`.

Packages: `pages.pictures` and `pages.stepwise` (drawings of structures and algorithms), `pages.cases`, `pages.tables`, `pages.rules` and
`pages.implementations` (lists, tables and pages of these), `pages.files` (downloads, and the checker), `pages.frame` (the frame of each
page, and the search). Shared modules: `pages.page`, `pages.markup`, `pages.places`.

Excluded: facts about a format, a rule or an implementation, which are read from their declarations.

A generator is plain Python with Jinja templates. Only `pages.hooks` and `pages.frame` depend on MkDocs, so another program can build the
site.
"""
