"""Tables for writers: values at the limits of their types, with a request for a structure.

These cases do not have a file, because the writer makes it.  Their ids begin with ``write/``.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pqassay_spec.golden.case import (
    Case,
    CheckExpectation,
    Expect,
    Input,
    Provenance,
    to_json,
)
from pqassay_spec.golden.literals import (
    BinaryLiteral,
    Column,
    Date,
    Decimal,
    Float,
    List,
    LongInteger,
    Map,
    Rows,
    Struct,
    Time,
    Timestamp,
    Written,
)
from pqassay_spec.golden.revision import case_digest
from pqassay_suite.cases.case import GoldenCase
from pqassay_suite.drivers.protocol import SortingWish, Wishes

ROOM = "write"
"""The first part of the ids of cases for writers."""

SINCE = "0.7.0"

NO_FILE = Input(file="none", sha256=hashlib.sha256(b"").hexdigest())


@dataclass(frozen=True)
class Table:
    """A table to write.

    Attributes:
        name: Its name.
        title: What is special about it.
        rows: Its rows.
        needs: Capabilities that its types need.
        filtered: Columns that may have bloom filters.
        sorted_by: The column that its rows are sorted by.
    """

    name: str
    title: str
    rows: Rows
    needs: tuple[str, ...] = ()
    filtered: tuple[str, ...] = ()
    sorted_by: str | None = None


def _table(
    name: str, title: str, columns: Sequence[tuple[str, str]], rows: Sequence[Sequence[Written]], **more: Any
) -> Table:
    declared = [Column(column, kind, nullable=True) for column, kind in columns]
    return Table(name, title, Rows(declared, [list(row) for row in rows]), **more)


def _numbered(values: Sequence[Written]) -> list[list[Written]]:
    return [[number, value] for number, value in enumerate(values)]


LONG = "x" * 62
"""Text slightly shorter than the length at which writers truncate bounds."""

TEXTS: tuple[str, ...] = (
    *("", "a", "\0", "Zürich", LONG, f"{LONG}é", f"{LONG}東京", f"{LONG}\U0001f600", "\U0010ffff" * 17),
    *("\uffff" * 22, "\x7f" * 65, "é" * 40),
)

FLOATS = ("nan", "0.0", "-0.0", "inf", "-inf", "1.5", "-1.5", "5e-324")

_EVERY_TYPE: tuple[tuple[str, str, Written, Written], ...] = (
    ("flag", "boolean", True, False),
    ("small", "int8", -128, 127),
    ("large", "int64", LongInteger("-9223372036854775808"), LongInteger("9223372036854775807")),
    ("natural", "uint32", 0, 4294967295),
    ("huge", "uint64", 0, LongInteger("18446744073709551615")),
    ("single", "float", Float("-1.5"), Float("0.25")),
    ("double", "double", Float("-0.0"), Float("1.7976931348623157e+308")),
    ("text", "string", "", "東京"),
    ("raw", "binary", BinaryLiteral(""), BinaryLiteral("ff00")),
    ("exact", "decimal(9,2)", Decimal("-9999999.99"), Decimal("0.05")),
    ("wide", "decimal(38,10)", Decimal("-0.0000000001"), Decimal("1234567890123456789012345678.0123456789")),
    ("day", "date", Date("-719162"), Date("2932896")),
    ("moment", "timestamp_micros", Timestamp("-1000"), Timestamp("1700000000000000000")),
    ("hour", "time_micros", Time("0"), Time("86399999999000")),
    ("fixed", "fixed(3)", BinaryLiteral("000000"), BinaryLiteral("ffffff")),
)

_NESTED: tuple[tuple[str, str], ...] = (
    ("id", "int32"),
    ("numbers", "list<int32>"),
    ("place", "struct<x: int32, y: double>"),
    ("counts", "map<string, int32>"),
)

TABLES: tuple[Table, ...] = (
    _table("no-rows", "no rows", [("id", "int32"), ("name", "string")], [], filtered=("name",)),
    _table("one-row", "one row", [("id", "int32"), ("name", "string")], [[1, "a"]], filtered=("name",)),
    _table(
        "only-nulls",
        "an all-null column",
        [("id", "int32"), ("name", "string")],
        _numbered([None] * 5),
        filtered=("name",),
    ),
    _table(
        "pages-of-nulls",
        "all-null pages among others",
        [("id", "int32"), ("name", "string")],
        _numbered([None, None, "b", "a", None, None, None, "c"]),
        filtered=("name",),
        sorted_by="id",
    ),
    _table(
        "floats",
        "NaN, both zeros, infinities, the smallest number",
        [("id", "int32"), ("mass", "double")],
        _numbered([Float(text) for text in FLOATS]),
        filtered=("mass",),
        sorted_by="id",
    ),
    _table(
        "only-nan",
        "all-NaN pages",
        [("id", "int32"), ("mass", "double")],
        _numbered([Float("nan"), Float("nan"), Float("1.0"), Float("nan"), None, Float("nan")]),
        filtered=("mass",),
    ),
    _table(
        "long-texts",
        "texts that would be cut inside a character, and texts without a greater text of their length",
        [("id", "int32"), ("name", "string")],
        _numbered(TEXTS),
        filtered=("name",),
        sorted_by="id",
    ),
    _table(
        "every-type",
        "minimum and maximum of many types",
        [(name, kind) for name, kind, _, _ in _EVERY_TYPE],
        [
            [least for _, _, least, _ in _EVERY_TYPE],
            [None for _ in _EVERY_TYPE],
            [greatest for _, _, _, greatest in _EVERY_TYPE],
        ],
        needs=("type.unsigned", "type.decimal", "type.date", "type.timestamp", "type.time", "type.fixed"),
        filtered=("large", "text", "raw"),
    ),
    _table(
        "nested",
        "empty lists, lists of nulls, empty maps, a null in a group",
        _NESTED,
        [
            [0, List([]), Struct({"x": 1, "y": None}), Map([])],
            [1, None, None, None],
            [2, List([None]), Struct({"x": None, "y": Float("0.5")}), Map([("a", None)])],
            [3, List([1, 2, 3, None, 5]), Struct({"x": 3, "y": Float("nan")}), Map([("b", 1), ("c", 2)])],
        ],
        needs=("nested", "nested.map"),
    ),
)
"""The tables, in the order of a run."""


WISHES: tuple[tuple[str, str, str, Callable[[Table], Wishes | None]], ...] = (
    ("PQF", "plainly", "as it likes", lambda _: Wishes()),
    ("PQF", "pages-v2", "in data pages of version 2", lambda _: Wishes(data_page_version=2)),
    (
        "PQF",
        "sorted",
        "and declared as sorted",
        lambda table: Wishes(sorting=[SortingWish(table.sorted_by)]) if table.sorted_by else None,
    ),
    (
        "STA",
        "statistics",
        "with statistics, in small row groups",
        lambda _: Wishes(statistics=True, row_group_rows=3),
    ),
    (
        "PIX",
        "page-index",
        "with a page index, in small pages",
        lambda _: Wishes(page_index=True, page_rows=2),
    ),
    (
        "BLM",
        "bloom-filters",
        "with bloom filters",
        lambda table: Wishes(bloom_filter=list(table.filtered)) if table.filtered else None,
    ),
)
"""Family, name, description and wishes of each way to write a table."""


def writer_cases() -> list[GoldenCase]:
    """Every table in every way that suits it."""
    return [
        _case(table, family, name, words, wishes)
        for table in TABLES
        for family, name, words, wished in WISHES
        if (wishes := wished(table)) is not None
    ]


def _case(table: Table, family: str, name: str, words: str, wishes: Wishes) -> GoldenCase:
    case = Case(
        id=f"{ROOM}/{table.name}/{name}",
        family=family,
        kind="valid",
        since=SINCE,
        title=f"Write {table.title}, {words}",
        effect="none",
        requires=[*table.needs],
        rules=[],
        input=NO_FILE,
        expect=Expect(check=CheckExpectation(rules=[], tier="values"), encode="accept", rows=table.rows),
        provenance=Provenance(by="generator", oracles=[]),
    )
    manifest, wished = to_json(case), to_json(wishes)
    text = json.dumps([manifest, wished])
    digest = hashlib.sha256(text.encode()).hexdigest()
    return GoldenCase(case, Path(case.id), digest, case_digest(manifest, wished), wishes=wishes, data=b"")
