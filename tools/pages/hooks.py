"""The hooks that MkDocs calls while it builds the site."""

from __future__ import annotations

import gc
import posixpath
import shutil
from pathlib import Path
from typing import TYPE_CHECKING, Any

from mkdocs.exceptions import PluginError
from mkdocs.plugins import CombinedEvent, event_priority
from mkdocs.structure.files import File

from pages import kinds
from pages import page as generated
from pages.frame import api_pages, byte_search, chapters, frames, search_index
from pages.frame.console import painted
from pages.placeholders import PlaceholderError, replaced

if TYPE_CHECKING:
    from mkdocs.config.defaults import MkDocsConfig
    from mkdocs.structure.files import Files
    from mkdocs.structure.pages import Page
    from mkdocs.utils.templates import TemplateContext


def on_config(config: MkDocsConfig) -> MkDocsConfig:
    """Remove edit links if the repository is unknown, and disable garbage collection until the site is built.

    Nearly all objects, such as half a million fields of golden files, are kept until the end, so repeated garbage collection would waste
    time.
    """
    gc.disable()
    if not config.repo_url:
        config.edit_uri = ""
    return config


def on_files(files: Files, config: MkDocsConfig) -> Files:
    """Add the pages of modules."""
    for path, text in api_pages.module_pages():
        files.append(File.generated(config, path, content=text))
    return files


def on_page_markdown(markdown: str, *, page: Page, **_: Any) -> str:
    """Replace the placeholders of a page. Decisions are excluded from the search to keep its index small.

    The page of a module that this build does not show stays empty, since reading its code is slow.
    """
    here = page.file.src_uri
    if here.startswith("decisions/0"):
        page.meta["search"] = {"exclude": True}
    if here.startswith("reference/") and page.file.generated_by is None:
        markdown = api_pages.linked(markdown)
    elif here.startswith("reference/") and not generated.shared_site().shows(page.file.dest_uri):
        markdown = api_pages.DIRECTIVE.sub(f'<div id="{frames.CONTENT}"></div>\n', markdown)

    def link(target: str, anchor: str) -> str:
        path = "" if target == here else posixpath.relpath(target, posixpath.dirname(here) or ".")
        return f"{path}#{anchor}"

    try:
        return replaced(markdown, link)
    except PlaceholderError as error:
        raise PluginError(f"{here}: {error}") from error


def on_page_content(html: str, *, page: Page, **_: Any) -> str:
    """Color command output, number the sections of chapters, and add the rules after them."""
    if page.file.src_uri.startswith(chapters.FOLDER):
        chapters.number_contents(page.toc)
        html = chapters.with_rules(html, chapters.prefixes_of(Path(page.file.src_uri).stem))
        html = chapters.numbered(chapters.with_whole_ids(html))
    return painted(html)


_whole: dict[str, str] = {}
"""The full content of the page that is being indexed, by its path."""


@event_priority(100)
def _skimmed(context: TemplateContext, page: Page, **_: Any) -> TemplateContext:
    """Give the search, which comes next, only the part of a page to index."""
    _whole[page.file.src_uri] = page.content or ""
    page.content = search_index.skimmed(page.content or "")
    return context


@event_priority(-100)
def _framed(context: TemplateContext, page: Page, **_: Any) -> TemplateContext:
    """Restore the page, and remove the headings of a frame page from the navigation."""
    page.content = _whole.pop(page.file.src_uri)
    if page.meta.get("frame"):
        page.toc.items = page.toc.items[:1]
        for heading in page.toc.items:
            heading.children = []
    return context


on_page_context = CombinedEvent(_skimmed, _framed)  # type: ignore[arg-type]  # it is typed for methods, and these are functions


def on_post_build(config: MkDocsConfig, **_: Any) -> None:
    """Write the generated pages and downloads, and add the pages to the search."""
    folder = Path(config.site_dir)
    site = generated.shared_site()
    try:
        pages = frames.write_pages(
            (page for kind in kinds.PAGES for page in kind(site)),
            folder,
            config.site_name,
            config.site_url or "",
        )
        byte_search.mend_worker(folder)
    except ValueError as error:
        raise PluginError(str(error)) from error
    finally:
        gc.freeze()  # existing objects are kept to the end, and would otherwise be scanned once more
        gc.enable()
    search_index.write(folder, pages, byte_search.entries())
    for file in (file for kind in kinds.FILES for file in kind(site)):
        _write(file, folder)


def _write(file: generated.File, folder: Path) -> None:
    target = folder / file.path
    target.parent.mkdir(parents=True, exist_ok=True)
    if isinstance(file.content, Path):
        shutil.copyfile(file.content, target)
    else:
        target.write_bytes(file.content)
