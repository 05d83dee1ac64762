"""Every rule on a good file and on files broken in one way: exactly the expected rules are reported."""

from __future__ import annotations

import io
import shlex
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from typer.testing import CliRunner

import pqassay
from idx1_files import Idx1File, companion, edited, parquet, table
from pqassay.checks import asking, registry
from pqassay_reference.cli.main import app
from pqassay_reference.rewrite.embed import IndexingWriter
from pqassay_spec.base.sources import BytesSource
from pqassay_spec.idx1 import blob as idx1
from pqassay_spec.idx1 import companion as idx1_companion
from pqassay_spec.parquet.file import read_framing
from pqassay_spec.parquet.thrift import FileMetaData, KeyValue
from pqassay_spec.rules.catalogue import Tier, rules, rules_for

GOOD = Idx1File().build()
OFFSET = GOOD.index(idx1.MAGIC)
FOOTER = read_framing(BytesSource(GOOD)).footer_start
PLAIN = parquet(table())


@dataclass
class Case:
    """A file and the rules that a check reports on it, no more and no less."""

    name: str
    make: Callable[[], bytes]
    rules: set[str]
    tier: Tier = "values"
    options: dict[str, Any] = field(default_factory=dict)


def keyed(text: str | None) -> Callable[[], bytes]:
    """The good file with another text in the offset key."""
    return lambda: Idx1File(keys=[(idx1.KEY, text)]).build()


def payload(values: list[str | None], content: bytes, **options: Any) -> Callable[[], bytes]:
    """A file whose column and payload are given."""
    return lambda: Idx1File(data=parquet(table(values)), payload=content, **options).build()


def with_companion(text: str, **options: Any) -> Callable[[], bytes]:
    """The good file with a companion record."""
    return lambda: Idx1File(keys=[(idx1.KEY, "{offset}"), (idx1.COMPANION_KEY, text)], **options).build()


def blob_before_the_page_index(extra: int) -> Callable[[], bytes]:
    """A file whose blob is followed by the column index, its length field too great by ``extra``."""

    def make() -> bytes:
        import tempfile

        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "data.parquet"
            data = table()
            options: dict[str, Any] = {"companion": False, "write_page_index": True}
            with IndexingWriter(path, data.schema, "nation", **options) as writer:
                writer.write(data)
            content = bytearray(path.read_bytes())
        content[content.index(idx1.MAGIC) + len(idx1.MAGIC)] += extra
        return bytes(content)

    return make


def too_long(length: int) -> Callable[[], bytes]:
    """The good file with another length field."""
    return lambda: Idx1File(length=length).build()


def displaced_page_index() -> bytes:
    """What comes of writing the blob past the writer: through a Python file object, whose position pyarrow ignores."""
    buffer = io.BytesIO()
    blob = idx1.build_blob(["Côte d'Ivoire", "Peru", "Singapore", "日本"])
    with pq.ParquetWriter(pa.PythonFile(buffer, mode="w"), table().schema, write_page_index=True) as writer:
        writer.write_table(table())
        offset = buffer.tell()
        buffer.write(blob)
        writer.add_key_value_metadata({idx1.KEY: str(offset)})
    return buffer.getvalue()


def second_column(change: Callable[[Any], None]) -> Callable[[], bytes]:
    """The plain file with the second chunk's metadata changed."""
    return lambda: edited(PLAIN, lambda m: change(m.row_groups[0].columns[1]))


def overlap(chunk: Any) -> None:
    chunk.meta_data.dictionary_page_offset -= 1
    chunk.meta_data.total_compressed_size += 1


def beyond(chunk: Any) -> None:
    chunk.meta_data.total_compressed_size = 1 << 40


def trailing_bytes() -> bytes:
    framing = read_framing(BytesSource(PLAIN))
    footer = PLAIN[framing.footer_start : framing.tail_start] + b"\0\0\0"
    return PLAIN[: framing.footer_start] + footer + len(footer).to_bytes(4, "little") + b"PAR1"


def add_pairs(*pairs: KeyValue) -> Callable[[], bytes]:
    def edit(metadata: FileMetaData) -> None:
        metadata.key_value_metadata = [*(metadata.key_value_metadata or []), *pairs]

    return lambda: edited(PLAIN, edit)


def give_the_root_a_child_too_many(metadata: FileMetaData) -> None:
    metadata.schema[0].num_children = 3


def no_strings() -> bytes:
    return Idx1File(data=parquet(pa.table({"year": [1, 2]}))).build()


PARQUET_RULES = {
    rule for rule in rules_for("parquet") if rule.startswith("IDX1-") or "PQF-001" <= rule <= "PQF-010"
}
"""The rules that the cases of this module are about; those of other families have tables of their own and golden files."""
"""The rules of Parquet files; those of others are shown by golden files alone."""

VALID = [
    Case("no index", lambda: PLAIN, set()),
    Case("published layout", lambda: GOOD, set()),
    Case("companion record", with_companion(companion()), set()),
    Case("blob before the page index", blob_before_the_page_index(0), set()),
    Case("column named by the user", lambda: GOOD, set(), options={"idx1_column": "nation"}),
    Case("empty column, empty payload", payload([], b""), set()),
    Case("column of nulls, empty payload", payload([None, None], b""), set()),
    Case("empty value first", payload(["", "a", None], b"\na"), set()),
    Case("carriage return in the last value", payload(["a\r", "b"], b"b\na\r"), set()),
    Case("carriage return inside a value", payload(["a\rb", "c"], b"a\rb\nc"), set()),
    Case("separators of other languages", payload(["x\u2028y", "x\x85y", "p\x0bq", "n\0z"], "x\u2028y\nx\x85y\np\x0bq\nn\0z".encode()), set()),
    Case("another order", payload(["b", "a"], b"b\na"), set()),
]  # fmt: skip

INVALID = [
    Case("empty file", lambda: b"", {"PQF-001"}),
    Case("eleven bytes", lambda: b"PAR1\0\0\0PAR1", {"PQF-001"}),
    Case("head magic", lambda: b"PAR2" + GOOD[4:], {"PQF-001"}),
    Case("text", lambda: b"no Parquet file at all", {"PQF-001", "PQF-002"}),
    Case("tail magic", lambda: GOOD[:-1] + b"2", {"PQF-002"}),
    Case("truncated", lambda: GOOD[:-20], {"PQF-002"}),
    Case("footer length 0", lambda: GOOD[:-8] + bytes(4) + b"PAR1", {"PQF-003"}),
    Case("footer length beyond", lambda: GOOD[:-8] + b"\xff\xff\xff\xff" + b"PAR1", {"PQF-003"}),
    Case("footer is no Thrift", lambda: PLAIN[:-8] + b"\x05\0\0\0PAR1", {"PQF-004"}),
    Case("schema is no tree", lambda: edited(PLAIN, give_the_root_a_child_too_many), {"PQF-004"}),
    Case("bytes behind the struct", trailing_bytes, {"PQF-005"}),
    Case("key twice", add_pairs(KeyValue(key="a", value="1"), KeyValue(key="a", value="2")), {"PQF-006"}),
    Case("value not UTF-8", add_pairs(KeyValue(key="a", value="\udcff")), {"PQF-007"}),
    Case("key not UTF-8", add_pairs(KeyValue(key="\udcff", value="b")), {"PQF-007"}),
    Case("chunk beyond the body", second_column(beyond), {"PQF-008"}),
    Case("chunks overlap", second_column(overlap), {"PQF-009"}),
    Case("key twice, same value", lambda: Idx1File(keys=[(idx1.KEY, "{offset}")] * 2).build(), {"IDX1-001", "PQF-006"}),
    Case("key twice, first stale", lambda: Idx1File(keys=[(idx1.KEY, "4"), (idx1.KEY, "{offset}")]).build(), {"IDX1-001", "IDX1-007", "PQF-006"}),
    Case("key without value", keyed(None), {"IDX1-002", "PQF-010"}),
    *(Case(f"offset {text!r}", keyed(text), {"IDX1-003"}) for text in ("", "abc", "-5", " {offset}", "0x76", "118.0", "\uff11\uff11\uff18", "1_0", str(1 << 64), "9" * 5000)),
    Case("offset with a sign", keyed("+{offset}"), {"IDX1-004"}),
    Case("offset with zeros", keyed("00{offset}"), {"IDX1-004"}),
    *(Case(f"offset {text}", keyed(text), {"IDX1-005"}) for text in ("0", "3", str(FOOTER - 11), str(FOOTER), "1000000", str((1 << 63) - 1), str((1 << 64) - 1))),
    Case("another magic", lambda: Idx1File(magic=b"IDX2").build(), {"IDX1-006"}),
    Case("big-endian magic", lambda: Idx1File(magic=b"1XDI").build(), {"IDX1-006"}),
    Case("key without blob", lambda: Idx1File(payload=None, keys=[(idx1.KEY, "4")]).build(), {"IDX1-007"}),
    Case("key into the column index", lambda: Idx1File(keys=[(idx1.KEY, str(OFFSET - 20))]).build(), {"IDX1-007"}),
    *(Case(f"length {length}", too_long(length), {"IDX1-008"}) for length in (len("Côte d'Ivoire\nPeru\nSingapore\n日本".encode()) + 1, 1 << 20, 1 << 40, (1 << 63) - 1, 1 << 63, (1 << 64) - 1)),
    Case("length into the column index", blob_before_the_page_index(1), {"IDX1-009"}, tier="index"),
    Case("page index displaced by the blob", displaced_page_index, {"IDX1-009", "PIX-010", "PIX-020"}),
    Case("payload not UTF-8", payload(["a"], b"\xff"), {"IDX1-010"}),
    Case("surrogates", payload(["a"], b"\xed\xa0\x80"), {"IDX1-010"}),
    Case("value twice", payload(["a", "b"], b"a\nb\na"), {"IDX1-011"}),
    Case("empty value last", payload(["a", ""], b"a\n"), {"IDX1-012"}),
    Case("line feed at the end", payload(["a", "b"], b"a\nb\n"), {"IDX1-012", "IDX1-017"}),
    Case("only the empty value", payload(["", None], b""), {"IDX1-013"}),
    Case("carriage return before a line feed", payload(["a\r", "b"], b"a\r\nb"), {"IDX1-014"}),
    Case("carriage return and empty value", payload(["\r", ""], b"\r\n"), {"IDX1-012", "IDX1-014"}),
    Case("value with a line feed", payload(["x\ny", "z"], b"x\ny\nz"), {"IDX1-015"}),
    Case("value missing", payload(["a", "b", "c"], b"a\nc"), {"IDX1-016"}),
    Case("value altered", payload(["Singapore"], b"Singapura"), {"IDX1-016"}),
    Case("length too short by 1", lambda: Idx1File(length=len("Côte d'Ivoire\nPeru\nSingapore\n".encode())).build(), {"IDX1-012", "IDX1-016"}),
    Case("empty payload, column with values", payload(["a"], b""), {"IDX1-016"}),
    Case("value too many", payload(["a"], b"a\nb"), {"IDX1-017"}),
    Case("index on an empty file", payload([], b"a"), {"IDX1-018"}),
    Case("empty index beside values", lambda: Idx1File(data=parquet(pa.table({"a": pa.array([None, None], pa.string()), "b": ["x", "y"]})), payload=b"").build(), {"IDX1-019"}),
    Case("no string column", no_strings, {"IDX1-018"}),
    Case("column named by the user is absent", lambda: GOOD, {"IDX1-018"}, options={"idx1_column": "nope"}),
    Case("column named by the user is no string", lambda: GOOD, {"IDX1-018"}, options={"idx1_column": "year"}),
    *(Case(f"companion {text[:20]}", with_companion(text), {"IDX1-020"}) for text in ("", "{", "[]", "1", "{}", "[" * 100_000, companion(offset=-1), companion(lossless=1), companion(column=[]), companion(row_count=True))),
    Case("companion without value", lambda: Idx1File(keys=[(idx1.KEY, "{offset}"), (idx1.COMPANION_KEY, None)]).build(), {"IDX1-020", "PQF-010"}),
    *(Case(f"companion {name}", with_companion(companion(**{name: 7})), {"IDX1-021"}) for name in ("offset", "length", "crc32", "value_count")),
    Case("companion row count", with_companion(companion(row_count=5)), {"IDX1-022"}),
    Case("companion null count", with_companion(companion(null_count=0)), {"IDX1-023"}),
    Case("companion column absent", with_companion(companion(column=("nope",))), {"IDX1-018"}),
    Case("companion alone", lambda: Idx1File(payload=None, keys=[(idx1.COMPANION_KEY, companion())]).build(), {"IDX1-024"}),
    Case("draft G0", lambda: Idx1File(magic=b"", length=0, keys=[(idx1.KEY, str(OFFSET + 8)), (idx1.LENGTH_KEY, "36")]).build(), {"IDX1-030"}),
    Case("draft G1", lambda: Idx1File(keys=[(idx1.KEY, "{offset}"), (idx1.LENGTH_KEY, "36")]).build(), {"IDX1-032"}),
    Case("draft G1, another length", lambda: Idx1File(keys=[(idx1.KEY, "{offset}"), (idx1.LENGTH_KEY, "35")]).build(), {"IDX1-031", "IDX1-032"}),
]  # fmt: skip


def found(case: Case) -> pqassay.Report:
    return pqassay.check(case.make(), tier=case.tier, **case.options)


@pytest.mark.parametrize("case", [*VALID, *INVALID], ids=lambda case: case.name[:40])
def test_exactly_the_expected_rules_are_reported(case: Case) -> None:
    report = found(case)

    assert case.rules == {finding.rule for finding in report.files[0].findings}


@pytest.mark.parametrize("case", INVALID, ids=lambda case: case.name[:40])
def test_a_rule_that_blocks_others_is_itself_reported(case: Case) -> None:
    report = found(case)
    (coverage,) = report.coverages.values()
    blocking = {why.split()[0] for why in coverage.not_checked.values() if " is broken" in why}

    assert blocking <= {finding.rule for finding in report.files[0].findings}


@pytest.mark.parametrize("case", INVALID, ids=lambda case: case.name[:40])
def test_findings_say_where_and_what(case: Case) -> None:
    report = found(case)
    size = report.files[0].size

    for finding in report.files[0].findings:
        assert finding.message
        assert finding.count >= len(finding.at) >= 1
        assert finding.at[0].field
        assert -1 <= finding.at[0].offset <= size
        assert len(finding.hexdump) <= 6


@pytest.mark.parametrize("case", [*VALID, *INVALID], ids=lambda case: case.name[:40])
def test_every_rule_is_accounted_for_exactly_once(case: Case) -> None:
    (coverage,) = found(case).coverages.values()

    assert sorted(rules()) == sorted([*coverage.checked, *coverage.not_checked, *coverage.not_applicable])


def test_every_rule_has_a_check_and_an_invalid_file() -> None:
    broken = {rule for case in INVALID for rule in case.rules}

    assert {rule.id for rule in rules().values() if not rule.excluded} <= set(registry())
    assert broken >= PARQUET_RULES


def test_every_rule_is_checked_and_kept_by_a_valid_file() -> None:
    checked = {rule for case in VALID for c in found(case).coverages.values() for rule in c.checked}

    # Subjects that a conformant file does not have.
    assert {"IDX1-031"} == PARQUET_RULES - checked


@pytest.mark.parametrize("rule", sorted(PARQUET_RULES))
def test_taking_a_check_away_changes_a_verdict(rule: str, monkeypatch: pytest.MonkeyPatch) -> None:
    case = next(case for case in INVALID if rule in case.rules)
    monkeypatch.setitem(registry(), rule, replace(registry()[rule], test=lambda _: None))
    monkeypatch.setattr(asking, "_by_subject", asking._by_subject.__wrapped__)

    assert case.rules - {rule} == {finding.rule for finding in found(case).files[0].findings}


def test_the_nearest_column_is_named() -> None:
    data = pa.table({"a": ["x", "y", "z"], "b": ["p", "q", "r"], "n": [1, 2, 3]})
    file = Idx1File(data=parquet(data), payload=b"p\nq\nw").build()

    (finding,) = pqassay.check(file).files[0].findings

    assert finding.column == "b"
    assert finding.message == (
        "1 value of column b not in the index: 'r'; 1 value of the index in no row: 'w'; "
        "no string column fits, b is nearest"
    )


def test_among_several_columns_the_equal_one_is_taken() -> None:
    data = pa.table({"a": ["x", "x"], "b": ["x", "y"]})

    assert [] == pqassay.check(Idx1File(data=parquet(data), payload=b"x\ny").build()).files[0].findings


@pytest.mark.parametrize("names", [["pieces", "lines"], ["lines", "pieces"]])
def test_pieces_of_values_stand_behind_a_column_that_equals_the_index(names: list[str]) -> None:
    columns = {"lines": ["x\ny", "x"], "pieces": ["x", "y"], "other": ["x", "x"]}
    equal = Idx1File(data=parquet(pa.table({name: columns[name] for name in names})), payload=b"x\ny")
    names = ["other" if name == "pieces" else name for name in names]
    wide = Idx1File(data=parquet(pa.table({name: columns[name] for name in names})), payload=b"x\ny")

    assert [] == pqassay.check(equal.build()).files[0].findings
    assert [("IDX1-015", "lines")] == [
        (finding.rule, finding.column) for finding in pqassay.check(wide.build()).files[0].findings
    ]


def test_an_empty_index_beside_values_passes_only_for_a_column_that_is_named() -> None:
    nothing = pa.array([None, None], pa.string())
    file = Idx1File(data=parquet(pa.table({"comment": nothing, "nation": ["a", "b"]})), payload=b"").build()
    report = pqassay.check(file)
    (coverage,) = report.coverages.values()

    assert "conformant" == report.files[0].outcome
    assert (
        "an empty index fits column comment, which has no values, and no other; "
        "nation has values: name the column that is meant"
    ) == coverage.not_checked["IDX1-016"]
    assert {"comment": [], "nation": ["IDX1-016"]} == {
        name: [finding.rule for finding in pqassay.check(file, idx1_column=name).files[0].findings]
        for name in ("comment", "nation")
    }


def test_an_empty_index_where_no_column_has_values_passes() -> None:
    nothing = pa.array([None, None], pa.string())
    file = Idx1File(data=parquet(pa.table({"a": nothing, "b": nothing, "n": [1, 2]})), payload=b"").build()
    (coverage,) = pqassay.check(file).coverages.values()

    assert "IDX1-016" in coverage.checked


@pytest.mark.parametrize(("tier", "expected"), [("index", ["PQF-016"]), ("values", ["IDX1-022", "PQF-016"])])
def test_the_rows_that_were_read_count_as_well_as_those_that_the_footer_says(
    tier: Tier, expected: list[str]
) -> None:
    data = edited(
        with_companion(companion(row_count=99))(), lambda metadata: setattr(metadata, "num_rows", 99)
    )
    findings = pqassay.check(data, tier=tier).files[0].findings

    assert expected == [finding.rule for finding in findings]
    assert all(
        finding.message == "the index was made for 99 rows, column nation has 6"
        for finding in findings
        if finding.rule == "IDX1-022"
    )


def test_rows_are_not_counted_in_a_column_of_lists() -> None:
    data = parquet(pa.table({"l": [["a", "b"], ["c"]], "nation": ["a", "b"]}))
    file = Idx1File(data=data, payload=b"a\nb\nc")
    record = idx1_companion.make_companion(
        file.blob(),
        offset=file.build().index(idx1.MAGIC),
        column=("nation",),
        row_count=2,
        value_count=3,
        null_count=0,
    )
    file.keys = [(idx1.KEY, "{offset}"), (idx1.COMPANION_KEY, record.to_json())]

    assert [] == pqassay.check(file.build(), idx1_column="l.list.element").files[0].findings


def test_nested_and_dictionary_columns_are_compared() -> None:
    data = pa.table(
        {
            "s": pa.array([{"q": "x"}, None, {"q": "y"}]),
            "d": pa.array(["p", "q", "p"]).dictionary_encode(),
            "l": pa.array([["u", "v"], [], None]),
        }
    )
    for column, content in (("s.q", b"x\ny"), ("d", b"p\nq"), ("l.list.element", b"u\nv")):
        file = Idx1File(data=parquet(data), payload=content).build()

        assert [] == pqassay.check(file, idx1_column=column).files[0].findings


def test_values_of_many_row_groups_are_compared() -> None:
    values: list[str | None] = [f"v{i % 700:03d}" for i in range(5000)]
    content = "\n".join(sorted({v for v in values if v})).encode()
    file = Idx1File(data=parquet(table(values), row_group_size=512), payload=content).build()

    assert [] == pqassay.check(file).files[0].findings


def test_a_column_that_cannot_be_decoded_leaves_the_file_unjudged() -> None:
    file = bytearray(Idx1File(data=parquet(table(), compression="zstd", use_dictionary=False)).build())
    file[40:60] = bytes(20)

    report = pqassay.check(bytes(file))

    assert "errored" == report.files[0].outcome
    assert 4 == report.exit_code
    (coverage,) = report.coverages.values()
    assert "cannot be decoded" in coverage.not_checked["IDX1-016"]


def test_an_encrypted_footer_is_unsupported_not_corrupt() -> None:
    report = pqassay.check(b"PARE" + GOOD[4:-4] + b"PARE")

    assert ("errored", []) == (report.files[0].outcome, report.files[0].findings)
    assert report.files[0].error == "the footer is encrypted; pqassay has no keys"


def test_a_signed_footer_may_be_followed_by_its_signature() -> None:
    from pqassay_spec.parquet.thrift import AesGcmV1, EncryptionAlgorithm

    def sign(metadata: FileMetaData) -> None:
        metadata.encryption_algorithm = EncryptionAlgorithm(AES_GCM_V1=AesGcmV1())

    signed = edited(PLAIN, sign)
    length = int.from_bytes(signed[-8:-4], "little") + 28
    signed = signed[:-8] + bytes(28) + length.to_bytes(4, "little") + b"PAR1"

    assert [] == pqassay.check(signed, tier="index").files[0].findings


def test_deeper_tiers_are_not_entered() -> None:
    file = payload(["a", "b", "c"], b"a\nc")()
    report = pqassay.check(file, tier="index")
    (coverage,) = report.coverages.values()

    assert "conformant" == report.files[0].outcome
    assert "needs tier values" == coverage.not_checked["IDX1-016"]


def test_the_footer_tier_reads_no_blob() -> None:
    class Reads(io.BytesIO):
        pass

    class Counting(BytesSource):
        ranges: list[tuple[int, int]]

        def read(self, offset: int, length: int) -> bytes:
            self.ranges.append((offset, length))
            return super().read(offset, length)

    from pqassay.judge.file_check import Selection, check_source
    from pqassay.under_test.file import Options

    source = Counting(GOOD)
    source.ranges = []
    check_source(source, Options("footer"), Selection(), "must")

    assert all(offset == 0 or offset >= FOOTER for offset, _ in source.ranges)


# ------------------------------------------------------------------------------------------------ what mends them

BROKEN_INDEXES = [case for case in INVALID if any(rule.startswith("IDX1") for rule in case.rules)]


def commands(path: Path, case: Case) -> list[list[str]]:
    """The different commands that the findings name, as arguments."""
    findings = pqassay.check(path, tier=case.tier, **case.options).files[0].findings
    return [shlex.split(text) for text in sorted({f.remedy for f in findings if f.remedy})]


def named(case: Case, tmp_path: Path) -> tuple[Path, list[list[str]]]:
    path = tmp_path / "a file's name.parquet"
    path.write_bytes(case.make())
    return path, commands(path, case)


LEFT_OVER = {"PQF-037"}
"""What can be said of a file after a blob has lost its key: of one that is damaged, nobody knows what the bytes are."""


@pytest.mark.parametrize("case", BROKEN_INDEXES, ids=lambda case: case.name[:40])
def test_each_command_leaves_a_file_without_findings_and_the_same_rows(case: Case, tmp_path: Path) -> None:
    path, found = named(case, tmp_path)
    before = path.read_bytes()
    rows = pq.read_table(io.BytesIO(before))

    assert found or case.options  # a column that the user named may be a slip: nothing is to be mended
    for program, *arguments in found:
        path.write_bytes(before)
        result = CliRunner().invoke(app, arguments)
        assert ("pqassay-ref", 0) == (program, result.exit_code), result.output
        assert set() == {f.rule for f in pqassay.check(path, tier="values").files[0].findings} - LEFT_OVER
        assert rows == pq.read_table(path)


@pytest.mark.parametrize("case", BROKEN_INDEXES, ids=lambda case: case.name[:40])
def test_stripping_the_index_always_helps(case: Case, tmp_path: Path) -> None:
    path = tmp_path / "data.parquet"
    path.write_bytes(case.make())
    displaced = ["--page-index"] if "displaced" in case.name else []
    result = CliRunner().invoke(app, ["strip", str(path), "--idx1", *displaced])

    assert 0 == result.exit_code
    assert set() == {f.rule for f in pqassay.check(path, tier="values").files[0].findings} - LEFT_OVER - {
        "PQF-006"
    }


def test_every_rule_of_the_index_has_a_remedy(tmp_path: Path) -> None:
    mended: set[str] = set()
    for number, case in enumerate(BROKEN_INDEXES):
        path = tmp_path / f"{number}.parquet"
        path.write_bytes(case.make())
        findings = pqassay.check(path, tier=case.tier, **case.options).files[0].findings
        mended |= {f.rule for f in findings if f.remedy and f.rule.startswith("IDX1")}

    assert {rule for rule in rules() if rule.startswith("IDX1")} == mended


def test_a_displaced_page_index_goes_with_the_blob_that_displaced_it(tmp_path: Path) -> None:
    path = tmp_path / "data.parquet"
    path.write_bytes(displaced_page_index())
    (finding, *_) = pqassay.check(path).files[0].findings

    assert f"pqassay-ref strip {path} --idx1 --page-index" == finding.remedy
