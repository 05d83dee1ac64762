"""The part of the site that the checker in the browser needs, without the rest, which takes long to build."""

from __future__ import annotations

import shutil
from pathlib import Path

import yaml  # type: ignore[import-untyped] # pqassay does not depend on its stubs
from npm_package import PackageMissingError
from pages.cases import case_pages
from pages.files import checker
from pages.page import Site
from pages.tables import table_pages

from browser import do_without
from places import ROOT

FRAME = """<!doctype html><html lang="en"><head><meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="{policy}"><title>checker</title><link rel="icon" href="data:,">
<meta name="viewport" content="width=device-width"><link rel="stylesheet" href="../assets/checker.css"></head>
<body class="md-typeset"><h1>Check a file in the browser</h1>{body}</body></html>"""


HOME = """<!doctype html><html lang="en"><head><meta charset="utf-8"><title>home</title><link rel="icon" href="data:,"></head>
<body>{drop}<script src="assets/drop.js"></script></body></html>"""


def write_checker_site(folder: Path) -> Site:
    """Write it; where the runtime is neither kept nor available, the test is skipped, and fails with ``CI=true``."""
    try:
        checker.PACKAGE.content()
    except PackageMissingError as error:
        do_without(f"there is no {checker.PACKAGE}: {error}")
    site = Site()
    for file in (*checker.files(site), *case_pages.files(site), *table_pages.files(site)):
        target = folder / file.path
        target.parent.mkdir(parents=True, exist_ok=True)
        if isinstance(file.content, Path):
            target.symlink_to(file.content)
        else:
            target.write_bytes(file.content)
    shutil.copytree(ROOT / "docs" / "assets", folder / "assets")
    body = "\n".join(checker.lines(site))
    (folder / "check" / "index.html").write_text(FRAME.format(policy=policy(), body=body), "utf-8")
    (folder / "index.html").write_text(HOME.format(drop=drop_zone()), "utf-8")
    return site


def drop_zone() -> str:
    """The line of the home page on which files are dropped."""
    lines = (ROOT / "docs" / "index.md").read_text("utf-8").splitlines()
    return next(line for line in lines if line.startswith('<a class="drop"'))


def policy() -> str:
    """What the page may ask for, as its source says it in its front matter."""
    _, front_matter, _ = (ROOT / "docs" / "check" / "index.md").read_text("utf-8").split("---\n", 2)
    return str(yaml.safe_load(front_matter)["policy"])
