"""Rules of the index directory: each is broken in one way, and is the only finding."""

from __future__ import annotations

import dataclasses
import struct
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

import pqassay
from directory_files import (
    COMPLETE,
    LOT_SUMS,
    METAL_LOT_SUMS,
    METALS_OF_GROUPS,
    NAN,
    NULLS,
    PRICE_SUMS,
    Index,
    Sums,
    footer_of,
    metal_sets,
    packed,
    parquet,
    sums,
    table,
    with_directory,
)
from each import each
from idx1_files import edited
from pqassay.report.model import FileReport
from pqassay_spec.base.sources import BytesSource
from pqassay_spec.directory import entries, sketches
from pqassay_spec.directory.codes import Granularity, IndexType, Placement
from pqassay_spec.directory.zone_sums import SumKind, SumsHead
from pqassay_spec.idx1 import blob as idx1
from pqassay_spec.parquet.file import read_framing
from pqassay_spec.parquet.thrift import CompressionCodec, KeyValue, Type
from pqassay_spec.rules.catalogue import Tier


def judged(data: bytes | Path, tier: Tier = "values") -> FileReport:
    """The report on a file."""
    (file,) = pqassay.check(data, tier=tier).files
    return file


def broken(data: bytes, tier: Tier = "values") -> list[str]:
    """The rules that a file breaks."""
    return [finding.rule for finding in judged(data, tier).findings if finding.verdict != "INFO"]


def of_sums(change: Sums, **more: Any) -> Index:
    """Zone sums of the lots, or of lots by metal if they have keys."""
    columns = ("metal", "lot") if change.keys else ("lot",)
    return sums(change, *columns, **{"value_count": sum(map(len, change.parts)), **more})


def changed(good: Sums, **changes: Any) -> Sums:
    """Zone sums with something else in them."""
    return dataclasses.replace(good, **changes)


def sets(*parts: tuple[int, tuple[str, ...]], **more: Any) -> Index:
    """Distinct sets of the metals of each row group."""
    blob = metal_sets(*parts)
    return Index(**{"blob": blob, "value_count": sum(len(values) for _, values in parts), **more})


OF_FILE = sets((COMPLETE | NULLS, ("lead", "tin", "zinc")), granularity=Granularity.FILE)
OF_PAGES = sets(*METALS_OF_GROUPS, granularity=Granularity.PAGE)
SOUND = (
    Index(),
    OF_FILE,
    OF_PAGES,
    sums(LOT_SUMS, "lot", value_count=2),
    sums(METAL_LOT_SUMS, "metal", "lot", value_count=5),
    sums(PRICE_SUMS, "price", value_count=2),
)
OF_VALUES = {"DIR-017", *(f"DIR-{number:03}" for number in (26, 27, 28, 35, 36, 37, 38, 42, 43, 44))}
"""The rules that are decided by pages or values."""


@pytest.mark.parametrize(
    ("placement", "codec"),
    zip(
        Placement,
        [CompressionCodec.UNCOMPRESSED, CompressionCodec.GZIP, CompressionCodec.LZ4_RAW],
        strict=True,
    ),
)
def test_a_sound_directory_breaks_no_rule_wherever_its_blobs_are(
    placement: Placement, codec: CompressionCodec
) -> None:
    sound = (*SOUND, of_kll(KLL_OF_LOTS), of_hll(HLL_OF_METALS))
    placed = [dataclasses.replace(index, placement=placement, codec=codec) for index in sound]
    report = pqassay.check(with_directory(*placed), tier="values")
    (file,) = report.files

    assert [] == [finding.rule for finding in file.findings]
    assert set(report.coverages[file.coverage].checked) >= OF_VALUES


KLL_OF_LOTS = bytes.fromhex(
    "05010f00c80008000600000000000000c8000100c2000000"
    "0000000000001c400000000000002840"
    "000000000000284000000000000026400000000000002440000000000000224000000000000020400000000000001c40"
)
"""A KLL sketch of the lots, as datasketches serializes it: preamble, smallest and largest value, values."""

HLL_OF_METALS = bytes.fromhex("0201070b030803089ac2a10fdb1b020f32936d05")
"""An HLL sketch of the metals: preamble, and a list of three coupons."""


def of_hll(sketch: bytes, **more: Any) -> Index:
    """An HLL sketch of the metals."""
    blob = sketches.build_sketches([sketch])
    return Index(IndexType.HLL, blob, **{"granularity": Granularity.FILE, "value_count": 5, **more})


def of_kll(sketch: bytes, **more: Any) -> Index:
    """A KLL sketch of the lots."""
    blob = sketches.build_sketches([sketch])
    given = {"granularity": Granularity.FILE, "columns": (("lot",),), "value_count": 6, **more}
    return Index(IndexType.KLL, blob, **given)


_LOTS = LOT_SUMS.build()
MISCOUNTED = _LOTS[: SumsHead.size] + struct.pack("<II", 1, 2) + _LOTS[SumsHead.size + 8 :]
"""Zone sums whose parts have three groups, of two."""

TURNED = changed(
    METAL_LOT_SUMS,
    parts=([(1, 0, 0, 9), (1, 0, 0, 8), (1, 0, 0, 7)], METAL_LOT_SUMS.parts[1]),
    keys=((Type.BYTE_ARRAY, ("lead", None, "tin", "tin", "zinc")),),
    minima=packed(Type.INT64, 9, 8, 7, 10, 11),
    maxima=packed(Type.INT64, 9, 8, 7, 12, 11),
)
"""Zone sums of which two groups have changed their places."""

BROKEN: list[tuple[str, Tier, Index]] = [
    ("DIR-007", "footer", Index(head={"granularity": 3})),
    ("DIR-007", "footer", Index(head={"codec": CompressionCodec.BROTLI})),
    ("DIR-007", "footer", Index(head={"placement": 3})),
    ("DIR-008", "footer", Index(head={"flags": 1})),
    ("DIR-008", "index", of_sums(changed(LOT_SUMS, head={"reserved": 1}))),
    ("DIR-010", "footer", Index(columns=(("gold",),))),
    ("DIR-011", "footer", Index(columns=(("metal",), ("lot",)))),
    ("DIR-011", "footer", Index(IndexType.KLL, head={})),
    ("DIR-011", "footer", sums(METAL_LOT_SUMS, "price", "lot", value_count=5)),
    ("DIR-012", "footer", Index(head={"offset": 1 << 40})),
    ("DIR-012", "footer", Index(head={"stored_length": (1 << 64) - 1})),
    ("DIR-013", "index", Index(head={"offset": 4})),
    ("DIR-014", "index", Index(head={"crc32": 1})),
    ("DIR-014", "index", Index(damage=lambda blob: blob[:-1] + b"\0")),
    ("DIR-014", "index", Index(placement=Placement.EXTENSION, head={"crc32": 1})),
    ("DIR-015", "index", Index(head={"plain_length": 1})),
    ("DIR-015", "index", Index(codec=CompressionCodec.ZSTD, head={"plain_length": 1})),
    ("DIR-015", "index", Index(head={"codec": CompressionCodec.SNAPPY})),
    ("DIR-016", "footer", Index(head={"row_count": 7})),
    ("DIR-016", "footer", Index(head={"shape": 7})),
    ("DIR-017", "pages", Index(head={"content": 7})),
    ("DIR-018", "footer", sums(METAL_LOT_SUMS, "metal", "lot", value_count=5, granularity=Granularity.PAGE)),
    ("DIR-020", "index", Index(blob=metal_sets(*METALS_OF_GROUPS) + b"\0")),
    ("DIR-020", "index", Index(blob=b"\xff\xff\xff\xff")),
    ("DIR-020", "index", Index(IndexType.ZONE_SUMS, b"\xff" * 12, (("lot",),))),
    ("DIR-020", "index", Index(blob=b"")),
    ("DIR-020", "index", Index(IndexType.KLL, b"\x01\0\0\0" + b"\xff" * 8, (("lot",),))),
    ("DIR-021", "index", sets(*METALS_OF_GROUPS[:1])),
    ("DIR-021", "index", sets(*METALS_OF_GROUPS, granularity=Granularity.FILE)),
    ("DIR-022", "index", Index(blob=metal_sets(*METALS_OF_GROUPS)[:-4] + b"\xff" * 4, columns=(("lot",),))),
    ("DIR-023", "index", Index(value_count=5)),
    ("DIR-023", "index", of_sums(LOT_SUMS, value_count=3)),
    ("DIR-024", "index", sets((COMPLETE | NULLS | 8, ("lead", "tin")), METALS_OF_GROUPS[1])),
    ("DIR-025", "index", sets((COMPLETE | NULLS, ("tin", "lead")), METALS_OF_GROUPS[1])),
    ("DIR-025", "index", sets((COMPLETE | NULLS, ("lead", "lead", "tin")), METALS_OF_GROUPS[1])),
    ("DIR-026", "values", sets((COMPLETE | NULLS, ("lead",)), METALS_OF_GROUPS[1])),
    ("DIR-026", "values", sets((COMPLETE | NULLS, ("lead", "tim")), METALS_OF_GROUPS[1])),
    ("DIR-026", "values", sets((COMPLETE | NULLS, ("lead", "tin")), granularity=Granularity.FILE)),
    ("DIR-026", "values", sets(METALS_OF_GROUPS[0], (COMPLETE, ("tin",)), granularity=Granularity.PAGE)),
    ("DIR-027", "values", sets((COMPLETE, ("lead", "tin")), METALS_OF_GROUPS[1])),
    (
        "DIR-027",
        "values",
        sets((COMPLETE, ("lead", "tin")), METALS_OF_GROUPS[1], granularity=Granularity.PAGE),
    ),
    ("DIR-028", "values", sets(METALS_OF_GROUPS[0], (COMPLETE | NULLS, ("tin", "zinc")))),
    ("DIR-028", "values", sets(METALS_OF_GROUPS[0], (COMPLETE | NAN, ("tin", "zinc")))),
    ("DIR-028", "values", sets(METALS_OF_GROUPS[0], (COMPLETE, ("gold", "tin", "zinc")))),
    ("DIR-030", "index", Index(IndexType.ZONE_SUMS, MISCOUNTED, (("lot",),), value_count=2)),
    ("DIR-031", "index", of_sums(changed(LOT_SUMS, kind=SumKind.DOUBLE))),
    ("DIR-031", "index", sums(LOT_SUMS, "metal", "lot", value_count=2)),
    ("DIR-032", "index", of_sums(TURNED)),
    (
        "DIR-032",
        "index",
        of_sums(changed(METAL_LOT_SUMS, keys=((Type.BYTE_ARRAY, (None, "tin", "tin", "tin", "zinc")),))),
    ),
    (
        "DIR-032",
        "index",
        of_sums(
            changed(
                LOT_SUMS,
                parts=([(1, 0, 0, 7), (2, 0, 0, 17)], [(3, 0, 0, 33)]),
                minima=packed(Type.INT64, 7, 8, 10),
                maxima=packed(Type.INT64, 7, 9, 12),
            )
        ),
    ),
    ("DIR-033", "index", of_sums(changed(LOT_SUMS, parts=([(4, 0, 0, 24)], [(3, 0, 0, 33)])))),
    ("DIR-033", "index", of_sums(changed(LOT_SUMS, parts=([(3, 4, 0, 24)], [(3, 0, 0, 33)])))),
    ("DIR-034", "index", of_sums(changed(LOT_SUMS, minima=packed(Type.INT64, 7)))),
    ("DIR-034", "index", of_sums(changed(LOT_SUMS, minima=packed(Type.INT64, 7, 13)))),
    (
        "DIR-035",
        "values",
        of_sums(changed(METAL_LOT_SUMS, keys=((Type.BYTE_ARRAY, (None, "lead", "tix", "tin", "zinc")),))),
    ),
    (
        "DIR-035",
        "values",
        of_sums(
            changed(
                METAL_LOT_SUMS,
                parts=([(1, 0, 0, 8), (1, 0, 0, 9), (1, 0, 0, 7)], [(1, 0, 0, 22), (2, 0, 0, 11)]),
            )
        ),
    ),
    ("DIR-036", "values", of_sums(changed(LOT_SUMS, parts=([(3, 1, 0, 24)], [(3, 0, 0, 33)])))),
    ("DIR-036", "values", of_sums(changed(LOT_SUMS, parts=([(3, 3, 0, 24)], [(3, 0, 0, 33)])))),
    (
        "DIR-036",
        "values",
        sums(changed(PRICE_SUMS, parts=([(3, 1, 0, 0.5)], [(3, 0, 0, 1e16 + 2)])), "price", value_count=2),
    ),
    ("DIR-037", "values", of_sums(changed(LOT_SUMS, parts=([(3, 0, 0, 25)], [(3, 0, 0, 33)])))),
    ("DIR-037", "values", of_sums(changed(LOT_SUMS, parts=([(3, 0, 0, 24 + (1 << 64))], [(3, 0, 0, 33)])))),
    (
        "DIR-037",
        "values",
        sums(changed(PRICE_SUMS, parts=([(3, 1, 0, 0.5)], [(3, 0, 1, 1e16)])), "price", value_count=2),
    ),
    ("DIR-038", "values", of_sums(changed(LOT_SUMS, maxima=packed(Type.INT64, 9, 13)))),
    (
        "DIR-038",
        "values",
        sums(changed(PRICE_SUMS, minima=packed(Type.DOUBLE, 0.0, 2.0)), "price", value_count=2),
    ),
    ("DIR-040", "index", of_kll(KLL_OF_LOTS[:2] + b"\x07" + KLL_OF_LOTS[3:])),
    ("DIR-040", "index", of_kll(KLL_OF_LOTS[:7])),
    ("DIR-040", "index", of_hll(HLL_OF_METALS[:1] + b"\x02" + HLL_OF_METALS[2:])),
    ("DIR-041", "index", of_kll(KLL_OF_LOTS[:4] + b"\x01\0" + KLL_OF_LOTS[6:])),
    ("DIR-041", "index", of_hll(HLL_OF_METALS[:3] + b"\x16" + HLL_OF_METALS[4:])),
    ("DIR-023", "index", of_kll(KLL_OF_LOTS, value_count=7)),
    ("DIR-042", "values", of_hll(HLL_OF_METALS[:6] + b"\x02" + HLL_OF_METALS[7:-4])),
    ("DIR-043", "values", of_kll(KLL_OF_LOTS[:24] + b"\0" * 8 + KLL_OF_LOTS[32:])),
    ("DIR-044", "values", of_kll(KLL_OF_LOTS[:-40] + 5 * packed(Type.DOUBLE, 12.0)[0])),
    ("DIR-048", "index", Index(IndexType.IDX1, b"IDX2", granularity=Granularity.FILE)),
    (
        "DIR-048",
        "index",
        Index(IndexType.IDX1, b"", granularity=Granularity.FILE, placement=Placement.INLINE),
    ),
    ("DIR-048", "index", Index(IndexType.IDX1, idx1.build_blob(["lead", "tin", "zinc"]), value_count=3)),
]


@each(("rule", "tier", "index"), BROKEN)
def test_one_damage_is_one_finding(rule: str, tier: Tier, index: Index) -> None:
    data = with_directory(index)
    (of_values,) = (finding for finding in judged(data).findings if finding.verdict != "INFO")

    assert rule in (of_values.rule, *of_values.also)
    assert [rule] == ([of_values.rule] if tier == "values" else broken(data, tier))


TEXTS: list[tuple[str, Callable[[str], str | None], Callable[[bytes], bytes]]] = [
    ("DIR-001", lambda _: None, bytes),
    ("DIR-002", lambda text: text + "\n", bytes),
    ("DIR-002", lambda text: text[:-1], bytes),
    ("DIR-002", lambda _: "Ä", bytes),
    ("DIR-003", str, lambda data: b"PQIY" + data[4:]),
    ("DIR-003", lambda _: "", bytes),
    ("DIR-004", str, lambda data: data[:-1] + b"\0"),
    ("DIR-005", str, lambda data: entries.with_crc(data[:8] + struct.pack("<I", 2) + data[12:])),
    ("DIR-005", str, lambda data: entries.with_crc(data[:-4] + b"more" + data[-4:])),
    ("DIR-005", str, lambda data: data[:8] + b"\xff" * 4 + data[12:]),
    ("DIR-006", str, lambda data: _with_column_count(data, 40_000)),
    ("DIR-008", str, lambda data: entries.with_crc(data[:6] + b"\1" + data[7:])),
]


def _with_column_count(data: bytes, count: int) -> bytes:
    place, length = entries.EntryHead.place("column_count", entries.HEADER_SIZE + entries.LENGTH_SIZE)
    return entries.with_crc(data[:place] + count.to_bytes(length, "little") + data[place + length :])


@each(("rule", "text", "decoded"), TEXTS)
def test_a_directory_that_cannot_be_read_is_one_finding(
    rule: str, text: Callable[[str], str | None], decoded: Callable[[bytes], bytes]
) -> None:
    data = with_directory(*SOUND, text=text, decoded=decoded)

    assert [rule] == [found for found in broken(data) if found != "PQF-010"]


def test_a_directory_of_another_major_version_is_left_aside() -> None:
    data = with_directory(*SOUND, decoded=lambda data: data[:4] + b"\2" + data[5:])
    report = pqassay.check(data, tier="values")
    (file,) = report.files
    reasons = {
        why.reason for rule, why in report.coverages[file.coverage].not_checked.items() if rule[:3] == "DIR"
    }

    assert ([], {"an index directory of version 2.0; version 1 is known here"}) == (file.findings, reasons)


@pytest.mark.parametrize("head", [{"type": 99}, {"type_version": 2}])
def test_an_entry_of_an_unknown_type_or_version_is_left_aside(head: dict[str, int]) -> None:
    data = with_directory(Index(head={**head, "shape": 1, "crc32": 1}), *SOUND[3:])

    assert [] == broken(data)


def test_of_two_entries_with_one_key_the_last_counts_and_the_first_is_one_finding() -> None:
    false = sets((COMPLETE, ()), (COMPLETE, ()))
    data = with_directory(false, Index(), keys=2)
    (finding,) = [one for one in judged(data).findings if one.rule != "PQF-006"]

    assert ("DIR-009", "directory.entries[0].head.type") == (finding.rule, finding.at[0].field)


def test_a_key_that_was_copied_whole_is_one_finding_and_no_overlap() -> None:
    data = with_directory(Index())
    pair = (footer_of(data).key_value_metadata or [])[-1]
    twice = edited(data, lambda metadata: metadata.key_value_metadata.append(pair))

    assert ["DIR-009"] == [rule for rule in broken(twice) if rule != "PQF-006"]


def test_idx1_and_an_entry_that_points_at_it_share_their_bytes() -> None:
    values = ["lead", "tin", "zinc"]
    entry = Index(IndexType.IDX1, idx1.build_blob(values), granularity=Granularity.FILE, value_count=3)
    data = with_directory(entry, OF_FILE)
    offset = data.index(idx1.MAGIC)
    keyed = edited(
        data, lambda metadata: metadata.key_value_metadata.append(KeyValue(key=idx1.KEY, value=str(offset)))
    )

    assert [] == broken(keyed)


REWRITTEN = {
    "rewritten by pyarrow": table(),
    "rows appended": pa.concat_tables([table(), table()]),
    "sorted otherwise": table(metal=["tin", "zinc", "tin", "lead", "tin", None]),
    "a value altered": table(metal=["tin", None, "lead", "tin", "zinc", "tix"]),
}


@pytest.mark.parametrize("how", REWRITTEN)
def test_a_file_that_was_written_anew_with_its_old_key_is_stale_by_its_metadata_alone(how: str) -> None:
    old = with_directory(*SOUND[:1], dataclasses.replace(OF_FILE, placement=Placement.INLINE))
    kept = {pair.key: pair.value for pair in footer_of(old).key_value_metadata or []}
    schema = REWRITTEN[how].schema.with_metadata({entries.KEY: kept[entries.KEY]})
    # Another codec: bytes that are the same would be the same data.
    data = parquet(REWRITTEN[how].cast(schema), compression="snappy")
    findings = [finding for finding in judged(data, "footer").findings if finding.rule.startswith("DIR")]

    assert ["DIR-016"] == [finding.rule for finding in findings]
    assert ["DIR-016"] == [rule for rule in broken(data) if rule.startswith("DIR")]


def test_a_file_whose_column_was_dropped_has_one_finding() -> None:
    old = with_directory(dataclasses.replace(OF_FILE, placement=Placement.INLINE))
    kept = {pair.key: pair.value for pair in footer_of(old).key_value_metadata or []}
    rest = table().select(["lot", "price"])
    data = parquet(rest.cast(rest.schema.with_metadata({entries.KEY: kept[entries.KEY]})))

    assert ["DIR-010"] == [rule for rule in broken(data) if rule.startswith("DIR")]


def test_values_of_a_fixed_width_written_anew_between_the_same_bounds_are_noticed_at_tier_pages() -> None:
    """The one case that the shape cannot see: the footer is the same, byte for byte."""
    plain: dict[str, Any] = {"use_dictionary": False}
    index = dataclasses.replace(SOUND[3], placement=Placement.INLINE)
    old = with_directory(index, data=parquet(table(lot=[7, 8, 9, 10, 11, 12]), **plain))
    other = with_directory(index, data=parquet(table(lot=[7, 7, 9, 10, 11, 12]), **plain))
    footer = read_framing(BytesSource(old)).footer_start
    data = other[:footer] + old[footer:]

    assert ([], ["DIR-017"]) == (broken(data, "index"), broken(data))
