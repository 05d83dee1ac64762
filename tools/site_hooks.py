"""The hooks file of MkDocs, which imports the hooks from the package of generators beside it."""

from __future__ import annotations

from pages.hooks import on_config, on_files, on_page_content, on_page_context, on_page_markdown, on_post_build

__all__ = ["on_config", "on_files", "on_page_content", "on_page_context", "on_page_markdown", "on_post_build"]
