"""The dump of Avro files: every byte has its field, whatever is damaged."""

from __future__ import annotations

import random
from pathlib import Path

import pytest

from places import GOLDEN_FILES
from pqassay.dump import dump
from pqassay.lake.kinds import dumped_as
from pqassay_spec.base.sources import BytesSource
from pqassay_spec.grammar.trace import Leaf

FILES = sorted(GOLDEN_FILES.glob("ice/*/table/metadata/*.avro"))


def leaves_of(data: bytes) -> tuple[list[Leaf], list[str]]:
    leaves: list[Leaf] = []
    errors = dump(BytesSource(data, "m.avro"), leaves.extend, dumped_as("m.avro"))
    return leaves, [str(error) for error in errors]


@pytest.mark.parametrize("path", FILES, ids=lambda path: f"{path.parent.parent.parent.name}/{path.name}")
def test_every_byte_has_one_field(path: Path) -> None:
    data = path.read_bytes()
    leaves, errors = leaves_of(data)
    if errors:  # a magic or a marker that is damaged on purpose
        assert path.parent.parent.parent.name in ("list-no-avro", "manifest-marker")
        return
    position = 0
    for leaf in leaves:
        if leaf.length:
            assert position == leaf.offset
            position += leaf.length
    assert len(data) == position


def test_a_bound_is_shown_where_it_is() -> None:
    data = (GOLDEN_FILES / "ice/plain/table/metadata/manifest-0.avro").read_bytes()
    values = {leaf.path: leaf for leaf in leaves_of(data)[0]}
    upper = values["[0].data_file.upper_bounds[1].value"]

    assert (b"zinc", b"zinc") == (upper.value, data[upper.offset : upper.offset + upper.length])
    assert 2 == values["[0].data_file.upper_bounds[1].key"].value


def test_no_damage_is_a_mistake() -> None:
    good = (GOLDEN_FILES / "ice/plain/table/metadata/snap-1.avro").read_bytes()
    dice = random.Random(25)
    for _ in range(300):
        damaged = bytearray(good)
        damaged[dice.randrange(len(good))] = dice.randrange(256)
        leaves, errors = leaves_of(bytes(damaged))
        assert leaves or errors
