"""Where most structures are not in their place, one finding says what happened, and names the other rules."""

from __future__ import annotations

import io
import random
from collections.abc import Callable
from functools import cache
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import pqassay
from pqassay_spec.base.sources import BytesSource
from pqassay_spec.parquet.file import read_framing
from pqassay_spec.parquet.other_files import AGAIN

ROWS, COLUMNS, GROUPS = 400, 4, 3


@cache
def written(
    seed: int, *, rows: int = ROWS, columns: int = COLUMNS, floats: bool = False, **options: Any
) -> bytes:
    random_ = random.Random(seed)
    values: Callable[[], Any] = random_.random if floats else lambda: str(random_.random())
    table = pa.table({f"c{number}": [values() for _ in range(rows)] for number in range(columns)})
    sink = io.BytesIO()
    pq.write_table(table, sink, row_group_size=-(-rows // GROUPS), **options)
    return sink.getvalue()


def grafted(body: bytes, footer: bytes) -> bytes:
    """The footer of one file behind the body of another one."""
    cut, start = (read_framing(BytesSource(data)).footer_start for data in (body, footer))
    return body[:cut] + footer[start:]


def said(data: bytes, **options: Any) -> list[tuple[str, str | None, str, str | None]]:
    findings = pqassay.check(data, **options).files[0].findings
    return [(f.rule, f.column, f.message, f.remedy) for f in findings]


OTHER = "this footer belongs to another file, or the bytes before it were changed"
INDEXED = {"write_page_index": True}


@pytest.mark.parametrize(
    ("body", "footer", "rule", "lost"),
    [
        ({}, {}, "PQF-050", "11 of 12"),
        ({}, {"rows": 900}, "PQF-050", "11 of 12"),
        ({}, {"rows": 90}, "PQF-050", "12 of 12"),
        ({}, {"rows": 6000, "columns": 9}, "PQF-008", "27 of 27"),
        ({"columns": 9, **INDEXED}, INDEXED, "PQF-050", "10 of 12"),
        ({"columns": 2}, {"columns": 2, "floats": True}, "PQF-050", "6 of 6"),
        ({"columns": 40}, {"columns": 40}, "PQF-050", "59 of 60"),
    ],
)
def test_a_footer_of_another_file_is_one_finding(
    body: dict[str, Any], footer: dict[str, Any], rule: str, lost: str
) -> None:
    files = written(1, **body), written(2, **footer)
    for data in files:
        assert [] == said(data)
    ((speaker, column, message, remedy),) = said(grafted(*files))

    assert (rule, None, AGAIN) == (speaker, column, remedy)
    assert message.startswith(f"{OTHER}: ")
    assert lost in message


def test_the_rules_that_it_explains_are_named_and_not_checked() -> None:
    report = pqassay.check(grafted(written(1), written(2)))
    (finding,) = report.files[0].findings
    reasons = report.coverages[report.files[0].coverage].reasons

    assert ["PQF-008", "PQF-051"] == finding.also
    assert dict.fromkeys(finding.also, "PQF-050 is broken") == {rule: reasons[rule] for rule in finding.also}


@pytest.mark.parametrize("tier", ["footer", "index"])
def test_where_pages_are_not_read_places_outside_the_body_show_it(tier: str) -> None:
    ((rule, _, text, _),) = said(grafted(written(1), written(2, rows=6000, columns=9)), tier=tier)

    assert ("PQF-008", True) == (rule, text.startswith(OTHER))


GOOD = written(7, use_dictionary=False)


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (GOOD[:4] + b"\n" + GOOD[4:], "1 byte was inserted before offset 5"),
        (GOOD[:4] + bytes(7) + GOOD[4:], "7 bytes were inserted before offset 11"),
        (GOOD[:4] + GOOD[5:], "1 byte was lost before offset"),
        (GOOD[:80] + GOOD[85:], "5 bytes were lost before offset"),
    ],
)
def test_bytes_that_were_inserted_or_lost_are_counted(data: bytes, message: str) -> None:
    ((rule, _, text, remedy),) = said(data)

    assert ("PQF-050", AGAIN) == (rule, remedy)
    assert text.startswith(message)


@pytest.mark.parametrize("extra", [b"\n", b"\xef\xbb\xbf", b"x" * 50])
def test_bytes_in_front_of_the_magic_are_one_finding(extra: bytes) -> None:
    ((rule, _, text, _),) = said(extra + GOOD)

    assert ("PQF-001", True) == (rule, "in front of the magic PAR1" in text)


def test_zeros_in_place_of_pages_are_one_finding() -> None:
    framing = read_framing(BytesSource(GOOD))
    metadata = pq.read_metadata(io.BytesIO(GOOD))
    first, second = (metadata.row_group(1).column(number) for number in (1, 2))
    end = second.data_page_offset + 20
    assert end < framing.footer_start
    data = GOOD[: first.data_page_offset] + bytes(end - first.data_page_offset) + GOOD[end:]
    ((rule, column, text, remedy),) = said(data)

    assert ("PQF-050", None, AGAIN) == (rule, column, remedy)
    assert (
        "zeros are where pages of 2 of 12 column chunks should begin: a part of the file was never written"
        == text
    )


def test_bounds_of_other_values_are_one_finding() -> None:
    body, footer = (written(seed, floats=True, use_dictionary=False, compression="none") for seed in (1, 2))
    ((rule, column, text, _),) = said(grafted(body, footer))

    assert ("STA-040", None) == (rule, column)
    assert (
        "the bounds of all 4 columns contradict their values, as if the footer belonged to another file"
        == text
    )


def test_one_lost_page_is_said_of_its_column() -> None:
    metadata = pq.read_metadata(io.BytesIO(GOOD))
    start = metadata.row_group(1).column(2).data_page_offset
    found = said(GOOD[:start] + b"\xff\xff" + GOOD[start + 2 :])

    assert [("PQF-050", "c2")] == [(rule, column) for rule, column, *_ in found]


@pytest.mark.parametrize(
    ("here", "there", "what"), [(b"\r\n", b"\n", "lost"), (b"\r\n", b"\r\r\n", "inserted")]
)
def test_line_ends_that_were_translated_back_are_told_by_their_drift(
    here: bytes, there: bytes, what: str
) -> None:
    random_ = random.Random(4)
    table = pa.table({f"c{number}": [random_.randbytes(20) for _ in range(9000)] for number in range(3)})
    sink = io.BytesIO()
    pq.write_table(
        table, sink, row_group_size=900, use_dictionary=False, compression="none", write_statistics=False
    )
    good = sink.getvalue()
    footer = read_framing(BytesSource(good)).footer_start
    body = good[:footer].replace(here, there)
    ((rule, column, text, remedy),) = said(body + good[footer:])
    number = abs(len(body) - footer)

    assert ("PQF-050", None, AGAIN) == (rule, column, remedy)
    assert text.startswith(
        f"{number} bytes were {what} in several places, as if a program converted the line ends"
    )
