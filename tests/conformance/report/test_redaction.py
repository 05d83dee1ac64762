"""``--no-values``: no format holds what a file holds, in whatever form, and nothing else is lost."""

from __future__ import annotations

import base64
import io
import json
import re
import struct
from dataclasses import fields, replace
from pathlib import Path

import deltalake
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from typer.testing import CliRunner

import pqassay
from pqassay.cli.main import app
from pqassay.report.model import EngineAnswer, Finding, Proof, Report
from pqassay.report.redaction import SALT_VARIABLE, without_values

pytestmark = pytest.mark.slow

SECRET, LESS, GREATER = b"QZXWVJKPY", b"QZXWVJKPX", b"QZXWVJKPZ"

NUMBER = 918_273_645

FORMATS = ("text", "json", "junit", "sarif", "html", "markdown")

HIDDEN = re.compile(r"<(text|number|bytes|moment) of \d+ characters?, #[0-9a-f]{12}>")


def forms_of_secrets() -> set[str]:
    """The secrets as somebody may find them."""
    word = SECRET[:-1]
    coded = {base64.b64encode(b"x" * start + word).decode()[2:-4][2:] for start in range(3)}
    forms = {word.decode(), word.hex(), word.hex().upper(), word.hex(" "), *coded}
    for number in range(NUMBER - 1, NUMBER + 3):
        packed = struct.pack("<q", number)
        forms |= {str(number), f"{number:,}", f"{number:x}", packed.hex(" "), packed.hex(), packed[:4].hex()}
    return forms


def leaks(text: str) -> list[str]:
    return sorted(form for form in forms_of_secrets() if form in text)


def _file(keys: dict[str, str] | None = None) -> bytes:
    table = pa.table(
        {
            "word": pa.array([LESS.decode(), SECRET.decode(), GREATER.decode()] * 20),
            "number": pa.array([NUMBER, NUMBER + 1, NUMBER + 2] * 20, pa.int64()),
            "words": pa.array([[SECRET.decode()]] * 60),
        }
    )
    buffer = io.BytesIO()
    with pq.ParquetWriter(buffer, table.schema, write_page_index=True) as writer:
        writer.write_table(table)
        writer.add_key_value_metadata(keys or {})
    return buffer.getvalue()


def _each_false(raw: bytes) -> dict[str, bytes]:
    """The file with one occurrence of a value, a bound or an entry of a dictionary changed into another."""
    pairs = [(LESS, GREATER), (GREATER, LESS)]
    pairs += [(struct.pack("<q", NUMBER + n), struct.pack("<q", NUMBER + 2 - n)) for n in (0, 2)]
    return {
        f"false-{old.hex()[-8:]}-{match.start()}": raw[: match.start()] + new + raw[match.end() :]
        for old, new in pairs
        for match in re.finditer(re.escape(old), raw)
    }


@pytest.fixture(scope="module")
def lake(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("lake")
    word, raw = SECRET.decode(), _file()
    copies = {
        "pandas": f'{{"columns": "{word}", "n": {NUMBER}}}',
        "geo": f'{{"version": "{word}", "primary_column": "{word}"}}',
        "org.apache.spark.sql.parquet.row.metadata": f'{{"type": "{word}", "fields": [{NUMBER}]}}',
        "iceberg.schema": f'{{"{word}": {NUMBER}}}',
        word: word,
    }
    files = _each_false(raw)
    files |= {f"key-{at}": _file({key: text}) for at, (key, text) in enumerate(copies.items())}
    files |= {
        "cut": raw[:300] + SECRET,
        "tail": raw[:-9] + SECRET,
        "head": SECRET + raw[9:],
        "text": SECRET * 9,
    }
    files["not-text"] = raw.replace(SECRET, b"\xff" + SECRET[1:])
    for name, content in files.items():
        (folder / f"{name}.parquet").write_bytes(content)
    return folder


@pytest.fixture(scope="module")
def table(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A Delta table whose log says false things of its files."""
    folder = tmp_path_factory.mktemp("tables") / "t"
    rows = pa.table({"p": ["a", "b"], "s": [SECRET.decode()] * 2, "n": pa.array([NUMBER] * 2, pa.int64())})
    deltalake.write_deltalake(folder, rows, partition_by=["p"])
    commit = folder / "_delta_log" / f"{0:020}.json"
    lines = [json.loads(line) for line in commit.read_text("utf-8").splitlines()]
    for add in (line["add"] for line in lines if "add" in line):
        stats = json.loads(add["stats"])
        stats["minValues"] |= {"s": GREATER.decode(), "n": NUMBER + 1}
        add["stats"] = json.dumps(stats)
        add["partitionValues"] = {"p": SECRET.decode()}
    commit.write_text("".join(f"{json.dumps(line)}\n" for line in lines), "utf-8")
    return folder


def printed(*arguments: str) -> str:
    result = CliRunner().invoke(app, ["check", "--tier", "values", *arguments])
    assert result.exit_code in (1, 4), result.output
    return result.output


@pytest.fixture(scope="module")
def saved(lake: Path, table: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A report with values."""
    path = tmp_path_factory.mktemp("saved") / "report.json"
    printed("--output", str(path), str(lake), str(table))
    return path


@pytest.mark.parametrize("form", FORMATS)
def test_no_format_holds_a_secret(form: str, saved: Path) -> None:
    result = CliRunner().invoke(app, ["report", "--no-values", "--format", form, str(saved)])

    assert (0, []) == (result.exit_code, leaks(result.stdout))
    assert form == "markdown" or HIDDEN.search(result.stdout.replace("&lt;", "<").replace("&gt;", ">"))


def test_a_check_holds_no_secret(lake: Path, table: Path) -> None:
    shown = printed("--no-values", str(lake), str(table))

    assert [] == leaks(shown)
    assert HIDDEN.search(shown)


def test_with_values_there_is_something_to_hide(saved: Path) -> None:
    text = saved.read_text("utf-8")

    assert {SECRET[:-1].decode(), str(NUMBER), f"{NUMBER:,}"} - set(leaks(text)) <= {f"{NUMBER:,}"}


def test_sarif_and_history_have_no_values_unless_they_are_asked_for(lake: Path, tmp_path: Path) -> None:
    def history_and_sarif(name: str, *options: str) -> tuple[str, str]:
        place = str(tmp_path / name)
        sarif = printed("--format", "sarif", "--history", place, *options, str(lake))
        return sarif, str(pq.read_table(place).to_pylist())

    assert [[], []] == [leaks(text) for text in history_and_sarif("default")]
    for text in history_and_sarif("shown", "--values"):
        assert SECRET[:-1].decode() in leaks(text)


def test_digests_are_those_of_the_salt(monkeypatch: pytest.MonkeyPatch) -> None:
    raw = next(raw for name, raw in _each_false(_file()).items() if pqassay.check(raw).exit_code)
    first, second = (pqassay.check(raw, values=False) for _ in range(2))
    assert first.to_json() != second.to_json()

    salted = [pqassay.check(raw, values=False, salt=salt).to_json() for salt in ("a", "a", "b")]
    assert (True, False) == (salted[0] == salted[1], salted[1] == salted[2])
    monkeypatch.setenv(SALT_VARIABLE, "a")
    assert salted[0] == pqassay.check(raw, values=False).to_json()


def _damaged() -> Report:
    reports = (pqassay.check(raw) for raw in _each_false(_file()).values())
    return next(report for report in reports if any(one.compares_values for one in report.files[0].findings))


def test_what_is_hidden_once_stays_as_it_is() -> None:
    once = without_values(_damaged(), "salt")

    assert once == without_values(once, "other")


def test_places_counts_and_verdicts_stay() -> None:
    def kept(report: Report) -> list[object]:
        return [
            (
                one.rule,
                one.verdict,
                one.column,
                one.count,
                one.remedy,
                [(at.offset, at.length) for at in one.at],
            )
            for one in report.files[0].findings
        ]

    report = _damaged()
    assert kept(report) == kept(without_values(report))
    assert report.exit_code == without_values(report).exit_code


def test_proofs_have_no_queries_and_no_words_of_engines() -> None:
    answer = EngineAnswer("DuckDB", "rows lost", "2", 1, lost=2, error=f"cannot cast {NUMBER}", reproduce="x")
    word = SECRET.decode()
    proof = Proof("misled", 3, f"rows with word = '{word}'", ["word"], ["=", "word", word], 3, [answer])
    report = _damaged()
    finding = report.files[0].findings[0]
    shown = replace(report, files=[replace(report.files[0], findings=[replace(finding, proof=proof)])])
    hidden = without_values(shown)

    assert [] == leaks(hidden.to_json())
    kept = hidden.files[0].findings[0].proof
    assert kept is not None
    assert (3, "rows lost", 2) == (kept.true_rows, kept.engines[0].verdict, kept.engines[0].lost)


def test_every_member_of_a_finding_is_shown_or_hidden_on_purpose() -> None:
    hidden = {"message", "at", "hexdump", "proof", "shape"}
    shown = {"rule", "level", "verdict", "could", "path", "count", "column", "remedy", "known", "explanation"}
    shown |= {"observed", "files", "compares_values", "also", "basis", "weighed"}

    assert {field.name for field in fields(Finding)} == hidden | shown
