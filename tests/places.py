"""Folders of this repository that tests look into."""

from __future__ import annotations

from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
GOLDEN_FILES = ROOT / "golden_files"
INTEROP = GOLDEN_FILES / "interop"
"""Golden files that foreign software wrote."""

GUIDES = ROOT / "docs" / "guide"
