"""Source folders of the site."""

from __future__ import annotations

from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent.parent

GOLDEN_FILES = ROOT / "golden_files"

CHAPTERS = ROOT / "spec" / "chapters"

UPSTREAM = ROOT / "docs" / "upstream"
"""Defects of writers, each in the form of an issue."""

ERRATA = ROOT / "docs" / "data" / "errata.toml"
"""Mistakes in documents."""
