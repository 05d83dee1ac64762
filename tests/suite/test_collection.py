"""A user's own files: which are asked about, which rows are right, and what a run says about features that fail."""

from __future__ import annotations

import decimal
import json
import os
import shutil
import sys
from pathlib import Path
from typing import Any

import jsonschema
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from typer.testing import CliRunner, Result

from fixed_reader import FixedReader
from places import GOLDEN_FILES
from pqassay.cli.main import suite as app
from pqassay.report.formats import FormatName
from pqassay.report.reading import parse
from pqassay.report.run.files import Collection, FeatureCount, features, suspects
from pqassay.report.run.model import RunReport, json_schema
from pqassay_spec.golden.literals import Written
from pqassay_suite.cases.case import CaseError, GoldenCase
from pqassay_suite.cases.file_facts import facts_of
from pqassay_suite.drivers.implementations import Implementation, implementation
from pqassay_suite.drivers.process import TOO_LARGE
from pqassay_suite.own_files import collection, second_readers
from pqassay_suite.own_files.collection import CollectionCases, SurveyLimits, files_in
from pqassay_suite.own_files.file_survey import Survey, Surveyor, survey
from pqassay_suite.own_files.second_readers import SecondReaders, TooFewReadersError
from report_samples import rendered

pytestmark = pytest.mark.slow

ROWS: list[list[Written]] = [[1], [2], [3]]


def written(path: Path, column: Any = (1, 2, 3), name: str = "x", **options: Any) -> Path:
    """A Parquet file of one column."""
    path.parent.mkdir(parents=True, exist_ok=True)
    chosen: dict[str, Any] = {"compression": "none", **options}
    pq.write_table(pa.table({name: column}), path, **chosen)
    return path


# ----------------------------------------------------------------------------------------- which files are asked about


def left_out(folder: Path) -> dict[str, list[str]]:
    return {entry.reason: entry.examples for entry in files_in(folder).left_out}


def test_files_are_found_by_their_names_and_by_the_bytes_that_they_begin_and_end_with(tmp_path: Path) -> None:
    written(tmp_path / "b" / "part.parquet")
    shutil.copy(tmp_path / "b" / "part.parquet", tmp_path / "a.dat")
    (tmp_path / "README.md").write_text("PAR1, it says here")
    (tmp_path / "short").write_bytes(b"PAR1")
    (tmp_path / ".git").mkdir()
    shutil.copy(tmp_path / "a.dat", tmp_path / ".git" / "x.parquet")

    assert ["a.dat", "b/part.parquet"] == list(files_in(tmp_path).targets)


def test_what_is_damaged_or_no_parquet_file_is_asked_about_where_its_name_promises_one(
    tmp_path: Path,
) -> None:
    (tmp_path / "empty.parquet").write_bytes(b"")
    (tmp_path / "text.parquet").write_text("no such thing")

    assert ["empty.parquet", "text.parquet"] == list(files_in(tmp_path).targets)


@pytest.mark.skipif(os.getuid() == 0, reason="root may read every file")
def test_a_file_that_nobody_may_read_is_left_out(tmp_path: Path) -> None:
    written(tmp_path / "a.parquet")
    written(tmp_path / "b.parquet").chmod(0)

    assert {"the file cannot be opened: Permission denied": ["b.parquet"]} == left_out(tmp_path)


def test_links_that_lead_in_circles_or_nowhere_and_what_is_no_file_are_left_out(tmp_path: Path) -> None:
    written(tmp_path / "a.parquet")
    (tmp_path / "circle").symlink_to(tmp_path)
    (tmp_path / "itself.parquet").symlink_to(tmp_path / "itself.parquet")
    (tmp_path / "nowhere.parquet").symlink_to(tmp_path / "gone")
    os.mkfifo(tmp_path / "pipe.parquet")
    (tmp_path / "_metadata").write_bytes(b"")

    assert ["a.parquet"] == list(files_in(tmp_path).targets)
    assert {
        "links to folders that are read under another name": ["circle"],
        "no regular files": ["pipe.parquet"],
        "summaries of other files": ["_metadata"],
        "the file cannot be opened: No such file or directory": ["nowhere.parquet"],
        "the file cannot be opened: Too many levels of symbolic links": ["itself.parquet"],
    } == left_out(tmp_path)


def test_a_folder_without_parquet_files_says_so(tmp_path: Path) -> None:
    (tmp_path / "README.md").write_text("nothing here")

    with pytest.raises(CaseError, match="there is no Parquet file below it"):
        files_in(tmp_path)
    with pytest.raises(CaseError, match="no such folder"):
        files_in(tmp_path / "gone")
    with pytest.raises(CaseError, match="not a folder"):
        files_in(tmp_path / "README.md")


def test_files_are_chosen_by_patterns_and_by_their_names_whatever_these_hold(tmp_path: Path) -> None:
    for name in ("a[1].parquet", "b/c.parquet"):
        written(tmp_path / name)
    files = files_in(tmp_path)

    assert ["a[1].parquet"] == list(files.chosen(["a[1].parquet"]).targets)
    assert ["b/c.parquet"] == list(files.chosen(["**/c*"]).targets)
    assert ["b/c.parquet"] == list(files.chosen([], {"b/c.parquet", "gone"}).targets)
    with pytest.raises(CaseError, match="no file matches 'd'"):
        files.chosen(["d"])


def test_a_name_that_cannot_be_printed_is_escaped(tmp_path: Path) -> None:
    plain = written(tmp_path / "a.parquet").read_bytes()
    for name in (b"b\xff.parquet", b"c\n.parquet", b"\x1b[31m.parquet"):
        Path(os.fsdecode(bytes(tmp_path) + b"/" + name)).write_bytes(plain)
    files = files_in(tmp_path)

    assert [r"\x1b[31m.parquet", "a.parquet", r"b\udcff.parquet", r"c\n.parquet"] == list(files.targets)
    assert [r"b\udcff.parquet"] == list(files.chosen([r"b\udcff.parquet"]).targets)


# --------------------------------------------------------------------------------------------------- which rows are right


class Here(Surveyor):
    """Looks at files in this process."""

    def __init__(self) -> None:
        pass

    def survey(self, path: Path) -> Survey:
        return survey(str(path))

    def close(self) -> None:
        pass


@pytest.fixture
def here(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(collection, "Surveyor", Here)


def made(
    folder: Path, place: Path, *readers: FixedReader, values: int = 100
) -> tuple[dict[str, GoldenCase], Collection]:
    """Cases from the files of a folder, by their ids, and what reports say about these."""
    place.mkdir()
    makes = CollectionCases(SecondReaders(readers), SurveyLimits(1 << 20, values), place)
    cases, asked = makes.make(files_in(folder), 1)
    return {case.case.id: case for case in cases}, asked


def read_of(golden: GoldenCase) -> tuple[str, str]:
    assert golden.case.expect.read is not None
    return golden.case.expect.read.rows, golden.case.expect.read.refusal


@pytest.mark.usefixtures("here")
def test_rows_on_which_two_readers_agree_are_expected_and_a_third_is_not_asked(tmp_path: Path) -> None:
    written(tmp_path / "in" / "a.parquet")
    one, other, third = (
        FixedReader("one", ROWS),
        FixedReader("other", ROWS[::-1]),
        FixedReader("third", "never"),
    )
    cases, asked = made(tmp_path / "in", tmp_path / "kept", one, other, third)
    case = cases["a.parquet"]

    assert ("own", "never") == read_of(case)
    assert case.rows is not None
    assert [[3], [2], [1]] == case.rows.values()
    assert "A file in which nothing is wrong; one and other read the same 3 rows" == case.case.title
    assert {"one": "3 rows", "other": "3 rows"} == asked.files[0].readers
    assert 0 == third.asked


@pytest.mark.usefixtures("here")
def test_a_reader_that_refuses_is_replaced_by_the_next(tmp_path: Path) -> None:
    written(tmp_path / "in" / "a.parquet")
    cases, asked = made(
        tmp_path / "in",
        tmp_path / "kept",
        FixedReader("one", "reject: no"),
        FixedReader("two", ROWS),
        FixedReader("three", ROWS),
    )

    assert ("own", "never") == read_of(cases["a.parquet"])
    assert {"one": "reject: no", "two": "3 rows", "three": "3 rows"} == asked.files[0].readers


@pytest.mark.parametrize(
    ("second", "told"),
    [
        ([[1], [2], [4]], "other rows than one: 1 row missing: [3]; 1 row too many: [4]"),
        ("reject: no", "reject: no"),
    ],
)
@pytest.mark.usefixtures("here")
def test_where_readers_disagree_or_one_is_alone_only_a_crash_is_wrong(
    second: Any, told: str, tmp_path: Path
) -> None:
    written(tmp_path / "in" / "a.parquet")
    cases, asked = made(
        tmp_path / "in", tmp_path / "kept", FixedReader("one", ROWS), FixedReader("two", second)
    )

    assert ("unspecified", "allowed") == read_of(cases["a.parquet"])
    assert cases["a.parquet"].rows is None
    assert {"one": "3 rows", "two": told} == asked.files[0].readers
    assert ["a.parquet"] == [file.case for file in asked.uncertain]


@pytest.mark.usefixtures("here")
def test_a_file_that_breaks_a_rule_may_be_refused_and_holds_the_rows_that_readers_agree_about(
    tmp_path: Path,
) -> None:
    (tmp_path / "in").mkdir()
    shutil.copy(GOLDEN_FILES / "pqf" / "arrow-schema-bytes" / "data.parquet", tmp_path / "in" / "a.parquet")
    cases, _ = made(tmp_path / "in", tmp_path / "kept", FixedReader("one", ROWS), FixedReader("two", ROWS))
    case = cases["a.parquet"]

    assert ("own", "allowed") == read_of(case)
    assert "invalid" == case.case.kind
    assert case.case.rules
    assert f"A file that breaks {case.case.rules[0]}; one and two read the same 3 rows" == case.case.title


@pytest.mark.usefixtures("here")
def test_what_is_too_large_is_not_asked_about(tmp_path: Path) -> None:
    written(tmp_path / "in" / "few.parquet")
    written(tmp_path / "in" / "many.parquet", range(101))
    written(tmp_path / "in" / "long.parquet", ["x" * (1 << 20)])
    cases, asked = made(
        tmp_path / "in", tmp_path / "kept", FixedReader("one", ROWS), FixedReader("two", ROWS)
    )

    assert ["few.parquet"] == list(cases)
    assert {
        "larger than 1 MiB; --max-size asks about them": ["long.parquet"],
        "more than 100 values; --max-values asks about them": ["many.parquet"],
    } == {entry.reason: entry.examples for entry in asked.left_out}


@pytest.mark.usefixtures("here")
def test_a_damaged_file_is_left_out_only_for_values_that_it_has(tmp_path: Path) -> None:
    (tmp_path / "in").mkdir()
    for name in ("two-dictionary-pages", "arrow-schema-bytes"):
        source = GOLDEN_FILES / "pqf" / name / "data.parquet"
        shutil.copy(source, tmp_path / "in" / f"{name}.parquet")
    cases, _ = made(
        tmp_path / "in", tmp_path / "kept", FixedReader("one", ROWS), FixedReader("two", ROWS), values=1
    )

    assert "arrow-schema-bytes.parquet" not in cases
    assert "two-dictionary-pages.parquet" in cases


@pytest.mark.usefixtures("here")
def test_a_file_whose_rows_make_too_large_an_answer_is_left_out(tmp_path: Path) -> None:
    written(tmp_path / "in" / "a.parquet")
    one, other = FixedReader("one", f"protocol error: {TOO_LARGE}"), FixedReader("two", ROWS)
    cases, asked = made(tmp_path / "in", tmp_path / "kept", one, other)

    assert {} == cases
    assert ["its rows make an answer that is too large"] == [entry.reason for entry in asked.left_out]
    assert 0 == other.asked


@pytest.mark.usefixtures("here")
def test_a_file_that_changes_meanwhile_is_told_by_its_name(tmp_path: Path) -> None:
    path = written(tmp_path / "in" / "a.parquet")
    cases, _ = made(tmp_path / "in", tmp_path / "kept", FixedReader("one", ROWS), FixedReader("two", ROWS))
    written(path, [4])

    with pytest.raises(CaseError, match=r"a\.parquet is not the expected file"):
        cases["a.parquet"].content()


# ------------------------------------------------------------------------------------------------ which readers are asked


def readers_beside(decoder: str | None, hello: str | None, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    def fake(known: Implementation) -> FixedReader:
        return FixedReader(known.name, ROWS)

    monkeypatch.setattr(second_readers, "Reader", fake)
    return second_readers.second_readers(decoder, hello).names


@pytest.mark.parametrize(
    ("decoder", "hello", "names"),
    [
        (None, None, ["pyarrow", "duckdb", "polars", "datafusion"]),
        ("duckdb", "DuckDB", ["pyarrow", "polars", "datafusion"]),
        ("parquet-rs", "parquet", ["pyarrow", "duckdb", "polars"]),  # whose code DataFusion uses
        (
            None,
            "pyarrow",
            ["duckdb", "polars", "datafusion"],
        ),  # a driver of somebody's own about the same library
    ],
)
def test_no_reader_shares_its_decoder_with_another_or_with_the_one_under_test(
    decoder: str | None, hello: str | None, names: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    assert names == readers_beside(decoder, hello, monkeypatch)


def test_what_shares_a_decoder_is_said_by_its_driver() -> None:
    assert "parquet-rs" == implementation("datafusion").decoder == implementation("parquet-rs").decoder
    assert {"parquet-java"} == {
        implementation(name).decoder for name in ("spark", "spark-rows", "parquet-java")
    }
    assert "duckdb" == implementation("duckdb").decoder


def test_without_a_second_reader_it_is_said_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(second_readers, "READERS", ["pyarrow"])
    with pytest.raises(TooFewReadersError) as error:
        second_readers.second_readers(None, "pyarrow")

    assert (
        "the expected rows need two independent readers besides the one under test; there is none: "
        "pip install '.[engines]' in a checkout of pqassay brings DuckDB, Polars and DataFusion"
    ) == str(error.value)


# ------------------------------------------------------------------------------------------------------------- features


@pytest.mark.parametrize(
    ("column", "options", "tags"),
    [
        (
            pa.array([1], pa.int32()),
            {"use_dictionary": False},
            {"physical.int32", "encoding.plain", "page.v1"},
        ),
        (
            pa.array([1.5]),
            {"use_byte_stream_split": True, "use_dictionary": False},
            {"encoding.byte-stream-split"},
        ),
        (
            pa.array(["a"]),
            {"data_page_version": "2.0"},
            {"page.v2", "page.dictionary", "physical.byte-array"},
        ),
        (pa.array([1]), {"compression": "lz4"}, {"codec.lz4-raw"}),
        (pa.array([1]), {"write_page_index": True}, {"structure.column-index", "structure.offset-index"}),
        (pa.array([1]), {"write_page_checksum": True}, {"page.crc"}),
        (pa.array([[[1]]]), {}, {"nested", "nested.list", "nested.lists-within-lists"}),
        (pa.array([{"a": 1}]), {}, {"nested", "nested.struct"}),
        (pa.array([[("a", 1)]], pa.map_(pa.string(), pa.int32())), {}, {"nested", "nested.map"}),
        (pa.array([decimal.Decimal(1)], pa.decimal256(50, 0)), {}, {"type.decimal", "type.decimal-wide"}),
        (pa.array([], pa.int32()), {}, {"rows.none"}),
        (pa.array([1, 2]), {"row_group_size": 1}, {"row-groups.many"}),
    ],
)
def test_features_are_derived_from_the_file(
    column: Any, options: Any, tags: set[str], tmp_path: Path
) -> None:
    plain = set(facts_of(written(tmp_path / "plain.parquet", ["a"], use_dictionary=False).read_bytes()).tags)
    found = set(facts_of(written(tmp_path / "x.parquet", column, **options).read_bytes()).tags)

    assert tags <= found
    assert tags - {"physical.byte-array", "encoding.plain", "page.v1"} <= found - plain


def test_a_damaged_file_has_the_features_that_can_be_told_and_facts_about_it_never_fail() -> None:
    golden = sorted((GOLDEN_FILES / "pqf").glob("*/data.parquet"))
    told = {path.parent.name: facts_of(path.read_bytes()).tags for path in golden}

    assert "physical.int64" in told["chunk-too-many"]
    assert () == told["empty"]


def test_what_all_failures_have_and_nothing_that_passed_is_suspected() -> None:
    tags = {"a": ["codec.lz4", "page.v1"], "b": ["codec.lz4", "page.v2"], "c": ["page.v1"]}

    assert ["codec.lz4"] == suspects(tags, ["a", "b"], ["c"])
    assert [] == suspects(tags, [], ["c"])
    assert [
        FeatureCount("codec.lz4", asked=2, passed=0, failed=1, unsupported=1),
        FeatureCount("page.v2", asked=1, passed=0, failed=0, unsupported=1),
        FeatureCount("page.v1", asked=2, passed=1, failed=1),
    ] == features(tags, ["c"], ["a"], ["b"])


# --------------------------------------------------------------------------------------------------------- a whole run

DRIVER = """
import json, os, sys
import pyarrow.parquet as pq

def answer(request):
    if request["op"] == "hello":
        return {"answer": "accept", "name": "made", "version": "1", "language": "Python",
                "capabilities": ["read", "codec.zstd", "type.decimal"], "serve": True}
    (name,) = request["columns"] or [""]
    if name == "crash":
        sys.exit("panic: of this column")
    if name in ("refuse", ""):
        return {"answer": "reject", "message": "not today"}
    rows = [[value if isinstance(value, int) else None] for value in pq.read_table(request["file"])[name].to_pylist()]
    return {"answer": "accept", "rows": rows[1:] if name == "drop" else rows}

if sys.argv[1] == "--serve":
    for line in sys.stdin:
        print(json.dumps(answer(json.loads(line))), flush=True)
else:
    json.dump(answer(json.load(open(sys.argv[1]))), open(sys.argv[2], "w"))
"""


def command(*arguments: str) -> Result:
    return CliRunner().invoke(app, arguments)


@pytest.fixture(scope="module")
def lake(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder of files, in it a driver that fails by the names of columns."""
    folder = tmp_path_factory.mktemp("lake")
    (folder / "driver.py").write_text(DRIVER)
    written(folder / "good.parquet")
    written(folder / "drop.parquet", name="drop", data_page_version="2.0")
    written(folder / "crash.parquet", name="crash", compression="zstd")
    written(folder / "refuse.parquet", name="refuse")
    written(folder / "brotli.parquet", compression="brotli")
    wide = pa.array([decimal.Decimal(7)], pa.decimal256(50, 2))
    written(folder / "disputed.parquet", wide)  # a float, says DuckDB
    (folder / "broken.parquet").write_bytes((folder / "good.parquet").read_bytes()[:-1])
    (folder / "empty.parquet").write_bytes(b"")
    (folder / "README.md").write_text("a collection")
    return folder


@pytest.fixture(scope="module")
def run_of_lake(lake: Path) -> tuple[Result, Path]:
    results = lake.parent / "results.json"
    return (
        command(
            *("run", "--files", str(lake), "--jobs", "1", "--format", "json", "--output", str(results)),
            *("--", sys.executable, str(lake / "driver.py")),
        ),
        results,
    )


def report_of(results: Path) -> RunReport:
    report = parse(results.read_bytes(), str(results))
    assert isinstance(report, RunReport)
    return report


def test_a_driver_is_judged_by_what_two_independent_readers_agree_about(
    run_of_lake: tuple[Result, Path],
) -> None:
    done, results = run_of_lake
    report = report_of(results)
    found = {result.case: (result.outcome, result.severity) for result in report.results}

    assert (4, "") == (done.exit_code, done.stderr)
    assert {
        "broken.parquet": ("passed", None),
        "crash.parquet": ("crashed", 2),
        "disputed.parquet": ("passed", None),
        "drop.parquet": ("failed", 1),
        "empty.parquet": ("passed", None),
        "good.parquet": ("passed", None),
        "refuse.parquet": ("failed", 3),
    } == found
    assert ["codec.brotli"] == [one.capability for one in report.not_asked]
    assert 2 == report.schema_version
    jsonschema.validate(json.loads(results.read_bytes()), json_schema())


def test_it_says_on_what_each_verdict_rests(run_of_lake: tuple[Result, Path]) -> None:
    asked = report_of(run_of_lake[1]).collection
    assert asked is not None
    files = {file.case: file for file in asked.files}
    drop, disputed, empty = files["drop.parquet"], files["disputed.parquet"], files["empty.parquet"]

    assert ["pyarrow", "DuckDB"] == [name.split()[0] for name in asked.readers]
    assert ("conformant", "agreed", ["3 rows", "3 rows"]) == (
        drop.judged,
        drop.rows,
        [*drop.readers.values()],
    )
    assert ("conformant", "unspecified") == (disputed.judged, disputed.rows)
    first, second = disputed.readers.values()
    assert "1 row" == first
    assert second.startswith("other rows than pyarrow")
    assert ("nonconformant", "unspecified", {}) == (empty.judged, empty.rows, empty.readers)
    assert "page.v2" in drop.tags


@pytest.mark.parametrize("name", [FormatName.TEXT, FormatName.HTML])
def test_formats_for_people_tell_which_features_fail_and_which_rows_nobody_knows(
    name: FormatName, run_of_lake: tuple[Result, Path]
) -> None:
    text = rendered(report_of(run_of_lake[1]), name)

    for told in (
        "expected rows of 5 of 8 files",
        "are not known; only a crash counts as wrong",
        "disputed.parquet (conformant)",
        "codec.zstd: in this file, but in no file that passed",
        "page.v2",
    ):
        assert told in text


def test_a_failure_is_repeated_with_the_same_folder(lake: Path, run_of_lake: tuple[Result, Path]) -> None:
    text = rendered(report_of(run_of_lake[1]), FormatName.JUNIT)

    assert f"pqassay suite run --files {lake} --case drop.parquet --operation read --keep kept -- " in text
    assert 'classname="drop_parquet"' in text


def test_only_what_was_wrong_is_asked_again(
    lake: Path, run_of_lake: tuple[Result, Path], tmp_path: Path
) -> None:
    driver = tmp_path / "driver.py"
    driver.write_text(DRIVER.replace("rows[1:]", "rows"))
    done = command(
        *("run", "--files", str(lake), "--jobs", "1", "--rerun", str(run_of_lake[1]), "--case", "[dr]*"),
        *("--", sys.executable, str(driver)),
    )

    assert 1 == done.exit_code
    assert "2 cases, 1 of 2 passed, 1 failed" in done.stdout
    assert "failed  refuse.parquet  read" == done.stdout.splitlines()[0]


# ------------------------------------------------------------------------------------------------------ wrong usage


@pytest.mark.parametrize(
    ("options", "told"),
    [
        (["--files", "{empty}", "--driver", "duckdb"], "{empty}: there is no Parquet file below it"),
        (
            ["--files", "{lake}", "--cases", "{lake}", "--driver", "duckdb"],
            "--files replaces --cases",
        ),
        (
            ["--files", "{lake}", "--operation", "scan", "--driver", "duckdb"],
            "--files only allows the operation read",
        ),
        (
            ["--files", "{lake}", "--case", "no/*", "--driver", "duckdb"],
            "no file matches 'no/*'; --list lists them",
        ),
        (
            ["--files", "{lake}", "--max-size", "0", "--driver", "duckdb"],
            "--max-size is a number greater than 0",
        ),
    ],
)
def test_wrong_usage_is_one_line(options: list[str], told: str, lake: Path, tmp_path: Path) -> None:
    filled = [option.format(lake=lake, empty=tmp_path) for option in options]
    done = command("run", *filled)

    assert 2 == done.exit_code
    assert done.stderr.startswith(f"error: {told.format(empty=tmp_path)}")
    assert 1 == len(done.stderr.splitlines())


def test_the_list_names_the_files_and_starts_nothing(lake: Path) -> None:
    done = command("run", "--files", str(lake), "--list")

    assert 0 == done.exit_code
    assert ["broken.parquet  read", "brotli.parquet  read"] == done.stdout.splitlines()[:2]
