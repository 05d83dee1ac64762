"""The checker in the browser: the judge as an archive for Pyodide, the runtime, and the data for its page.

The runtime is the npm package of one exact version, see `npm_package`; without npm or a network, the site is built without the checker, and
its page says so.
"""

from __future__ import annotations

import html
import importlib.util
import io
import json
import logging
import re
import zipfile
from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from pathlib import Path

from npm_package import NpmPackage, PackageMissingError

from pages.page import File, Site, case_file
from pages.places import ROOT
from pages.tables.golden_tables import in_folder
from pqassay_spec.golden.case import MANIFEST
from pqassay_spec.pm import grammar as pm

VERSION = "314.0.7"
"""The version of Pyodide, which begins with its Python version."""

INTEGRITY = "sha512-0YvXxEhfEdpLfb/XkM2BFAeMROq0iMUX2bzzH9pOttyMcWkwq+HbE5uyuGD82LN7y2q+SNvi/6V5JEsOlD2R1A=="
"""The digest of Pyodide in the form of the registry and of ``package-lock.json``."""

PACKAGE = NpmPackage("pyodide", VERSION, INTEGRITY, "PQASSAY_PYODIDE")

RUNTIME = (
    "pyodide.mjs",
    "pyodide.asm.mjs",
    "pyodide.asm.wasm",
    "pyodide-lock.json",
    "python_stdlib.zip",
    "README.md",
)
"""The files of Pyodide that the page loads, and its license."""

FOLDER = "check/runtime"

ARCHIVE = f"{FOLDER}/pqassay.zip"

LEFT_OUT = (
    "pqassay/cli/",
    "pqassay/corpus/",
    "pqassay/proof/",
    "pqassay/repair/",
    "pqassay/schemas/",
    "pqassay_suite/",
    "pqassay_tables/proof/",
    "pqassay/explain.py",
    "pqassay/pytest_plugin.py",
    "pqassay/strategies.py",
)
"""Parts of the packages that judging in a browser does not use."""

COMPILED = re.compile(rb"^(?:import|from) (?:numpy|pyarrow|xxhash)\b", re.MULTILINE)
"""A pattern for modules that cannot be imported in the browser, since they need compiled code."""

SUFFIXES = (".py", ".toml", ".json", ".j2", ".css", ".js")

LIBRARIES = ("construct", "jinja2", "markupsafe")
"""Required third-party packages; all are pure Python, or have an optional compiled part."""

log = logging.getLogger("mkdocs.pages.checker")


def files(site: Site) -> Iterator[File]:
    """Yield the runtime, the archive, and the lists of golden files and tables to open; empty without the runtime."""
    found = runtime()
    if found is None:
        return
    content = {**found, "pqassay.zip": archive()}
    for name, data in content.items():
        yield File(f"{FOLDER}/{name}", data)
    sizes = {name: len(data) for name, data in content.items() if name != "README.md"}
    yield File(f"{FOLDER}/sizes.json", json.dumps(sizes).encode())
    cases = {case_id: parts_of(site, case_id) for case_id in site.cases}
    yield File("check/cases.json", json.dumps(cases, separators=(",", ":")).encode())
    tables = {
        table_id: [(one["file"], case_file(table_id, in_folder(one["file"]))) for one in table["files"]]
        for table_id, table in site.tables.items()
    }
    yield File("check/tables.json", json.dumps(tables, separators=(",", ":")).encode())


def parts_of(site: Site, case_id: str) -> Sequence[str]:
    """The addresses in the site of the files that a check of a golden case reads, the judged one first."""
    main = site.cases[case_id]["input"]["file"]
    folder = ROOT / "golden_files" / case_id
    others = sorted(path.name for path in folder.iterdir() if path.name not in (main, MANIFEST))
    beside = [name for name in others if main == pm.FILE_NAME and name == pm.DATA_NAME]
    return [case_file(case_id, name) for name in (main, *beside)]


def lines(site: Site) -> Iterator[str]:
    """Yield the part of the page that JavaScript uses, or the sentence that the checker is missing."""
    if runtime() is None:
        yield '<p class="checker-absent"><strong>The checker was left out of this copy of the site</strong>, since its runtime could not '
        yield "be had when it was built. The command above judges the same files, and more.</p>"
        return
    options = "".join(f'<option value="{html.escape(case_id)}">' for case_id in (*site.cases, *site.tables))
    yield site.render("checker.html", "check/index.html", options=options)


@cache
def runtime() -> Mapping[str, bytes] | None:
    """The files of the runtime by name; ``None``, with a log message, if it is neither stored nor available."""
    try:
        return PACKAGE.files(RUNTIME)
    except PackageMissingError as error:
        # Information, not a warning: a strict build continues, and the tests of the checker are skipped.
        log.info("THE CHECKER IN THE BROWSER IS LEFT OUT: %s", error)
        return None


def archive() -> bytes:
    """The judging packages as a zip archive, with the same bytes for the same sources."""
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w", zipfile.ZIP_DEFLATED, compresslevel=9) as packed:
        for name, path in sorted(_content()):
            if COMPILED.search(content := path.read_bytes()):
                continue
            entry = zipfile.ZipInfo(name)  # the earliest possible date
            entry.compress_type = zipfile.ZIP_DEFLATED
            entry.external_attr = 0o644 << 16
            packed.writestr(entry, content, compresslevel=9)
    return stream.getvalue()


def _content() -> Iterator[tuple[str, Path]]:
    judge = ROOT / "conformance"
    roots = [ROOT / "spec" / "pqassay_spec", judge / "pqassay", judge / "pqassay_tables"]
    for name in LIBRARIES:
        spec = importlib.util.find_spec(name)
        if spec is None or spec.origin is None:
            raise PackageMissingError(f"{name} is not installed")
        roots.append(Path(spec.origin).parent)
    for root in roots:
        for path in root.rglob("*"):
            name = f"{root.name}/{path.relative_to(root).as_posix()}"
            if path.suffix in SUFFIXES and "__pycache__" not in name and not name.startswith(LEFT_OUT):
                yield name, path
