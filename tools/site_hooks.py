"""What MkDocs calls while it builds the site: it takes hooks from a file, and finds the package of generators beside it."""

from __future__ import annotations

from pages.hooks import on_config, on_files, on_page_content, on_page_context, on_page_markdown, on_post_build

__all__ = ["on_config", "on_files", "on_page_content", "on_page_context", "on_page_markdown", "on_post_build"]
