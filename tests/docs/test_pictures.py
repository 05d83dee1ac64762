"""Pictures of the chapters: they lie beside the chapters, say in words what they show, and repeat what the bytes say."""

from __future__ import annotations

import re
import xml.etree.ElementTree as ET
from pathlib import Path

import pytest
from pm_update_picture import AFTER, picture, regions, states

from places import ROOT
from pqassay_reference.pm.growth import grow_in
from pqassay_reference.pm.storage import MemoryStorage
from pqassay_spec.base.sources import BytesSource

CHAPTERS = ROOT / "spec" / "chapters"
EMBEDDED = re.compile(r"!\[([^]]*)\]\(([^)]+)\)")


def shown() -> dict[Path, str]:
    """The files of all pictures in chapters, each with its text for those who do not see it."""
    found = [EMBEDDED.findall(path.read_text()) for path in sorted(CHAPTERS.glob("*.md"))]
    return {CHAPTERS / name: words for each in found for words, name in each}


def test_every_picture_is_stored_beside_the_chapters_and_shown() -> None:
    """So it is in the wheel, where a chapter finds it by the same link."""
    assert set((CHAPTERS / "pictures").iterdir()) == set(shown())
    assert all(shown().values())


@pytest.mark.parametrize("path", sorted(shown()), ids=lambda path: path.name)
def test_a_picture_needs_nothing_else_and_has_a_ground_of_its_own_in_dark_mode(path: Path) -> None:
    root = ET.fromstring(path.read_text())
    ground = root.find("{*}rect")
    if ground is None:
        ground = root.find("{*}g/{*}rect")

    assert "img" == root.get("role")
    assert root.get("aria-label") or (root.findtext("{*}title") and root.findtext("{*}desc"))
    assert ground is not None
    if ground.get("class") == "ground":
        style = root.findtext("{*}style") or ""
        light, _, dark = style.partition("@media (prefers-color-scheme: dark)")
        assert "--ground: #ffffff" in light
        assert "--ground: #" in dark
    else:
        assert "#ffffff" == ground.get("fill")
    assert [] == [each.tag for each in root.iter() if each.tag.endswith(("script", "image", "foreignObject"))]


def test_the_parts_of_the_updated_file_tile_it() -> None:
    last = states()[-1].pm
    parts = regions(last)

    assert [0, *(part.end for part in parts)] == [*(part.start for part in parts), len(last)]
    assert ["header", "block 0", "block 1", "block 2", "footer 1", "new block 0", "footer 2"] == [
        part.name for part in parts
    ]


def test_readers_see_the_old_snapshot_until_the_last_step() -> None:
    found = [
        (state.pinned_snapshot.parquet_file_size, state.newest.parquet_file_size, state.steps_back)
        for state in states()
    ]

    assert [(3540, 3540, 0)] * 4 + [(3540, 5405, 1), (5405, 5405, 0)] == found


@pytest.mark.parametrize("number", range(6))
def test_after_a_kill_at_any_step_the_next_update_yields_questdbs_own_file(number: int) -> None:
    storage = MemoryStorage(states()[number].pm)
    grow_in(BytesSource((AFTER / "data.parquet").read_bytes()), storage)

    assert (AFTER / "_pm").read_bytes() == bytes(storage.data)


def test_the_picture_is_told_in_words() -> None:
    told = ET.fromstring(picture()).get("aria-label") or ""

    assert 6 == told.count("readers see the ")
    assert 1 == told.count("readers see the new snapshot, the newest footer")
    assert "The committed size is written, 1471 over 1116: 1471 of 1471 bytes of _pm are committed" in told
