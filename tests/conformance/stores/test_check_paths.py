"""What `pqassay check` finds to judge: folders, patterns, lists of files, and odd names."""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path
from typing import Any, get_args

import fastparquet  # type: ignore[import-untyped]  # it has no types
import pandas as pd  # type: ignore[import-untyped]  # its stubs are a package of their own
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st
from typer.testing import CliRunner

import pqassay
import processes
from idx1_files import Idx1File, parquet, table
from places import ROOT
from pqassay.cli.main import app
from pqassay.errors import UsageError
from pqassay.stores.patterns import PathPattern
from pqassay_reference.rewrite.embed import embed_file
from pqassay_spec.base.sources import FileSource
from pqassay_spec.idx1 import blob as idx1

GOOD = Idx1File().build()
BAD = Idx1File(magic=b"IDX?").build()

run = CliRunner().invoke


@pytest.fixture
def lake(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty folder that is the current one."""
    monkeypatch.chdir(tmp_path)
    return tmp_path


def put(*names: str, content: bytes = GOOD) -> None:
    for name in names:
        path = Path(name)
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content)


def judged(target: Any, **options: Any) -> list[str]:
    return [file.path for file in pqassay.check(target, tier="footer", **options).files]


def ignored(target: Any, **options: Any) -> dict[str, int]:
    return {entry.reason: entry.count for entry in pqassay.check(target, tier="footer", **options).ignored}


def test_a_folder_is_read_in_the_order_of_names_whatever_the_disk_says(lake: Path) -> None:
    names = [
        "a/z.parquet",
        "a.parquet",
        "b/1/x.parq",
        "b/0/x.pq",
        "C.PARQUET",
        "_metadata",
        "b/_common_metadata",
    ]
    put(*names)

    expected = ["C.PARQUET", "_metadata", "a/z.parquet", "a.parquet"]
    assert [*expected, "b/0/x.pq", "b/1/x.parq", "b/_common_metadata"] == judged(".")
    assert [str(lake / name) for name in expected] == judged(lake)[:4]


@pytest.mark.usefixtures("lake")
def test_what_is_no_data_is_counted_with_its_reason() -> None:
    put("a.parquet", "notes.txt", "x.csv", "_SUCCESS", "_committed_12", ".a.parquet.crc", "a.crc")
    put(".a.parquet.pqassay-tmp", ".hidden/b.parquet", "_temporary/0/c.parquet")
    os.mkfifo("pipe.parquet")

    assert ["a.parquet"] == judged(".")
    assert {
        "markers and checksums of the writer": 3,
        "hidden: the name begins with a dot": 3,
        "other names; --include GLOB adds them": 2,
        "folders of unfinished jobs": 1,
        "no regular files": 1,
    } == ignored(".")
    result = run(app, ["check", "."])
    assert "ignored: 3 (markers and checksums of the writer), for example _SUCCESS" in result.stdout


def test_the_rules_of_every_family_judge_a_kind_of_file_that_is_known() -> None:
    from pqassay.stores import kinds
    from pqassay_spec.rules.catalogue import families
    from pqassay_spec.table.layout import TableKind

    judged = {*kinds.judged_kinds(), *get_args(TableKind)}
    assert {family.file for family in families()} == judged
    assert [""] * 2 == [kind.ignored for kind in kinds.KINDS if kind.name in kinds.judged_kinds()]


@pytest.mark.usefixtures("lake")
def test_a_folder_with_pm_and_data_has_both_judged_each_by_its_own_rules() -> None:
    put("2024/data.parquet", "2024/_pm")
    report = pqassay.check("2024", tier="footer")

    assert [("2024/_pm", "pm"), ("2024/data.parquet", "parquet")] == [
        (file.path, file.kind) for file in report.files
    ]
    families = [
        {rule.partition("-")[0] for rule in {*coverage.checked, *coverage.not_checked}}
        for coverage in (report.coverages[file.coverage] for file in report.files)
    ]
    assert [{"PM"}, {"IDX1", "DIR", "PQF", "STA", "PIX", "BLM"}] == families


@pytest.mark.usefixtures("lake")
def test_markers_are_ignored_even_when_a_shell_names_them() -> None:
    put("a.parquet", "_SUCCESS", content=GOOD)

    assert ["a.parquet"] == judged(["_SUCCESS", "a.parquet"])
    result = run(app, ["check", "_SUCCESS"])
    assert 2 == result.exit_code
    assert "nothing to check; 1 ignored (markers and checksums of the writer)" in result.stderr


@pytest.mark.usefixtures("lake")
def test_a_named_file_is_judged_whatever_it_is_called() -> None:
    put("data.bin", ".hidden.parquet")
    put("notes.txt", content=b"plain text")
    result = run(app, ["check", "data.bin", ".hidden.parquet", "notes.txt"])

    assert 1 == result.exit_code
    assert "data.bin: conformant\n.hidden.parquet: conformant\n" in result.stdout
    assert "notes.txt: nonconformant" in result.stdout


@pytest.mark.usefixtures("lake")
def test_include_adds_files_and_exclude_leaves_out_files_and_folders() -> None:
    put("a.parquet", "000000_0", "x/000001_0", "x/old/b.parquet", "x/b.parquet", ".c.parquet")

    assert ["000000_0", "a.parquet", "x/000001_0", "x/b.parquet", "x/old/b.parquet"] == judged(
        ".", include=["00000?_0"]
    )
    assert [".c.parquet", "a.parquet", "x/b.parquet"] == judged(".", include=[".c*"], exclude=["old"])
    assert ["a.parquet", "x/old/b.parquet"] == judged(".", exclude=["x/*.parquet"])
    assert ["x/b.parquet"] == judged(["x/b.parquet", "x"], exclude=["*.parquet"])


@pytest.mark.parametrize(
    ("pattern", "expected"),
    [
        ("*.parquet", ["a.parquet"]),
        ("**/*.parquet", ["a.parquet", "y=1/b.parquet", "y=1/z/c.parquet"]),
        ("y=*/*.parquet", ["y=1/b.parquet"]),
        ("y=?", ["y=1/b.parquet", "y=1/z/c.parquet"]),
        ("**", ["a.parquet", "y=1/b.parquet", "y=1/z/c.parquet"]),
        ("y=1/**/c.*", ["y=1/z/c.parquet"]),
        ("y=1/*", ["y=1/b.parquet", "y=1/part-0", "y=1/z/c.parquet"]),
        ("./[ab]*.parquet", ["a.parquet"]),
        ("*/**", ["y=1/b.parquet", "y=1/z/c.parquet"]),
    ],
)
def test_patterns_that_no_shell_expanded_are_expanded(pattern: str, expected: list[str], lake: Path) -> None:
    put("a.parquet", "y=1/b.parquet", "y=1/z/c.parquet", "y=1/part-0", "y=1/_SUCCESS", ".h/d.parquet")

    assert expected == judged(pattern)
    assert [str(lake / name) for name in expected] == judged(f"{lake}/{pattern}")


@pytest.mark.usefixtures("lake")
def test_an_existing_name_wins_over_its_meaning_as_a_pattern() -> None:
    put("[ab].parquet", "a.parquet", "d[1]/x.parquet", "d1/x.parquet", "*.parquet")

    assert ["[ab].parquet"] == judged("[ab].parquet")
    assert ["*.parquet"] == judged("*.parquet")
    assert ["d[1]/x.parquet"] == judged("d[1]/*.parquet")
    assert ["d[1]/x.parquet"] == judged("d[1]")


@pytest.mark.usefixtures("lake")
@pytest.mark.parametrize("pattern", ["*.orc", "nowhere/*.parquet", "a.parquet/*"])
def test_a_pattern_that_matches_nothing_is_wrong_usage(pattern: str) -> None:
    put("a.parquet")

    with pytest.raises(UsageError, match="no file matches"):
        judged(pattern)


@pytest.mark.usefixtures("lake")
def test_every_missing_path_is_named_before_anything_is_judged() -> None:
    put("bad.parquet", content=BAD)
    result = run(app, ["check", "lost.parquet", "bad.parquet", "gone/", "x*y"])

    assert (2, "") == (result.exit_code, result.stdout)
    assert [
        "error: lost.parquet: no such file",
        "error: gone/: no such file",
        "error: x*y: no file matches",
    ] == result.stderr.splitlines()


def test_thousands_of_missing_paths_do_not_fill_the_screen(lake: Path) -> None:
    (lake / "list").write_text("".join(f"{number}.parquet\n" for number in range(5000)))
    result = run(app, ["check", "--files-from", "list"])

    assert 2 == result.exit_code
    assert 21 == len(result.stderr.splitlines())
    assert "and 4980 more of this kind" in result.stderr


def test_an_empty_folder_is_nothing_to_check(lake: Path) -> None:
    (lake / "notes.txt").write_text("")
    result = run(app, ["check", "."])

    assert 2 == result.exit_code
    assert "nothing to check; 1 ignored (other names; --include GLOB adds them)" in result.stderr


def test_links_in_circles_end(lake: Path) -> None:
    put("a/b/x.parquet")
    Path("a/b/up").symlink_to(lake / "a")
    Path("a/b/self").symlink_to(".")
    Path("loop").symlink_to("loop")
    Path("other").symlink_to("a")

    assert ["a/b/x.parquet"] == judged("a")
    assert {"links to folders that are read under another name": 2} == ignored("a")
    assert 1 == len(judged("**/x.parquet"))
    assert ["a/b/x.parquet"] == judged(["a", "other", "."])


def test_a_file_that_is_named_twice_is_judged_once(lake: Path) -> None:
    put("a.parquet", "b.parquet")

    assert ["a.parquet", "b.parquet"] == judged(["a.parquet", ".", "./a.parquet", str(lake / "b.parquet")])


@pytest.mark.usefixtures("lake")
def test_a_link_that_leads_nowhere_is_errored() -> None:
    put("a.parquet")
    Path("b.parquet").symlink_to("nowhere")
    result = run(app, ["check", "."])

    assert 4 == result.exit_code
    assert (
        "b.parquet: errored\n  not judged: the file cannot be opened: No such file or directory"
        in result.stdout
    )


def test_a_folder_that_cannot_be_listed_is_errored(lake: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    put("a/x.parquet", "b/y.parquet")
    scandir = os.scandir

    def refuse(path: str) -> Any:
        if str(path).endswith("a"):
            raise PermissionError(13, "Permission denied", path)
        return scandir(path)

    monkeypatch.setattr("pqassay.stores.targets.os.scandir", refuse)
    report = pqassay.check(lake, tier="footer")

    assert 4 == report.exit_code
    folder, file = report.files
    assert ("folder", "errored", "the folder cannot be listed: Permission denied") == (
        folder.kind,
        folder.outcome,
        folder.error,
    )
    assert "conformant" == file.outcome


def test_a_file_that_vanishes_after_it_was_found_is_gone_and_the_others_are_judged(lake: Path) -> None:
    put("a.parquet", "b.parquet", "c.parquet")

    def vanish(done: int, _: int, __: Any) -> None:
        if done == 1:
            Path("b.parquet").unlink()

    report = pqassay.check(lake, tier="footer", progress=vanish)

    assert ["conformant", "gone", "conformant"] == [file.outcome for file in report.files]
    assert 0 == report.exit_code


@pytest.mark.parametrize(
    "name",
    ["with space", "100%", "%41", "[x]", "a*b", "日本", "new\nline", "-dash", "'quote\"", "\udcff", "s3:"],
)
def test_odd_names_are_judged_and_printed_on_one_line(name: str, lake: Path) -> None:
    path = f"{name}.parquet"
    put(f"./{path}")
    report = pqassay.check(lake, tier="values")

    assert ["conformant"] == [file.outcome for file in report.files]
    assert [f"{lake}/{path}"] == [file.path for file in report.files]
    assert json.loads(report.to_json())["files"][0]["path"].endswith(".parquet")
    assert ["conformant"] == [file.outcome for file in pqassay.check(path, tier="footer").files]
    assert 2 <= len(run(app, ["check", "--tier", "index", f"./{path}"]).stdout.splitlines()) <= 4


def test_files_from_takes_lines_or_zero_bytes_and_no_wildcards(lake: Path) -> None:
    put("[a].parquet", "b\nc.parquet", "d.parquet")
    (lake / "lines").write_bytes(b"[a].parquet\n\nd.parquet\n")
    (lake / "zeros").write_bytes(b"b\nc.parquet\0d.parquet\0")

    def paths(*arguments: str, given: bytes = b"") -> list[str]:
        result = run(app, ["check", "--format", "json", *arguments], input=given)
        return [file["path"] for file in json.loads(result.stdout)["files"]]

    assert ["[a].parquet", "d.parquet"] == paths("--files-from", "lines")
    assert ["b\nc.parquet", "d.parquet"] == paths("--files-from", "zeros")
    assert ["d.parquet", "[a].parquet"] == paths("d.parquet", "--files-from", "-", given=b"[a].parquet\n")
    assert 2 == run(app, ["check", "--files-from", "-"], input=b"*.parquet\n").exit_code


@pytest.mark.usefixtures("lake")
@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["--files-from", "none"], "--files-from none: No such file"),
        (["--files-from", "empty"], "no path is listed"),
        (["--output", "a.parquet", "a.parquet"], "a.parquet is one of the files to check"),
        (["--output", "a.parquet", "."], "--output a.parquet: this is a Parquet file"),
        (["--write-baseline", "a.parquet", "."], "--write-baseline a.parquet: this is a Parquet file"),
    ],
)
def test_wrong_lists_and_outputs_exit_2(arguments: list[str], words: str) -> None:
    put("a.parquet")
    put("empty", content=b"\n")
    result = run(app, ["check", *arguments])

    assert 2 == result.exit_code
    assert words in result.stderr
    assert GOOD == Path("a.parquet").read_bytes()


# ------------------------------------------------------------------------------------------------ summary files


def indexed(path: Path, **options: Any) -> pq.FileMetaData:
    """Write a file with an index, as part of a dataset, and return its footer with its place in the dataset."""
    path.write_bytes(Idx1File(data=parquet(table(), **options)).build())
    metadata = pq.read_metadata(path)
    metadata.set_file_path(path.name)
    return metadata


@pytest.mark.parametrize("tier", ["index", "values"])
def test_summaries_that_pyarrow_writes_give_no_finding(tier: Any, lake: Path) -> None:
    parts = [indexed(lake / "a.parquet", row_group_size=2), indexed(lake / "b.parquet")]
    whole = parts[0]
    whole.append_row_groups(parts[1])
    whole.write_metadata_file("_metadata")
    pq.write_metadata(pq.read_schema("a.parquet"), "_common_metadata")
    Path("renamed.parquet").write_bytes(Path("_metadata").read_bytes())
    keys = pq.read_metadata("_metadata").metadata or {}

    assert idx1.KEY.encode() in keys  # the key of the parts is in the summary, and means nothing there
    report = pqassay.check(lake, tier=tier)
    assert {"_metadata", "_common_metadata", "a.parquet", "b.parquet", "renamed.parquet"} == {
        Path(file.path).name for file in report.files
    }
    assert [[]] * 5 == [file.findings for file in report.files]
    assert ["conformant"] * 5 == [file.outcome for file in report.files]


@pytest.mark.usefixtures("lake")
@pytest.mark.parametrize("tier", ["index", "values"])
def test_datasets_that_fastparquet_writes_give_no_finding(tier: Any) -> None:
    frame = pd.DataFrame({"nation": ["a", "b", None, "c"], "year": [1, 2, 2, 1]})
    fastparquet.write("set", frame, file_scheme="hive", partition_on=["year"], row_group_offsets=[0, 2])
    report = pqassay.check("set", tier=tier)

    assert {"_metadata", "_common_metadata"} <= {Path(file.path).name for file in report.files}
    assert 4 <= len(report.files)
    found = {finding.rule for file in report.files for finding in file.findings}
    # It leaves bytes behind the values of columns with nulls.
    assert ({"PQF-076"} if tier == "values" else set()) == found


def test_a_damaged_summary_is_reported(lake: Path) -> None:
    pq.write_metadata(pa.schema([("a", pa.int64())]), "_metadata")
    Path("_metadata").write_bytes(Path("_metadata").read_bytes()[:-3])

    assert 1 == pqassay.check(lake, tier="footer").exit_code


# ------------------------------------------------------------------------------------------------ patterns

NAMES = st.lists(st.sampled_from(["a", "b", ".h", "ab", "x.parquet"]), min_size=1, max_size=5)
PARTS = st.lists(st.sampled_from(["a", "*", "**", "?", "x.*", "[ab]"]), min_size=1, max_size=4)


@given(PARTS.filter(lambda parts: parts[-1] != "**"), NAMES)
def test_a_pattern_matches_what_the_standard_library_finds(parts: list[str], names: list[str]) -> None:
    import glob
    import tempfile

    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, *names)
        path.parent.mkdir(parents=True, exist_ok=True)
        path.touch()
        found = {
            os.path.normpath(name)
            for name in glob.glob("/".join(parts), root_dir=folder, recursive=True)  # noqa: PTH207 - Path.glob means other things
        } - {"."}

    pattern = PathPattern(parts)
    below = {
        "/".join(names[:length]) for length in range(1, len(names) + 1) if pattern.matches(names[:length])
    }
    assert found == below


@given(PARTS, NAMES)
def test_a_walk_never_leaves_a_folder_that_holds_a_match(parts: list[str], names: list[str]) -> None:
    pattern = PathPattern(parts)
    states = pattern.start()
    for name in names[:-1]:
        states = pattern.step(states, name)

    assert states or not pattern.matches(names)


@pytest.mark.usefixtures("lake")
def test_a_list_of_ten_thousand_names_is_checked_in_one_process() -> None:
    put(*(f"{number}.parquet" for number in range(30)))
    command = [sys.executable, "-m", "pqassay", "check", "--tier", "footer", "--files-from", "-"]
    names = "".join(f"{number % 30}.parquet\n" for number in range(10_000))
    done = processes.run(command, input=names, capture_output=True, text=True, env=environment())

    assert 0 == done.returncode
    assert "30 files: 30 conformant" in done.stdout
    assert "ignored: 9,970 (named more than once)" in done.stdout


def environment() -> dict[str, str]:
    roots = [str(ROOT / name) for name in ("spec", "reference_impl", "conformance", "pipeline")]
    return {**os.environ, "PYTHONPATH": os.pathsep.join(roots)}


PLAIN = parquet(table())


def test_named_pipes_are_refused_at_once(tmp_path: Path) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)

    with pytest.raises(OSError, match="no regular file"):
        FileSource(pipe)


def test_paths_that_are_not_utf8_are_read(tmp_path: Path) -> None:
    path = os.fsdecode(os.fsencode(tmp_path) + b"/b\xff.parquet")
    Path(path).write_bytes(PLAIN)
    embed_file(path, "nation")

    assert "conformant" == pqassay.check(path).files[0].outcome
    assert r"b\udcff.parquet: conformant" in CliRunner().invoke(app, ["check", path]).stdout
