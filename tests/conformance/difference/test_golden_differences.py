"""The fields of every golden file: they cover its bytes, and those that differ from its parent's are what its mutation says."""

from __future__ import annotations

import functools
from pathlib import Path

import pytest

from damage import EXAMPLES
from golden_cases import golden_cases
from places import GOLDEN_FILES
from pqassay.difference.comparing import compared
from pqassay.difference.fields import Fields
from pqassay.difference.model import Difference
from pqassay.stores.kinds import judged_as
from pqassay_spec.base.sources import BytesSource
from pqassay_spec.grammar.trace import Unparsed
from pqassay_spec.mutation.mutations import IN_DATA, IN_TXN
from pqassay_spec.pm import grammar as pm
from pqassay_suite.cases.case import GoldenCase

pytestmark = pytest.mark.slow

OTHER_NAMES = {
    "companion": "footer.key_value_metadata",
    "footer_rest": "footer.rest",
    "snapshots[0].rest": "snapshots[0].unknown",
    "blocks[0].padding": "gaps[0]",
    "blocks[0].order[0]": "blocks[0].column_chunks",  # the statistics of one column, in another order
    "row_groups[0].columns[0].bloom_filter.encoded": "row_groups[0].columns[0].bloom_filter",
    "body[11]": "footer.row_groups[0].columns[0].offset_index_offset",  # the order of the structures themselves
}
"""What mutations change under a name that is not a field of the file, and the field in which that shows."""


@functools.cache
def fields_of(path: Path) -> Fields:
    return Fields(BytesSource(path.read_bytes(), str(path)), judged_as(path.name))


STEP = 3 * EXAMPLES - 2
"""One of this number of golden files is looked at; all by `make damages`."""


def golden_paths() -> list[Path]:
    """The files that are looked at."""
    paths = sorted(GOLDEN_FILES.rglob("*"))
    return [path for path in paths if path.suffix == ".parquet" or path.name == pm.FILE_NAME][::STEP]


def test_every_byte_of_every_golden_file_has_one_leaf_or_an_error_says_which_are_shared() -> None:
    uncovered: list[str] = []
    shared: list[str] = []
    count = 0
    for path in golden_paths():
        fields, position = fields_of(path), 0
        count += 1
        for leaf in sorted(fields.leaves.values(), key=lambda leaf: leaf.offset):
            if leaf.length and leaf.offset > position:
                uncovered.append(f"{path}: {position}")
            # Fields of an index directory are decoded from the value of a key, or decompressed.
            is_view = leaf.path.startswith("directory")
            if leaf.length and leaf.offset < position and not is_view:
                shared.append(str(path))
            position = max(position, leaf.offset + leaf.length)
        if position != fields.source.size:
            uncovered.append(f"{path}: {position} of {fields.source.size}")

    assert count > 900 // STEP
    assert [] == uncovered
    assert [] == [
        path
        for path in set(shared)
        if not any("also belong" in str(e) or "more than one" in str(e) for e in fields_of(Path(path)).errors)
    ]


def test_what_is_not_taken_apart_says_why() -> None:
    reasons = {
        leaf.value.reason
        for path in golden_paths()
        for leaf in fields_of(path).leaves.values()
        if isinstance(leaf.value, Unparsed)
    }

    assert "padding: zeros" in reasons
    assert "bytes that belong to no structure: unknown bytes" in reasons
    assert all(reason and "\n" not in reason for reason in reasons)


LARGE = [
    "dir/blobs-overlap",
    "idx1/draft-g0",
    "idx1/draft-g1",
    "idx1/page-index-displaced",
    "pqf/list-too-long",
]
"""Cases whose mutation changes the layout of the whole index, or where all that follows is: no one field has its name."""


@functools.cache
def mutated() -> list[tuple[GoldenCase, str, Difference]]:
    """The cases made from another one, one of `STEP` of them, and `LARGE`: the path of what its mutation changes, and its difference from that."""
    found: list[tuple[GoldenCase, str, Difference]] = []
    for number, golden in enumerate(golden_cases()):
        mutation, parent = golden.case.mutation, golden.parent
        if mutation is None or parent is None or mutation.path.startswith(IN_TXN):
            continue
        if number % STEP and golden.case.id not in LARGE:
            continue
        name = pm.DATA_NAME if mutation.path.startswith(IN_DATA) else golden.case.input.file
        files = (fields_of(folder / name) for folder in (parent.folder, golden.folder))
        found.append((golden, mutation.path.removeprefix(IN_DATA), compared(*files)))
    return found


def names(path: str, found: Difference) -> bool:
    """Whether a difference names a field, what it lies in, or something in it; of a list in which one of several
    equal elements went, another one."""
    wanted = next(
        (
            f"{other}{path[len(name) :]}" if other.startswith(name) else other
            for name, other in OTHER_NAMES.items()
            if path.startswith(name)
        ),
        path,
    )
    places = [place for change in found.changes for place in (change.old, change.new) if place is not None]
    told = {place.path for place in places} | {change.path for change in found.changes}
    return any(_is_below(one, wanted) or _is_below(wanted, one) for one in told) or any(
        _without_index(one) == _without_index(wanted) for one in told
    )


def _is_below(path: str, other: str) -> bool:
    return path == other or path.startswith((f"{other}.", f"{other}[", f"{other}:"))


def _without_index(path: str) -> str:
    return path.rpartition("[")[0] if path.endswith("]") else path


def test_the_difference_from_the_parent_names_what_the_mutation_changed() -> None:
    # An offset that an entry gives is listed as one that follows, like every other offset. A count carries structure: only the fields after it differ.
    missed = [golden.case.id for golden, path, found in mutated() if path and not names(path, found)]

    assert missed == LARGE


def test_one_mutation_is_few_changes() -> None:
    counts = sorted(len(found.changes) for golden, _, found in mutated() if golden.case.id not in LARGE)

    assert len(counts) > 600 // STEP
    assert counts[0] == 1
    assert counts[len(counts) // 2] <= 2  # a field, and the length of the footer
    assert counts[len(counts) * 4 // 5] <= 8  # a changed page body has sizes, a checksum, and sums
    assert counts[-1] <= 80  # where another footer of a _pm is found, all its fields are others


def test_a_golden_file_always_differs_from_its_parent_and_never_from_itself() -> None:
    assert [] == [golden.case.id for golden, _, found in mutated() if found.same or not found.changes]

    for golden, _, _ in mutated()[::10]:
        own = fields_of(golden.folder / golden.case.input.file)
        itself = compared(own, own)

        assert (True, [], [], 0) == (itself.same, itself.changes, itself.follows, itself.moved)
