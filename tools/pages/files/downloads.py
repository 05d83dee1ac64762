"""Downloads: golden files as an archive with digests, schemas, results, and a feed of rules; and the page that lists them."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator
from functools import cache
from pathlib import Path

from pages.page import File, Site, rule_page
from pages.places import GOLDEN_FILES, ROOT
from pages.tables.engine_answers import MEASURED
from pages.tables.golden_tables import zipped
from pqassay_spec.rules import catalogue

SCHEMAS = ROOT / "conformance" / "pqassay" / "schemas"

ARCHIVE = "data/golden_files.zip"

SUMS = "data/SHA256SUMS"

FEED = "data/rules-feed.json"

TABLE_ANSWERS = "data/table_engines.json"


@cache
def golden_paths() -> list[Path]:
    """All golden files, in the order of their names."""
    return sorted(path for path in GOLDEN_FILES.rglob("*") if path.is_file())


@cache
def archive() -> bytes:
    """All golden files as one archive, with the same bytes on every machine."""
    return zipped((_name(path), path) for path in golden_paths())


def _name(path: Path) -> str:
    return (Path("golden_files") / path.relative_to(GOLDEN_FILES)).as_posix()


def sums() -> str:
    """The SHA-256 digests of the archive and of every golden file, in the format of ``sha256sum --check``."""
    lines = [f"{hashlib.sha256(archive()).hexdigest()}  {Path(ARCHIVE).name}"]
    lines += [f"{hashlib.sha256(path.read_bytes()).hexdigest()}  {_name(path)}" for path in golden_paths()]
    return "\n".join(lines) + "\n"


def feed(site: Site) -> str:
    """A JSON feed with an entry for the rules of each version, the newest first."""
    versions = sorted(
        {rule.since for rule in catalogue.rules().values()},
        key=lambda text: [*map(int, text.split("."))],
        reverse=True,
    )
    items = [
        {
            "id": f"rules-{version}",
            "title": f"Rules of version {version}",
            **({"url": f"{site.address}rules/index.html"} if site.address else {}),
            "content_html": "<ul>"
            + "".join(
                f'<li><a href="{site.address or "../"}{rule_page(rule.id)}">{rule.id}</a>: {rule.sentence}</li>'
                for rule in catalogue.rules().values()
                if rule.since == version
            )
            + "</ul>",
        }
        for version in versions
    ]
    told = {"version": "https://jsonfeed.org/version/1.1", "title": "Rules of pqassay", "items": items}
    return json.dumps(told, indent=1, ensure_ascii=False) + "\n"


def files(site: Site) -> Iterator[File]:
    """Yield all downloads that no other module makes."""
    yield File(ARCHIVE, archive())
    yield File(SUMS, sums().encode())
    yield File(FEED, feed(site).encode())
    yield File(TABLE_ANSWERS, MEASURED)
    for path in sorted(SCHEMAS.glob("*.json")):
        yield File(f"data/schemas/{path.name}", path)


def lines(site: Site) -> Iterator[str]:
    """Yield the tables of downloads for the page ``data/index.html``."""
    yield site.render(
        "downloads.md",
        "data/index.html",
        site=site,
        archive=ARCHIVE,
        sums=SUMS,
        feed=FEED,
        table_answers=TABLE_ANSWERS,
        megabytes=len(archive()) / 1_000_000,
        schemas=[(path, _title(path)) for path in sorted(SCHEMAS.glob("*.json"))],
    )


def _title(path: Path) -> str:
    """The title of a schema: its description up to the list of members."""
    name = path.name.partition(".")[0]
    told = json.loads(path.read_text(encoding="utf-8")).get("description") or TITLES.get(name, name)
    return str(told.partition("Attributes:")[0].strip())


TITLES = {"answer": "An answer of a driver.", "request": "A request to a driver."}
"""Titles of schemas without a description."""
