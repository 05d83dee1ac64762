"""What can be downloaded: golden files as an archive with digests, schemas, results, and a feed of rules; and the page that lists it."""

from __future__ import annotations

import hashlib
import io
import json
import zipfile
from collections.abc import Iterator
from functools import cache
from pathlib import Path

from pages.markup import table
from pages.page import File, Site, rule_page
from pages.places import GOLDEN_FILES, ROOT
from pages.tables.engine_answers import MEASURED
from pqassay_spec.rules import catalogue

SCHEMAS = ROOT / "conformance" / "pqassay" / "schemas"

ARCHIVE = "data/golden_files.zip"

SUMS = "data/SHA256SUMS"

FEED = "data/rules-feed.json"

RESULTS = "data/results"

TABLE_ANSWERS = "data/table_engines.json"

EPOCH = (1980, 1, 1, 0, 0, 0)
"""The time of everything in the archive, so that it has the same bytes wherever it is made."""

MEGABYTE = 1_000_000


def golden_paths() -> list[Path]:
    """Every file of the golden files, in the order of their names."""
    return sorted(path for path in GOLDEN_FILES.rglob("*") if path.is_file())


@cache
def archive() -> bytes:
    """All golden files as one archive; the same bytes wherever it is made."""
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w", zipfile.ZIP_DEFLATED, compresslevel=6) as packed:
        for path in golden_paths():
            name = Path("golden_files") / path.relative_to(GOLDEN_FILES)
            packed.writestr(zipfile.ZipInfo(name.as_posix(), EPOCH), path.read_bytes(), zipfile.ZIP_DEFLATED)
    return stream.getvalue()


def sums() -> str:
    """The SHA-256 of the archive and of every golden file, as ``sha256sum --check`` reads them."""
    lines = [f"{hashlib.sha256(archive()).hexdigest()}  {Path(ARCHIVE).name}"]
    for path in golden_paths():
        name = Path("golden_files") / path.relative_to(GOLDEN_FILES)
        lines.append(f"{hashlib.sha256(path.read_bytes()).hexdigest()}  {name.as_posix()}")
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
    """Yield everything that is not made elsewhere."""
    yield File(ARCHIVE, archive())
    yield File(SUMS, sums().encode())
    yield File(FEED, feed(site).encode())
    yield File(TABLE_ANSWERS, MEASURED)
    for path in sorted(SCHEMAS.glob("*.json")):
        yield File(f"data/schemas/{path.name}", path)


def lines(site: Site) -> Iterator[str]:
    """Yield the tables of what there is, for the page ``data/index.html``."""
    size = len(archive()) / MEGABYTE
    rows = [
        (
            _link(ARCHIVE),
            f"all {len(site.cases):,} golden files and {len(site.tables):,} golden tables with their manifests, {size:.1f} MB",
        ),
        (_link(SUMS), "the SHA-256 of the archive and of each file in it: `sha256sum --check SHA256SUMS`"),
        (
            _link("data/rules.json"),
            "every rule with its origin, its golden files, and what implementations make of them",
        ),
        (_link(FEED), "the rules of each version, as a [JSON feed](https://www.jsonfeed.org/)"),
        (_link("implementations/answers.csv"), "every answer of every implementation"),
        (_link(TABLE_ANSWERS), "what engines do with golden Delta and Iceberg tables"),
        (_link("status.csv"), "who can do what, by feature"),
        (_link("status.json"), "the same, with the cases that prove it"),
    ]
    yield from table(("File", "What it is"), rows)
    yield from ("## Results", "")
    yield from table(
        ("File", "Implementation", "Asked on"),
        (
            (
                _link(f"{RESULTS}/{kept.name}/{kept.path.name}"),
                f"{kept.name} {kept.version}",
                kept.report.date or "",
            )
            for kept in site.results.kept
        ),
    )
    yield from ("## Schemas", "")
    described = (
        (_link(f"data/schemas/{path.name}"), _title(path)) for path in sorted(SCHEMAS.glob("*.json"))
    )
    yield from table(("File", "About"), described)


def _link(path: str) -> str:
    """A link from the page ``data/index.html``."""
    name = path.removeprefix("data/")
    return f'<a href="{name if path != name else f"../{path}"}" download>{name.removeprefix("results/")}</a>'


def _title(path: Path) -> str:
    """What a schema is of: its description up to the list of members."""
    name = path.name.partition(".")[0]
    found = json.loads(path.read_text(encoding="utf-8"))
    told = str(found.get("description") or TITLES.get(name, name))
    return told.partition(" Attributes:")[0].partition("Attributes:")[0].strip()


TITLES = {"answer": "An answer of a driver.", "request": "A request to a driver."}
"""What schemas are of that do not say it."""
