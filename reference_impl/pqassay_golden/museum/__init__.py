"""The museum: golden cases of defects that released software had.  `museum.toml` tells the story of each of them."""
