"""The conditions of rules about column chunks of ``_pm`` give the same of many chunks at once as of each."""

from __future__ import annotations

import struct
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import pqassay
from damage import tries
from pqassay.checks import registry
from pqassay.checks.asking import BrokenPlaces, ask
from pqassay.checks.pm.subjects import CHUNK, TIMESTAMP_CHUNK
from pqassay.under_test.file import FileUnderTest, NotApplicable, Options
from pqassay.under_test.pm import chunks as pm_chunks
from pqassay.under_test.pm.chunks import PmChunks
from pqassay.values.pm import batches
from pqassay.values.pm import screens as pm_screens
from pqassay_reference.pm.write import create
from pqassay_spec.base.sources import BytesSource
from pqassay_spec.pm import grammar as pm
from pqassay_spec.pm.codes import DESIGNATED_TYPE_BIT, ColumnType, PhysicalType
from pqassay_spec.pm.value import SnapshotChunk, SnapshotColumn, SnapshotRowGroup, SnapshotValue

pytestmark = pytest.mark.slow

COLUMNS = (
    (PhysicalType.INT64, ColumnType.TIMESTAMP | DESIGNATED_TYPE_BIT, 0, 0, 0),
    (PhysicalType.INT32, ColumnType.INT, 0, 0, 1),
    (PhysicalType.INT32, ColumnType.IPV4, 0, 0, 1),
    (PhysicalType.BOOLEAN, ColumnType.BOOLEAN, 0, 0, 0),
    (PhysicalType.FLOAT, ColumnType.FLOAT, 0, 0, 1),
    (PhysicalType.DOUBLE, ColumnType.ARRAY, 0, 1, 3),
    (PhysicalType.BYTE_ARRAY, ColumnType.VARCHAR, 0, 0, 1),
    (PhysicalType.BYTE_ARRAY, ColumnType.DECIMAL64, 0, 0, 1),
    (PhysicalType.BYTE_ARRAY, -1, 0, 0, 1),
    (PhysicalType.FIXED_LEN_BYTE_ARRAY, ColumnType.UUID, 16, 0, 1),
    (PhysicalType.FIXED_LEN_BYTE_ARRAY, ColumnType.DECIMAL128, 12, 0, 1),
    (PhysicalType.FIXED_LEN_BYTE_ARRAY, ColumnType.LONG128, 3, 0, 1),
    (PhysicalType.INT96, -1, 0, 0, 1),
    (9, -1, 0, 0, 1),
)
"""Physical type, TYPE, FIXED_BYTE_LEN and levels of each column: one of each kind that rules tell apart."""

REGION = 64
"""Bytes behind the chunks of each block."""


def file_of(blocks: list[list[pm.ColumnChunk]], region: bytes, *, is_questdb: bool = True) -> bytes:
    """A file of these chunks, each row group of ten rows."""
    count = len(COLUMNS)
    names = b"".join(b"%c" % (97 + number) for number in range(count))
    start = pm.FixedHeader.size + count * pm.ColumnDescriptor.size
    descriptors = b"".join(
        pm.ColumnDescriptor.build(
            pm.ColumnDescriptor(
                start + number,
                number,
                code & ~(0 if is_questdb or code < 0 else DESIGNATED_TYPE_BIT),
                0,
                width,
                1,
                kind,
                repetitions,
                definitions,
                0,
            )
        )
        for number, (kind, code, width, repetitions, definitions) in enumerate(COLUMNS)
    )
    body = names
    entries: list[int] = []
    for chunks in blocks:
        body += bytes(-(start + len(body)) % 8)
        entries.append(start + len(body) >> 3)
        body += struct.pack("<Q", 10) + b"".join(map(pm.ColumnChunk.build, chunks)) + region
    footer = pm.FooterFields.build(pm.FooterFields(10_000, 20, len(blocks), 0, 0, 0))
    footer += b"".join(struct.pack("<I", entry) for entry in entries) + bytes(4)
    size = start + len(body) + len(footer) + 4
    header = pm.FixedHeader.build(pm.FixedHeader(size, 4, 0, 0, count, 0))
    return header + descriptors + body + footer + struct.pack("<I", len(footer))


RULES = tuple(rule_id for rule_id, check in registry().items() if check.subject in (CHUNK, TIMESTAMP_CHUNK))
"""The rules about column chunks."""


def chunks_of(data: bytes) -> PmChunks:
    return FileUnderTest(BytesSource(data), Options("index"), "pm", pm_screens=lambda: pm_screens).part(
        PmChunks
    )


def outcomes(chunks: PmChunks) -> dict[str, dict[str | None, BrokenPlaces]]:
    """For each rule where it is broken."""
    answers = ask(chunks.parsed.file, RULES)
    assert set(RULES) == answers.applied
    return {rule_id: answers.of(rule_id).groups for rule_id in RULES}


def agree(data: bytes, monkeypatch: pytest.MonkeyPatch) -> dict[str, dict[str | None, int]]:
    """Judge a file in both ways, and compare; return how many violations there are for each rule and column."""
    plain, screened = chunks_of(data), chunks_of(data)
    with monkeypatch.context() as patch:
        patch.setattr(pm_chunks, "SCREENED_FROM_IF_LOADED", 1 << 60)
        assert plain.screened is None
        expected, facts = outcomes(plain), plain.facts
    with monkeypatch.context() as patch:
        patch.setattr(pm_chunks, "SCREENED_FROM_IF_LOADED", 0)
        assert screened.screened is not None
        assert expected == outcomes(screened)
    for one, other in zip(facts, screened.facts, strict=True):
        assert one[3:] == other[3:]
        assert one.first == other.first
        assert other.is_tangled or not one.is_tangled
    return {
        rule_id: {column: group.count for column, group in groups.items()}
        for rule_id, groups in expected.items()
    }


@pytest.fixture(scope="module")
def patches() -> Any:
    with pytest.MonkeyPatch.context() as patch:
        yield patch


SLOTS = st.one_of(
    st.sampled_from(
        [0, 1, 9, 9 << 16 | 10, 16, 16 << 16 | 16, 12, 1 << 16 | 12, 60 << 16 | 9, (1 << 64) - 1]
    ),
    st.binary(min_size=8, max_size=8).map(lambda raw: int.from_bytes(raw, "little")),
    st.integers(-3, 3).map(lambda number: number % (1 << 32)),
    st.integers(-3, 3).map(lambda number: number % (1 << 64)),
    st.floats(width=32).map(lambda number: int.from_bytes(struct.pack("<f", number), "little")),
    st.floats().map(lambda number: int.from_bytes(struct.pack("<d", number), "little")),
    st.binary(max_size=3).map(lambda raw: int.from_bytes(raw, "little")),
)
COUNTS = st.sampled_from([0, 1, 9, 10, 11, (1 << 63), (1 << 64) - 1])
CHUNKS = st.builds(
    pm.ColumnChunk,
    codec=st.sampled_from([0, 7, 8, 255]),
    encodings=st.sampled_from([0, 1, 63, 64, 255]),
    stat_flags=st.one_of(st.sampled_from([0xBF, 0xAD, 0x80, 0]), st.integers(0, 255)),
    stat_sizes=st.one_of(st.sampled_from([0, 0x88, 0x44, 0x11, 0x32, 0x23]), st.integers(0, 255)),
    reserved=st.sampled_from([0, 0, 0, 1]),
    num_values=COUNTS,
    byte_range_start=st.sampled_from([0, 3, 4, 100, 9_999, 10_000, (1 << 64) - 1]),
    total_compressed=st.sampled_from([0, 1, 50, 9_996, (1 << 64) - 1]),
    null_count=COUNTS,
    distinct_count=COUNTS,
    min_stat=SLOTS,
    max_stat=SLOTS,
)
REGIONS = st.one_of(st.just(bytes(REGION)), st.binary(min_size=REGION, max_size=REGION))


@tries(40)
@given(
    st.lists(st.lists(CHUNKS, min_size=len(COLUMNS), max_size=len(COLUMNS)), min_size=1, max_size=5),
    REGIONS,
    st.booleans(),
)
def test_conditions_agree_on_random_chunks(
    patches: pytest.MonkeyPatch, blocks: list[list[pm.ColumnChunk]], region: bytes, is_questdb: bool
) -> None:
    agree(file_of(blocks, region, is_questdb=is_questdb), patches)


@tries(40)
@given(st.data())
def test_conditions_agree_where_only_bounds_differ(patches: pytest.MonkeyPatch, data: Any) -> None:
    """Chunks that are good but for their bounds, of which many compare equal in their first bytes."""
    stems = st.sampled_from([b"", b"a", b"ab", b"abcdefgh", b"\xff\xff", b"\x7f"])

    def chunk(column: int) -> pm.ColumnChunk:
        kind, _, fixed, _, _ = COLUMNS[column]
        width = {1: 4, 4: 4, 0: 1}.get(int(kind), 8)  # by the numbers of physical types
        if kind in (PhysicalType.FIXED_LEN_BYTE_ARRAY, PhysicalType.BYTE_ARRAY):
            width = fixed or data.draw(st.integers(1, 12))
        slots: list[int] = []
        flags, sizes = 0x80, 0
        for side in range(2):
            if width > 8:
                slots.append(data.draw(st.integers(0, REGION - width)) << 16 | width)
                flags |= 0b001 << 3 * side
            else:
                raw = (data.draw(stems) + data.draw(st.binary(max_size=8)))[:width].ljust(width, b"\0")
                slots.append(int.from_bytes(raw, "little"))
                flags |= 0b011 << 3 * side
                sizes |= width << 4 * side
        return pm.ColumnChunk(0, 1, flags, sizes, 0, 10, 4, 50, 0, 0, slots[0], slots[1])

    blocks = [[chunk(column) for column in range(len(COLUMNS))] for _ in range(2)]
    region = b"".join(data.draw(st.lists(stems, min_size=20, max_size=40))).ljust(REGION, b"\0")[:REGION]
    found = agree(file_of(blocks, region), patches)
    assert not found["PM-065"]


@tries(60)
@given(
    st.lists(st.lists(CHUNKS, min_size=len(COLUMNS), max_size=len(COLUMNS)), min_size=1, max_size=3),
    REGIONS,
    st.booleans(),
)
def test_each_condition_holds_of_the_same_chunks_in_arrays(
    blocks: list[list[pm.ColumnChunk]], region: bytes, is_questdb: bool
) -> None:
    """Not only of those that a report would show: what an array misses, no rule is asked about."""
    chunks = chunks_of(file_of(blocks, region, is_questdb=is_questdb))
    batch = batches.Batch(batches.Shape(chunks), chunks.places)
    for rule_id, cases in pm_chunks.CONDITIONS.items():
        for conditions in cases:
            expected = [
                [
                    all(condition(chunks.chunk(place, column)) for condition in conditions)
                    for column in range(len(COLUMNS))
                ]
                for place in chunks.places
            ]
            assert expected == batch.evaluated(conditions).tolist(), rule_id


def test_violations_that_are_only_counted_are_those_that_rules_yield(patches: pytest.MonkeyPatch) -> None:
    good = pm.ColumnChunk(0, 1, 0x80, 0, 0, 10, 4, 50, 0, 0, 0, 0)
    bad = good._replace(codec=9, reserved=1)
    found = agree(
        file_of([[bad if number % 2 else good] * len(COLUMNS) for number in range(9)], b""), patches
    )

    names = [chr(97 + number) for number in range(len(COLUMNS))]
    assert dict.fromkeys(names, 4) == found["PM-060"] == found["PM-059"]
    assert {"a": 9} == found["PM-074"]


def test_batches_add_up(patches: pytest.MonkeyPatch) -> None:
    bad = pm.ColumnChunk(9, 1, 0x80, 0, 0, 10, 4, 50, 0, 0, 0, 0)
    data = file_of([[bad] * len(COLUMNS)] * 7, b"")
    with patches.context() as patch:
        patch.setattr(pm_screens, "BATCH_BYTES", 2 * pm.ColumnChunk.size * len(COLUMNS))
        assert {7} == set(agree(data, patches)["PM-060"].values())


def test_every_rule_about_chunks_declares_its_conditions() -> None:
    assert set(RULES) == pm_chunks.CONDITIONS.keys()


def test_bounds_that_begin_alike_are_compared_up_to_a_limit(patches: pytest.MonkeyPatch) -> None:
    good = pm.ColumnChunk(0, 1, 0x80, 0, 0, 10, 4, 50, 0, 0, 0, 0)
    alike = good._replace(stat_flags=0x80 | 0b001001, min_stat=16, max_stat=16 << 16 | 16)
    data = file_of([[alike if kind[2] == 16 else good for kind in COLUMNS]] * 4, bytes(REGION))
    problems: list[str | None] = []
    for most in (4 * 32, 4 * 32 - 1):
        with patches.context() as patch:
            patch.setattr(batches, "MOST_COMPARED", most)
            patch.setattr(pm_chunks, "SCREENED_FROM_IF_LOADED", 0)
            answer = ask(chunks_of(data).parsed.file, RULES).of("PM-072")
            problems.append(None if answer.problem is None else str(answer.problem))
    assert [None, "there are more than 127 bytes of bounds to compare"] == problems


def test_an_equal_prefix_is_compared_byte_by_byte(patches: pytest.MonkeyPatch) -> None:
    good = pm.ColumnChunk(0, 1, 0x80, 0, 0, 10, 4, 50, 0, 0, 0, 0)
    swapped = good._replace(stat_flags=0x80 | 0b001001, min_stat=16 << 16 | 16, max_stat=16)
    chunks = [
        swapped if kind[0] == PhysicalType.FIXED_LEN_BYTE_ARRAY and kind[2] == 16 else good
        for kind in COLUMNS
    ]
    data = file_of([chunks] * 5, b"12345678-a value" + b"12345678-B value")

    assert not agree(data.replace(b"a value", b"C value"), patches)["PM-072"].get("j")
    assert {"j": 5} == agree(data.replace(b"a value", b"A value"), patches)["PM-072"]


def test_a_file_without_row_groups_has_nothing_to_screen() -> None:
    chunks = chunks_of(file_of([], b""))
    with pytest.raises(NotApplicable):
        _ = chunks.screened


@tries(80)
@given(st.data())
def test_bloom_filters_are_judged_alike_with_and_without_a_screen(
    patches: pytest.MonkeyPatch, data: Any
) -> None:
    columns = tuple(
        SnapshotColumn(f"c{number}", PhysicalType.INT32, number, 5, 0, 0, 1, 1) for number in range(4)
    )
    chunk = SnapshotChunk(0, 1, 2, 4, 1, 0, bloom=bytes(32))
    groups = tuple(
        SnapshotRowGroup(
            2,
            tuple(
                replace(chunk, offset=4 + 16 * row + 4 * column, bloom=None if column == 2 else bytes(32))
                for column in range(4)
            ),
        )
        for row in range(3)
    )
    raw = bytearray(create(SnapshotValue(columns, groups, 100, 20, bloom_columns=(0, 1, 3))))
    for _ in range(data.draw(st.integers(0, 3))):
        place: int = data.draw(st.integers(170, len(raw) - 8))
        if data.draw(st.booleans()):  # an entry, most of the time
            place = len(raw) - 8 - 4 * data.draw(st.integers(1, 12))
        old = raw[place]
        raw[place] = data.draw(st.sampled_from([0, 1, 32, 255, old + 4 & 255, old ^ 1]))
    content = bytes(raw)
    reports: list[Any] = []
    for most in (0, 1 << 60):
        with patches.context() as patch:
            patch.setattr(pm_chunks, "SCREENED_FROM_IF_LOADED", most)
            report = pqassay.check(content, kind="pm", tier="index")
            reports.append((report.files[0].findings, report.coverages))
    assert reports[0] == reports[1]
