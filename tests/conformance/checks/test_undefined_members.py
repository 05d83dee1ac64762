"""What the format does not define is unknown, never silent and never an error; what contradicts itself is an error."""

from __future__ import annotations

import base64
import io
from collections.abc import Iterator
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pyarrow.parquet.encryption as pe
import pytest

import pqassay
from damage import EXAMPLES
from pqassay.under_test.chunks import ColumnChunks
from pqassay.under_test.file import FileUnderTest, Options
from pqassay_golden.tiny.parquet import Column, Encoding, Layout, ListOf, TinyParquet
from pqassay_spec.base.sources import BytesSource
from pqassay_spec.grammar.record_walk import structs_in
from pqassay_spec.grammar.thrift import EnumOf, Record
from pqassay_spec.grammar.thrift import ListOf as ListType
from pqassay_spec.mutation.mutations import Mutation, mutate

CHUNK = "row_groups[0].columns[0]"
CONTRADICTED = {
    "row_groups[0].columns[0].meta_data.type": "PQF-013",
    ".header.type": "PQF-053",
    "data_page_header_v2.encoding": "STA-058",
}
"""Ends of the paths of enums that another field contradicts whatever they mean: the type of the schema, the header of the page's type,
and encoding_stats, by which all pages have a dictionary."""


BROKEN = ("nonconformant", "untrue")


def made(*columns: Column, **layout: Any) -> bytes:
    return TinyParquet(columns, page_index=True, layout=Layout(encoding_stats=True, **layout)).build()


def enums_in(record: Record, root: str) -> Iterator[str]:
    """The paths of the enums of a structure, by its declaration."""
    for path, struct in structs_in(record, root):
        for field in struct.fields:
            item = field.type.element if isinstance(field.type, ListType) else field.type
            value = getattr(struct, field.name)
            if isinstance(item, EnumOf) and value is not None:
                yield from (
                    f"{path}.{field.name}[{place}]"
                    for place in range(len(value) if isinstance(value, list) else 0)
                )
                yield from () if isinstance(value, list) else (f"{path}.{field.name}",)


def enums_of(data: bytes) -> list[str]:
    """The paths of the enums of the first column."""
    file = FileUnderTest(BytesSource(data), Options("values"))
    chunk = file.part(ColumnChunks).all[0]
    headers = [(page.header, f"{CHUNK}.pages[{page.number}].header") for page in chunk.pages]
    records = [(file.metadata, "footer"), (chunk.column_index, f"{CHUNK}.column_index"), *headers]
    return [path for record, root in records for path in enums_in(record, root)]


FLAT = made(Column("n", "int16", [1, None, 3]))
V2 = made(Column("n", "string", ["a", None, "b"]), version=2, dictionary=Encoding.RLE_DICTIONARY)
NESTED = made(Column("l", ListOf("int32"), [[1, 2], None, []]))


def judged(data: bytes, **options: Any) -> Any:
    return pqassay.check(data, tier="values", **options).files[0]


UNDEFINED = [-1, 1000, (1 << 31) - 1]
"""Numbers that no enum gives a name; each enum of a file, of a list the first, is set to one of them, and all to all by `make damages`."""


@pytest.mark.slow
@pytest.mark.parametrize(
    ("data", "path", "number"),
    [
        (data, path, number)
        for data in (FLAT, V2, NESTED)
        for place, path in enumerate(enums_of(data))
        if EXAMPLES == 1 or "[1]" not in path
        for number in (UNDEFINED if EXAMPLES == 1 else UNDEFINED[place % 3 :][:1])
    ],
)
def test_an_undefined_enum_value_is_a_warning_and_a_gap_and_fails_the_strict(
    data: bytes, path: str, number: int
) -> None:
    broken = mutate(data, Mutation("set", path, number))
    report = judged(broken)

    verdicts = {finding.verdict for finding in report.findings if finding.verdict != "INFO"}
    error = next((rule for end, rule in CONTRADICTED.items() if path.endswith(end)), None)
    assert (report.outcome in BROKEN) if error else (report.outcome == "conformant where checked")
    assert verdicts <= {"FAIL", "WARN"} if error else verdicts == {"WARN"}
    assert error is None or error in {finding.rule for finding in report.findings}
    assert any("unknown, possibly from a later version" in gap.reason for gap in report.gaps)
    assert judged(broken, profile="strict").outcome in BROKEN


@pytest.mark.parametrize(
    ("number", "outlook"), [(77, "a later one may define it"), (-1, "so it is likely damage")]
)
def test_a_negative_value_is_likely_damage(number: int, outlook: str) -> None:
    report = judged(mutate(FLAT, Mutation("set", "footer.schema[1].repetition_type", number)))
    messages = [finding.message for finding in report.findings if finding.rule == "PQF-167"]

    assert [True] == [message.endswith(outlook) for message in messages]


@pytest.mark.parametrize("path", ["footer.schema[1].type", "footer.schema[1].repetition_type"])
def test_only_the_column_whose_storage_is_unknown_is_not_judged(path: str) -> None:
    data = made(Column("a", "int32", [1, 2]), Column("b", "int32", [3, 4]))
    data = mutate(
        data, Mutation("set", "footer.row_groups[0].columns[1].meta_data.statistics.max_value", b"\3\0\0\0")
    )
    report = judged(mutate(data, Mutation("set", path, 77)))

    assert ["PQF-167", "STA-041"] == sorted(finding.rule for finding in report.findings)
    assert [["a"]] == [gap.columns for gap in report.gaps]


@pytest.mark.parametrize("kind", [4, 99, -1, (1 << 31) - 1])
def test_a_page_of_an_unknown_type_is_skipped_and_named(kind: int) -> None:
    report = judged(with_page(kind))

    assert ("conformant where checked", ["PQF-169"]) == (
        report.outcome,
        [found.rule for found in report.findings],
    )
    assert [f"value {kind} of PageType is unknown, possibly from a later version of the format"] == [
        gap.reason for gap in report.gaps
    ]


def test_an_index_page_is_named_as_not_checked() -> None:
    data = mutate(with_page(1), Mutation("set", f"{CHUNK}.pages[1].header.index_page_header", {}))

    assert ["the format does not define the content of index pages"] == [
        gap.reason for gap in judged(data).gaps
    ]


def with_page(kind: int) -> bytes:
    """A chunk of three pages with one of another type between them."""
    column = Column("n", "int64", list(range(9)), optional=False)
    data = TinyParquet((column,), page_rows=3).build()
    for mutation in (
        Mutation("duplicate", f"{CHUNK}.pages[1]"),
        Mutation("remove", f"{CHUNK}.pages[1].header.data_page_header"),
        Mutation("set", f"{CHUNK}.pages[1].header.type", kind),
    ):
        data = mutate(data, mutation)
    return data


# ---------------------------------------------------------------------------------------------------- unions


def timestamp(**units: Any) -> dict[str, Any]:
    return {"TIMESTAMP": {"isAdjustedToUTC": True, "unit": units}}


@pytest.mark.parametrize(
    ("path", "value"),
    [
        ("schema[1].logicalType", {"STRING": {}, "JSON": {}}),
        ("schema[1].logicalType", {"ENUM": {}, "BSON": {}, "STRING": {}}),
        ("schema[2].logicalType", timestamp(MILLIS={}, MICROS={})),
        ("schema[2].logicalType", timestamp(MICROS={}, NANOS={})),
        ("schema[2].logicalType", {**timestamp(MICROS={}), "DATE": {}}),
        ("encryption_algorithm", {"AES_GCM_V1": {}, "AES_GCM_CTR_V1": {}}),
    ],
)
def test_a_union_with_two_members_is_an_error_of_its_own(path: str, value: Any) -> None:
    data = made(Column("s", "string", ["a"]), Column("t", "timestamp_micros", [7]))
    report = judged(mutate(data, Mutation("set", f"footer.{path}", value)), skip=["PQF-005"])

    assert {"PQF-168": "FAIL"} == {finding.rule: finding.verdict for finding in report.findings}


def test_a_union_with_a_known_and_an_unknown_member_is_an_error() -> None:
    data = made(Column("t", "timestamp_micros", [7]))
    unit = "footer.schema[1].logicalType.TIMESTAMP.unit.MICROS:header"
    report = judged(mutate(data, Mutation("set", unit, bytes.fromhex("1c 00 8c"))))

    assert ["PQF-168"] == [finding.rule for finding in report.findings]
    assert "the union has 2 members: MILLIS, 9" == report.findings[0].message


@pytest.mark.parametrize("header", ["2c 00 1c", "1c 00 1c"])
def test_a_bloom_filter_with_two_members_of_a_union_is_an_error(header: str) -> None:
    data = TinyParquet((Column("s", "string", ["a"]),), bloom_filters=("s",)).build()
    path = f"{CHUNK}.bloom_filter.header.hash.XXHASH:header"
    report = judged(mutate(data, Mutation("set", path, bytes.fromhex(header))), only=["PQF-168"])

    assert ["PQF-168"] == [finding.rule for finding in report.findings]


# ------------------------------------------------------------------------------------------------ encryption

CRYPTO = Mutation("set", f"footer.{CHUNK}.crypto_metadata", {"ENCRYPTION_WITH_FOOTER_KEY": {}})
FALSE_BOUND = Mutation("set", f"footer.{CHUNK}.meta_data.statistics.max_value", b"\0\0")


def test_crypto_metadata_hides_no_chunk_of_a_file_that_is_not_encrypted() -> None:
    data = made(Column("n", "int32", [1, 2, 3]), Column("m", "int32", [1, 2, 3]))
    bound = Mutation("set", FALSE_BOUND.path, b"\1\0\0\0")
    report = judged(mutate(mutate(data, bound), CRYPTO))

    assert {"PQF-170", "STA-041"} == {finding.rule for finding in report.findings}
    assert [] == report.gaps


def test_pages_of_an_encrypted_file_that_can_be_read_are_not_encrypted() -> None:
    data = mutate(FLAT, CRYPTO)
    data = mutate(data, Mutation("set", "footer.encryption_algorithm", {"AES_GCM_V1": {}}))

    assert ["PQF-170"] == [finding.rule for finding in judged(data, only=["PQF-170"]).findings]
    assert [] == judged(FLAT, only=["PQF-170"]).findings


class _Keys(pe.KmsClient):
    """Keys that are not secret."""

    def wrap_key(self, key_bytes: Any, _: str) -> str:
        return base64.b64encode(key_bytes).decode()

    def unwrap_key(self, wrapped_key: str, _: str) -> Any:
        return base64.b64decode(wrapped_key)


@pytest.mark.parametrize("algorithm", ["AES_GCM_V1", "AES_GCM_CTR_V1"])
def test_an_encrypted_file_is_sound_and_named_as_not_checked(algorithm: str) -> None:
    table = pa.table({"a": list(range(99)), "b": ["x"] * 99})
    factory = pe.CryptoFactory(lambda _: _Keys())
    how = pe.EncryptionConfiguration(
        footer_key="f", column_keys={"c": ["a"]}, plaintext_footer=True, encryption_algorithm=algorithm
    )
    sink = io.BytesIO()
    properties = factory.file_encryption_properties(pe.KmsConnectionConfig(), how)
    with pq.ParquetWriter(sink, table.schema, encryption_properties=properties) as writer:
        writer.write_table(table)
    report = judged(sink.getvalue())

    assert ("conformant where checked", []) == (report.outcome, report.findings)
    assert ["key"] == [gap.obstacle for gap in report.gaps]
