"""Errors: what they say, and which foreign exceptions become ours."""

from __future__ import annotations

import struct
import sys

import pytest
from construct import Bytes, Const, Struct

import processes
from pqassay_spec.base.errors import FormatError, Malformed, Truncated, Unsupported, boundary


@pytest.mark.parametrize(
    ("error", "text"),
    [
        (FormatError("is bad"), "is bad"),
        (FormatError("is bad", rule="PQF-001"), "is bad [PQF-001]"),
        (FormatError("is bad", offset=0), "offset 0: is bad"),
        (FormatError("is bad", field="footer.schema[2]"), "footer.schema[2]: is bad"),
        (
            FormatError("is bad", rule="PQF-004", field="footer", offset=52, file="a.parquet"),
            "a.parquet, offset 52, footer: is bad [PQF-004]",
        ),
    ],
)
def test_an_error_shows_the_parts_of_the_place_that_are_known(error: FormatError, text: str) -> None:
    assert str(error) == text


def test_malformed_and_unsupported_are_two_kinds_under_one_root() -> None:
    assert issubclass(Truncated, Malformed)
    assert issubclass(Malformed, FormatError)
    assert issubclass(Unsupported, FormatError)
    assert not issubclass(Unsupported, Malformed)


def test_within_fills_in_what_is_missing_and_keeps_what_is_set() -> None:
    error = Malformed("is bad", field="footer.version", offset=0)
    assert error.within(rule="PQF-004", field="footer", offset=7, file="a.parquet") is error
    assert (error.rule, error.field, error.offset, error.file) == (
        "PQF-004",
        "footer.version",
        0,
        "a.parquet",
    )


def test_the_boundary_completes_our_own_errors_and_keeps_their_kind() -> None:
    with pytest.raises(Unsupported) as caught, boundary(rule="PQF-001", field="head", offset=3):
        raise Unsupported("encrypted", field="head.magic")
    assert str(caught.value) == "offset 3, head.magic: encrypted [PQF-001]"


@pytest.mark.parametrize(
    ("raised", "reason"),
    [
        (ValueError("no number"), "no number"),
        (
            UnicodeDecodeError("utf-8", b"\xff", 0, 1, "bad"),
            "'utf-8' codec can't decode byte 0xff in position 0: bad",
        ),
        (OverflowError("too\n  long"), "too long"),
        (IndexError("index out of range"), "index out of range"),
        (struct.error("unpack requires 8 bytes"), "unpack requires 8 bytes"),
        (EOFError(), "EOFError"),
    ],
)
def test_the_boundary_turns_pythons_own_decoding_errors_into_malformed(
    raised: Exception, reason: str
) -> None:
    with pytest.raises(Malformed) as caught, boundary(rule="PQF-004", field="footer", offset=4):
        raise raised
    found = caught.value
    assert (found.reason, found.rule, found.field, found.offset) == (reason, "PQF-004", "footer", 4)
    assert found.__cause__ is raised


@pytest.mark.parametrize(
    ("data", "reason"),
    [
        (b"PAR2xx", "parsing expected b'PAR1' but parsed b'PAR2'"),
        (b"PAR1x", "stream read less than specified amount, expected 2, found 1"),
    ],
)
def test_the_boundary_says_what_construct_says_without_its_path(data: bytes, reason: str) -> None:
    grammar = Struct("magic" / Const(b"PAR1"), "rest" / Bytes(2))
    with pytest.raises(Malformed) as caught, boundary():
        grammar.parse(data)
    assert caught.value.reason == reason


@pytest.mark.parametrize("mistake", [TypeError("ours"), KeyError("ours"), MemoryError()])
def test_the_boundary_does_not_hide_mistakes_of_the_program(mistake: BaseException) -> None:
    with pytest.raises(type(mistake)), boundary():
        raise mistake


def test_importing_the_errors_does_not_import_construct() -> None:
    program = "import sys, pqassay_spec.base.errors; sys.exit('construct' in sys.modules)"
    done = processes.run([sys.executable, "-c", program], env={"PYTHONPATH": ":".join(sys.path)})
    assert 0 == done.returncode
