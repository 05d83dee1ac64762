"""The museum: golden cases of defects that released software had.  `museum.toml` has the story of each."""
