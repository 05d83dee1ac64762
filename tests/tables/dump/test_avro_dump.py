"""The dump of Avro files; that every byte of golden ones has its field, `test_table_dump` tests."""

from __future__ import annotations

import random

from places import GOLDEN_FILES
from pqassay.dump import dump
from pqassay.stores.kinds import dumped_as
from pqassay_spec.base.sources import BytesSource
from pqassay_spec.grammar.trace import Leaf


def leaves_of(data: bytes) -> tuple[list[Leaf], list[str]]:
    leaves: list[Leaf] = []
    errors = dump(BytesSource(data, "m.avro"), leaves.extend, dumped_as("m.avro"))
    return leaves, [str(error) for error in errors]


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
