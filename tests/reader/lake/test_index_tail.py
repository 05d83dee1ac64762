"""The quick way to an index finds what the full parse finds, and on damaged files nothing that was not there."""

from __future__ import annotations

import json
import os
from collections import Counter
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import replace
from pathlib import Path

import pyarrow as pa
import pyarrow.fs as pafs
import pytest
from hypothesis import HealthCheck, given
from hypothesis import strategies as st

from damage import tries
from idx1_files import Idx1File, companion, edited, parquet, table
from places import GOLDEN_FILES
from pqassay_reader.lake.index_pairs import path_of, spelled, written_pairs
from pqassay_reader.lake.index_tail import (
    NOT_INDEXED,
    SHORT,
    Found,
    Progress,
    TrustedIndex,
    as_trusted,
    load_indexes,
    quick_extract,
)
from pqassay_reader.lake.known_schemas import KnownSchemas
from pqassay_reader.lake.tails import REQUEST_SIZE, NativeSource, TailSource
from pqassay_reference.rewrite.embed import embed_file
from pqassay_reference.rewrite.extract import Extracted, NoIndexError, extract
from pqassay_reference.rewrite.footer_splice import footer_and_tail
from pqassay_spec.base.errors import FormatError
from pqassay_spec.base.sources import BytesSource, Source
from pqassay_spec.grammar.thrift import grammar
from pqassay_spec.grammar.thrift_wire import varint
from pqassay_spec.idx1 import blob as idx1
from pqassay_spec.idx1.companion import Companion, blob_crc, parse_companion
from pqassay_spec.parquet.file import read_footer, read_framing
from pqassay_spec.parquet.thrift import FileMetaData, KeyValue

pytestmark = pytest.mark.slow

FILES = sorted(GOLDEN_FILES.glob("idx1/*/*.parquet"))
OTHERS = sorted(GOLDEN_FILES.glob("pqf/*/*.parquet"))

WITH_COMPANION = ((idx1.KEY, "{offset}"), (idx1.COMPANION_KEY, companion()))
GOOD = Idx1File(keys=WITH_COMPANION).build()


def knowing(content: bytes) -> KnownSchemas:
    """What is known once a file with the same schema was seen."""
    known = KnownSchemas()
    source = BytesSource(content)
    framing = read_framing(source)
    footer = source.read(framing.footer_start, framing.footer_length)
    known.learn(footer, read_footer(source, framing)[0])
    return known


def outcome(error: FormatError) -> object:
    return type(error) if isinstance(error, NoIndexError) else str(error)


INDEXES = (Extracted, TrustedIndex)


def pair_bytes(key: str, value: bytes) -> bytes:
    """A key and its value as the footer holds them, whatever bytes the value is of."""
    before, after = bytes(grammar(KeyValue).build(KeyValue(key=key, value="?"))).split(b"\x01?")
    return before + varint(len(value)) + value + after


RECORD = companion().encode()
PAIRS = pair_bytes(idx1.KEY, b"1") + pair_bytes(idx1.COMPANION_KEY, RECORD)

LEFT = (
    as_trusted(extract(BytesSource(GOOD))),
    replace(extract(BytesSource(GOOD)), companion=None),
    NoIndexError,
)
"""What damage may leave of the index of `GOOD`."""


def load(paths: Sequence[str], progress: Progress | None = None) -> list[Found]:
    """Load from local files, whose sizes are those of now; 0 if there is none."""
    sizes = [os.stat(path).st_size if os.path.exists(path) else 0 for path in paths]  # noqa: PTH110, PTH116 - texts
    return load_indexes(paths, sizes, progress=progress)


def full(source: Source) -> object:
    try:
        return as_trusted(extract(source))
    except FormatError as error:
        return outcome(error)


def whole(content: bytes) -> TailSource:
    return TailSource(BytesSource(content), len(content))


def quick(source: TailSource, known: KnownSchemas) -> object:
    try:
        return quick_extract(source, known)
    except FormatError as error:
        return outcome(error)


class Counting(BytesSource):
    """Counts the requests."""

    requests = 0

    def read(self, offset: int, length: int) -> bytes:
        self.requests += 1
        return super().read(offset, length)


def test_golden_files_read_as_by_the_full_parse_whether_their_schema_is_known_or_not() -> None:
    for path in FILES:
        content = path.read_bytes()
        expected = full(BytesSource(content))
        assert (path, expected) == (path, quick(whole(content), KnownSchemas()))
        with suppress(FormatError):  # a footer that cannot be parsed makes no schema known
            known = knowing(content)
            assert (path, expected) == (path, quick(TailSource(BytesSource(content)), known))


def test_a_golden_file_without_index_has_none_however_damaged_it_is() -> None:
    for path in OTHERS:
        source = BytesSource(path.read_bytes())
        assert not isinstance(full(source), INDEXES), path
        assert not isinstance(quick(TailSource(source), KnownSchemas()), INDEXES), path


def test_the_golden_files_hold_good_indexes_and_damaged_ones() -> None:
    kinds = Counter(type(full(BytesSource(path.read_bytes()))).__name__ for path in FILES)

    assert kinds["TrustedIndex"] > 10
    assert kinds["Extracted"] > 20
    assert kinds["str"] > 20


def test_a_known_schema_spares_the_full_parse(monkeypatch: pytest.MonkeyPatch) -> None:
    known = knowing(GOOD)
    expected = as_trusted(extract(BytesSource(GOOD)))

    def refused(*_: object) -> None:
        raise AssertionError("the full parse was called")

    monkeypatch.setattr("pqassay_reader.lake.index_tail.extract", refused)
    monkeypatch.setattr("pqassay_reader.lake.index_tail.read_footer", refused)

    assert expected == quick_extract(whole(GOOD), known)


def test_one_request_is_enough_for_a_small_file() -> None:
    source = Counting(GOOD)

    quick_extract(TailSource(source), knowing(GOOD))

    assert 1 == source.requests


def test_a_blob_far_from_the_end_is_read_by_itself() -> None:
    names = [f"value {number:07}" for number in range(3 * REQUEST_SIZE // 13)]
    payload = "\n".join(names).encode()
    source = Counting(Idx1File(data=parquet(table(names)), payload=payload).build())
    known = knowing(source.view.tobytes())

    assert full(source) == quick_extract(TailSource(source), known)
    source.requests = 0
    quick_extract(TailSource(source), known)
    assert source.requests < 6


def test_a_footer_longer_than_the_tail_is_read_by_itself(tmp_path: Path) -> None:
    wide = pa.table({f"column {number:04} of a wide table": [number] for number in range(1500)})
    content = parquet(wide.append_column("nation", pa.array(["Peru"])))
    path = tmp_path / "wide.parquet"
    path.write_bytes(content)
    embed_file(path, "nation")

    assert read_framing(BytesSource(path.read_bytes())).footer_length > REQUEST_SIZE
    (found,) = load([str(path)])
    assert TrustedIndex(("nation",), "Peru", 0) == found


def with_pairs(*pairs: tuple[str, str | None]) -> bytes:
    def add(metadata: FileMetaData) -> None:
        keys = metadata.key_value_metadata or []
        metadata.key_value_metadata = [*keys, *(KeyValue(key=key, value=value) for key, value in pairs)]

    return edited(GOOD, add)


@pytest.mark.parametrize(
    "content",
    [
        with_pairs((idx1.KEY, "4")),
        with_pairs(("about", f"the key {idx1.KEY} holds the offset")),
        with_pairs((f"{idx1.KEY}.backup", "4")),
        with_pairs((idx1.COMPANION_KEY, "{}")),
        with_pairs((idx1.LENGTH_KEY, "3")),
        with_pairs((idx1.LENGTH_KEY, None)),
        Idx1File(keys=((idx1.KEY, None),)).build(),
        Idx1File(payload=None, keys=(("about", idx1.KEY),)).build(),
    ],
    ids=[
        "twice",
        "in a value",
        "in a key",
        "companion twice",
        "draft",
        "length empty",
        "no value",
        "only text",
    ],
)
def test_where_the_bytes_leave_a_doubt_the_full_parse_decides(content: bytes) -> None:
    assert full(BytesSource(content)) == quick(whole(content), knowing(content))


def test_a_pair_that_stands_inside_a_value_is_not_taken_for_the_key() -> None:
    inner = idx1.build_blob(["Chad"]).decode()
    outer = Idx1File(payload=f"x{inner}".encode())
    start = read_framing(BytesSource(outer.data)).footer_start
    place = str(start + idx1.HEADER_SIZE + 1)
    pair = bytes(grammar(KeyValue).build(KeyValue(key=idx1.KEY, value=place))).decode()
    outer.keys = (("about", pair), (idx1.KEY, "{offset}"))
    content = outer.build()

    assert full(BytesSource(content)) == quick(whole(content), knowing(content))
    index = quick_extract(whole(content), knowing(content))
    assert isinstance(index, Extracted)
    assert start == index.offset


def test_of_a_pair_with_two_values_the_last_counts_as_with_the_full_parse() -> None:
    second = str(read_framing(BytesSource(GOOD)).footer_start)
    source = BytesSource(GOOD)
    framing = read_framing(source)
    footer = source.read(framing.footer_start, framing.footer_length)
    place = footer.index(idx1.KEY.encode()) + len(idx1.KEY)
    after = place + 2 + footer[place + 1]  # behind field header, length and text of the value
    again = bytes((0x08, 0x04, len(second))) + second.encode()  # field 2 once more, its id written out
    content = GOOD[: framing.footer_start] + footer_and_tail(footer[:after] + again + footer[after:])

    assert isinstance(full(source), INDEXES)
    assert full(BytesSource(content)) == quick(whole(content), knowing(content))
    assert not isinstance(full(BytesSource(content)), INDEXES)


def test_another_row_count_makes_the_companion_record_worthless_at_once() -> None:
    def more(metadata: FileMetaData) -> None:
        metadata.num_rows += 1

    content = edited(GOOD, more)
    found = quick_extract(whole(content), knowing(GOOD))

    assert isinstance(found, Extracted)
    assert found.companion is None
    assert "its row_count is 6, the file has 7 rows" == found.mistrust
    assert full(BytesSource(content)) == found


def test_a_column_that_another_schema_lacks_is_noticed_although_the_first_files_had_it() -> None:
    known = knowing(GOOD)
    other = Idx1File(data=parquet(table().rename_columns(["notion", "year"])), keys=WITH_COMPANION).build()

    assert full(BytesSource(other)) == quick(whole(other), known)
    found = quick_extract(whole(other), known)
    assert isinstance(found, Extracted)
    assert "nation is no string column with one value a row" in found.mistrust


@given(
    place=st.integers(0, len(GOOD) - 1),
    new=st.integers(0, 255),
    cut=st.integers(0, 4),
    add=st.binary(max_size=4),
)
@tries(400, suppress_health_check=[HealthCheck.too_slow])
def test_a_damaged_file_has_no_other_index_than_the_full_parse_finds_or_the_file_had(
    place: int, new: int, cut: int, add: bytes
) -> None:
    content = GOOD[:place] + bytes([new]) + add + GOOD[place + 1 + cut :]
    expected = full(BytesSource(content))
    found = quick(TailSource(BytesSource(content)), knowing(GOOD))

    # Damage in parts of the footer that the quick way does not look at leaves it with what the file had before, and
    # damage to the name of a key with less: an index without its record is used by nobody who does not vouch for it.
    assert found in (expected, *LEFT)
    if isinstance(expected, INDEXES):
        assert isinstance(found, INDEXES)


@given(st.integers(0, 80), st.integers(0, 7))
@tries(300)
def test_damage_to_the_bits_of_keys_tail_and_blob_is_seen(back: int, bit: int) -> None:
    blob = GOOD.index(idx1.MAGIC)
    for start in (blob, GOOD.index(idx1.KEY.encode()), GOOD.index(idx1.COMPANION_KEY.encode())):
        content = bytearray(GOOD)
        content[start + back - 4] ^= 1 << bit
        found = quick(whole(bytes(content)), knowing(GOOD))
        expected = full(BytesSource(bytes(content)))
        assert found in (expected, *LEFT)


# ------------------------------------------------------------------------ pairs as writers write them, and others

NUMBERS = st.one_of(
    st.integers(0, 300), st.integers(0, 1 << 65), st.sampled_from([10**19 - 1, 10**19, (1 << 64) - 1])
)
NAMES = st.text(st.sampled_from('a"\\\x00\x1f\x7fé,[]\n 日'), max_size=4)
RECORDS = st.builds(
    Companion,
    column=st.lists(NAMES, max_size=3).map(tuple),
    offset=NUMBERS,
    length=NUMBERS,
    crc32=NUMBERS,
    row_count=NUMBERS,
    value_count=NUMBERS,
    null_count=NUMBERS,
    lossless=st.booleans(),
)


def spellings(record: Companion) -> st.SearchStrategy[bytes]:
    """The text of a record: as its writer spells it, as others might, and with a byte replaced."""
    text = record.to_json().encode()
    members = json.loads(text)
    others = [
        json.dumps(members),
        json.dumps(members, separators=(",", ":")),
        json.dumps(dict(reversed(members.items())), separators=(",", ":"), ensure_ascii=False),
        json.dumps({**members, "more": 1}, separators=(",", ":"), ensure_ascii=False),
        text.decode().replace(":", ":0", 3),
        text.decode().replace(":", ":-", 3),
        text.decode().replace(",", ',"offset":1,', 2),
    ]
    damaged = st.tuples(st.integers(0, len(text) - 1), st.binary(max_size=2)).map(
        lambda damage: text[: damage[0]] + damage[1] + text[damage[0] + 1 :]
    )
    return st.one_of(st.just(text), st.sampled_from(others).map(str.encode), damaged)


@given(st.data())
@tries(300)
def test_a_record_that_is_taken_as_it_is_spelled_is_one_that_json_reads_the_same(data: st.DataObject) -> None:
    text = data.draw(RECORDS.flatmap(spellings))
    footer = b"before" + pair_bytes(idx1.KEY, b"275") + pair_bytes(idx1.COMPANION_KEY, text) + b"after"
    pairs = written_pairs(footer)
    try:
        record = parse_companion(text.decode())
    except (FormatError, UnicodeDecodeError):
        record = None

    if pairs is None:
        return
    path = path_of(pairs.column)
    if path is None:
        assert record is None
        return
    assert record is not None
    numbers = record.length, record.crc32, record.row_count, record.value_count
    assert (275, text, record.null_count) == (pairs.offset, pairs.record, pairs.null_count)
    assert (record.column, True) == (path, record.lossless)
    assert text == spelled(pairs.column, record.offset, *numbers, record.null_count)


def counts_of(record: Companion) -> list[int]:
    """The members that are numbers."""
    return [value for value in vars(record).values() if type(value) is int]


@given(RECORDS)
@tries(200)
def test_a_record_as_its_writer_spells_it_is_taken_unless_it_is_out_of_the_ordinary(
    record: Companion,
) -> None:
    text = record.to_json().encode()
    footer = pair_bytes(idx1.KEY, b"4") + pair_bytes(idx1.COMPANION_KEY, text)
    ordinary = (
        record.lossless
        and record.column
        and not any(character in '"\\' or character < " " for name in record.column for character in name)
        and all(number < 10**19 for number in counts_of(record))
    )

    assert bool(ordinary) == (written_pairs(footer) is not None)


@pytest.mark.parametrize(
    "footer",
    [
        pair_bytes(idx1.KEY, b"4") + b"x" + pair_bytes(idx1.COMPANION_KEY, RECORD),
        pair_bytes(idx1.COMPANION_KEY, RECORD) + pair_bytes(idx1.KEY, b"4"),
        PAIRS + idx1.KEY.encode(),
        idx1.COMPANION_KEY.encode() + PAIRS,
        PAIRS + pair_bytes(idx1.LENGTH_KEY, b"3"),
        PAIRS.replace(b"\x011\x00", b"\x021\x00"),
    ],
    ids=["apart", "in another order", "twice", "record twice", "draft", "wrong length"],
)
def test_pairs_that_are_not_as_writers_write_them_need_a_closer_look(footer: bytes) -> None:
    assert written_pairs(PAIRS) is not None
    assert written_pairs(footer) is None


def test_many_files_are_told_in_their_order_whatever_becomes_of_some(tmp_path: Path) -> None:
    contents = {
        "a": GOOD,
        "b": parquet(table()),
        "c": b"no Parquet",
        "d": Idx1File(magic=b"IDX2").build(),
        "e": GOOD,
    }
    for name, content in contents.items():
        (tmp_path / name).write_bytes(content)
    paths = [str(tmp_path / name) for name in (*contents, "missing")]
    told: list[tuple[int, int]] = []

    found = load(paths, progress=lambda done, total: told.append((done, total)))

    good = full(BytesSource(GOOD))
    assert [good, NOT_INDEXED] == found[:2]
    assert good == found[4]
    assert isinstance(found[2], str)
    assert "the bytes at the offset are b'IDX2', not b'IDX1'" == found[3]
    assert "it cannot be read: No such file or directory" == found[5]
    assert [(done, 6) for done in range(1, 7)] == told


@pytest.mark.parametrize("longer", [b"", b"x" * SHORT])
def test_an_index_with_a_value_twice_is_mistrusted_among_many_as_alone(longer: bytes, tmp_path: Path) -> None:
    file = Idx1File(payload=b"a\nb" + longer + b"\na")
    record = companion(length=5 + len(longer), crc32=blob_crc(file.blob()), value_count=3)
    content = Idx1File(
        payload=file.payload, keys=((idx1.KEY, "{offset}"), (idx1.COMPANION_KEY, record))
    ).build()
    for name in ("one", "other"):
        (tmp_path / name).write_bytes(content)
    (tmp_path / "good").write_bytes(GOOD)

    found = load([str(tmp_path / name) for name in ("good", "one", "other")])

    assert [full(BytesSource(GOOD)), full(BytesSource(content)), full(BytesSource(content))] == found
    assert isinstance(found[1], Extracted)
    assert "its value_count is 3, the blob's is 2" == found[1].mistrust


def test_a_filesystem_of_arrow_gives_the_same(tmp_path: Path) -> None:
    (tmp_path / "good.parquet").write_bytes(GOOD)
    (tmp_path / "none.parquet").write_bytes(parquet(table()))
    names = ["good.parquet", "none.parquet", "missing.parquet"]
    filesystem = pafs.SubTreeFileSystem(str(tmp_path), pafs.LocalFileSystem())

    found = load_indexes(names, (0, 0, 0), filesystem)

    assert load([str(tmp_path / name) for name in names])[:2] == found[:2]
    assert str(found[2]).startswith("it cannot be read: ")


def test_a_file_that_shrinks_while_it_is_read_is_named(tmp_path: Path) -> None:
    path = tmp_path / "data.parquet"
    path.write_bytes(GOOD)
    with NativeSource(pafs.LocalFileSystem(), str(path)) as source:
        path.write_bytes(GOOD[:40])
        with pytest.raises(FormatError, match="became shorter"):
            source.read(0, len(GOOD))
