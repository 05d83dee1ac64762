"""Files and calls on which the judge or the reference once went wrong."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from typer.testing import CliRunner

import pqassay
from idx1_files import Idx1File, companion, edited, parquet, table
from places import ROOT
from pqassay.cli.main import app
from pqassay.errors import UsageError
from pqassay.judge.file_check import Selection, check_source
from pqassay.under_test.file import Options
from pqassay.under_test.violation import Violation
from pqassay.values import physical
from pqassay_reference.errors import Refused, Undecodable
from pqassay_reference.rewrite.embed import IndexingWriter, embed_file
from pqassay_reference.rewrite.extract import extract, extract_file
from pqassay_spec.base.sources import BytesSource, FileSource, temporary_name
from pqassay_spec.idx1 import blob as idx1
from pqassay_spec.idx1 import companion as idx1_companion
from pqassay_spec.parquet.thrift import FileMetaData, KeyValue

PLAIN = parquet(table())
GOOD = Idx1File().build()
ENVIRONMENT = {
    **os.environ,
    "PYTHONPATH": os.pathsep.join(str(ROOT / name) for name in ("spec", "reference_impl", "conformance")),
}


def rules_of(target: Any, **options: Any) -> set[str]:
    return {finding.rule for finding in pqassay.check(target, **options).files[0].findings}


def test_a_column_is_chosen_by_its_position_not_by_a_prefix_of_its_name(tmp_path: Path) -> None:
    path = tmp_path / "f.parquet"
    pq.write_table(pa.table({"s": [{"x": {"y": "another"}}], "s.x": ["right"]}), path)
    embed_file(path, "s.x")

    assert ("right",) == extract_file(path).values
    assert set() == rules_of(path)


def test_columns_of_one_name_are_told_apart() -> None:
    data = pa.Table.from_arrays([pa.array(["x", "x"]), pa.array(["y", "y"])], names=["d", "d"])

    assert {"PQF-018"} == rules_of(Idx1File(data=parquet(data), payload=b"y").build())
    assert {"PQF-018"} == rules_of(Idx1File(data=parquet(data), payload=b"x").build())


def test_a_companion_record_means_a_path_not_a_name() -> None:
    data = pa.table({"a.b": ["x"], "l": [["y"]]})
    for path in (("a", "b"), ("l", "list", "element")):
        file = Idx1File(data=parquet(data), payload=b"x" if path[0] == "a" else b"y")
        offset = file.build().index(idx1.MAGIC)
        record = idx1_companion.make_companion(
            file.blob(), offset=offset, column=path, row_count=1, value_count=1, null_count=0
        )
        file.keys = [(idx1.KEY, "{offset}"), (idx1.COMPANION_KEY, record.to_json())]

        assert {"IDX1-018"} == rules_of(file.build())
        assert extract(BytesSource(file.build())).companion is None


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("data_page_offset", 10**15),
        ("dictionary_page_offset", 10**12),
        ("dictionary_page_offset", -9),
        ("index_page_offset", 10**12),
        ("bloom_filter_offset", 10**12),
        ("bloom_filter_offset", -5),
    ],
)
def test_an_offset_outside_the_body_is_reported_as_such(field: str, value: int) -> None:
    def change(metadata: FileMetaData) -> None:
        facts = metadata.row_groups[0].columns[0].meta_data
        setattr(facts, field, value)

    missing = (
        {"BLM-006"} if field == "bloom_filter_offset" else set()
    )  # PLAIN has no filter, so no length of one
    findings = {
        finding.rule: finding
        for finding in pqassay.check(edited(PLAIN, change), tier="index").files[0].findings
    }

    assert {"PQF-008", *missing} == set(findings)
    assert f"footer.row_groups[0].columns[0].meta_data.{field}" == findings["PQF-008"].at[0].field


@pytest.mark.parametrize("field", ["column_index", "offset_index"])
@pytest.mark.parametrize("length", [None, 0])
def test_an_index_offset_counts_even_without_a_length(field: str, length: int | None) -> None:
    def change(metadata: FileMetaData) -> None:
        chunk = metadata.row_groups[0].columns[0]
        setattr(chunk, f"{field}_offset", 10**12)
        setattr(chunk, f"{field}_length", length)

    assert {"PQF-008", "PIX-002"} == rules_of(edited(PLAIN, change), tier="footer")


def test_a_value_with_a_line_feed_is_reported_even_if_it_is_missing() -> None:
    file = Idx1File(data=parquet(table(["a\nb", "c"])), payload=b"c").build()

    assert {"IDX1-015", "IDX1-016"} == rules_of(file)


def test_a_damaged_magic_of_draft_g1_is_no_draft_g0() -> None:
    file = Idx1File(magic=b"JDX1", keys=[(idx1.KEY, "{offset}"), (idx1.LENGTH_KEY, "36")]).build()

    assert {"IDX1-006", "IDX1-032"} == rules_of(file)


def test_each_draft_length_key_is_compared() -> None:
    keys = [(idx1.KEY, "{offset}"), (idx1.LENGTH_KEY, "36"), (idx1.LENGTH_KEY, "8")]

    assert {"IDX1-031", "IDX1-032", "PQF-006"} == rules_of(Idx1File(keys=keys).build())


def test_a_column_that_does_not_decode_is_no_obstacle_to_one_that_fits() -> None:
    data = pa.table({"a": ["x", "y"], "b": [f"{i:040d}" for i in range(2)]})
    content = bytearray(Idx1File(data=parquet(data, compression="zstd"), payload=b"x\ny").build())
    start = content.index(b"\x28\xb5\x2f\xfd", content.index(b"\x28\xb5\x2f\xfd", 60) + 1)
    content[start : start + 12] = bytes(12)
    with pytest.raises(Exception, match=r".+"):
        pq.read_table(pa.BufferReader(bytes(content)), columns=["b"])

    # The page itself is damaged; whether the index is right does not depend on it.
    report = pqassay.check(bytes(content))
    (coverage,) = report.coverages.values()

    assert ["PQF-070"] == [finding.rule for finding in report.files[0].findings]
    assert {"IDX1-016", "IDX1-017"} <= set(coverage.checked)


@pytest.mark.parametrize(
    "make",
    [
        lambda: edited(PLAIN, lambda m: setattr(m, "key_value_metadata", [KeyValue(key="k")] * 20_000)),
        lambda: Idx1File(payload="\n".join(f"{i:06}" for i in range(60_000)).encode()).build(),
        lambda: Idx1File(payload=b"\n" * 500_000).build(),
        lambda: (
            b"PAR1" + parquet(pa.table({f"c{i}": [1] * 40 for i in range(50)}), row_group_size=1)[-200_000:]
        ),
    ],
    ids=["equal keys", "phantom values", "equal values", "lost body"],
)
def test_many_violations_are_counted_not_piled_up(make: Callable[[], bytes]) -> None:
    report = pqassay.check(
        make(), tier="values"
    )  # each took minutes once: every place was looked up on its own

    assert report.files[0].findings
    assert all(len(finding.at) <= 3 for finding in report.files[0].findings)


def test_counts_are_complete_though_few_places_are_shown() -> None:
    file = Idx1File(data=parquet(table(["a"])), payload=b"a\nb\nc\nd\ne\nb\nc\nd\ne").build()
    counts = {
        finding.rule: (finding.count, len(finding.at)) for finding in pqassay.check(file).files[0].findings
    }

    assert {"IDX1-011": (4, 3), "IDX1-017": (4, 3)} == counts


def test_memory_that_is_missing_leaves_the_file_unjudged(monkeypatch: pytest.MonkeyPatch) -> None:
    def no_memory(*_: Any) -> None:
        raise MemoryError

    monkeypatch.setattr("pqassay_spec.idx1.blob.exact_values", no_memory)
    report = pqassay.check(GOOD, tier="index")

    assert ("errored", "there is not enough memory for it") == (
        report.files[0].outcome,
        report.files[0].error,
    )


def test_named_pipes_are_refused_at_once(tmp_path: Path) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)

    with pytest.raises(OSError, match="no regular file"):
        FileSource(pipe)


@pytest.mark.parametrize(
    "options", [{"tier": "bogus"}, {"level": "bogus"}, {"only": ["bogus"]}, {"skip": ["bogus"]}]
)
def test_options_that_do_not_exist_are_usage_errors(options: dict[str, Any]) -> None:
    with pytest.raises(UsageError):
        pqassay.check(GOOD, **options)
    with pytest.raises(UsageError):
        pqassay.check("a\0b")


@pytest.mark.parametrize("kind", [bytearray, memoryview])
def test_any_bytes_can_be_checked(kind: Callable[[bytes], Any]) -> None:
    assert set() == rules_of(kind(GOOD))


def test_paths_that_are_not_utf8_are_read(tmp_path: Path) -> None:
    path = os.fsdecode(os.fsencode(tmp_path) + b"/b\xff.parquet")
    Path(path).write_bytes(PLAIN)
    embed_file(path, "nation")

    assert "conformant" == pqassay.check(path).files[0].outcome
    assert r"b\udcff.parquet: conformant" in CliRunner().invoke(app, ["check", path]).stdout


def test_a_column_name_that_is_not_utf8_is_no_traceback(tmp_path: Path) -> None:
    path = tmp_path / "f.parquet"
    data = parquet(pa.table({"zqzqz": [1], "nation": ["x"]}), store_schema=False)
    path.write_bytes(data.replace(b"zqzqz", b"zq\xffqz"))

    with pytest.raises(Undecodable):
        embed_file(path, "nation")


def test_hostile_names_stay_on_their_line_and_out_of_the_shell(tmp_path: Path) -> None:
    name = "FILE_ID; rm -rf x\n::error::\x1b[31m"
    path = tmp_path / "f.parquet"
    file = Idx1File(data=parquet(pa.table({name: ["a", "b"]})), payload=b"a").build()
    path.write_bytes(file)
    shown = CliRunner().invoke(app, ["check", str(path)]).stdout

    assert "\x1b" not in shown
    assert "\n::error" not in shown
    assert f"pqassay-ref embed {path} --column 'FILE_ID; rm -rf x" in shown


@pytest.mark.parametrize("arguments", [["check"], ["check", "--format", "json"], ["dump"], ["explain"]])
def test_a_full_disk_is_one_line(arguments: list[str], tmp_path: Path) -> None:
    path = tmp_path / "f.parquet"
    path.write_bytes(GOOD)
    target = [] if arguments == ["explain"] else [str(path)]
    with Path("/dev/full").open("w") as full:
        done = subprocess.run(
            [sys.executable, "-m", "pqassay", *arguments, *target],
            stdout=full,
            stderr=subprocess.PIPE,
            text=True,
            check=False,
            env=ENVIRONMENT,
        )

    assert (2, "error: the output cannot be written: No space left on device\n") == (
        done.returncode,
        done.stderr,
    )


def test_a_closed_stdout_is_no_traceback(tmp_path: Path) -> None:
    path = tmp_path / "f.parquet"
    path.write_bytes(GOOD)
    command = f"{sys.executable} -m pqassay check --format json {path} >&-"
    done = subprocess.run(["sh", "-c", command], capture_output=True, text=True, check=False, env=ENVIRONMENT)

    assert (0, "") == (done.returncode, done.stderr)


def test_output_goes_into_a_pipe_and_never_over_an_input(tmp_path: Path) -> None:
    path = tmp_path / "f.parquet"
    path.write_bytes(GOOD)
    refused = CliRunner().invoke(app, ["check", str(path), "--output", str(path)])
    command = f"{sys.executable} -m pqassay check {path} --output /dev/stdout | cat"
    piped = subprocess.run(
        ["sh", "-c", command], capture_output=True, text=True, check=False, env=ENVIRONMENT
    )

    assert 2 == refused.exit_code
    assert GOOD == path.read_bytes()
    assert f"{path}: conformant" in piped.stdout


def test_the_temporary_name_is_no_way_into_another_file(tmp_path: Path) -> None:
    path, victim = tmp_path / "f.parquet", tmp_path / "victim"
    victim.write_text("precious")
    for link in (Path.symlink_to, Path.hardlink_to):
        path.write_bytes(PLAIN)
        link(temporary_name(path), victim)
        embed_file(path, "nation")

        assert "precious" == victim.read_text()
        assert not path.is_symlink()
        assert set() == rules_of(path)


def test_a_file_replaced_during_the_last_sync_is_not_lost(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "f.parquet"
    path.write_bytes(PLAIN)
    newer = parquet(table(["newer"]))
    sync = os.fsync

    def replace_meanwhile(descriptor: int) -> None:
        sync(descriptor)
        other = tmp_path / "other"
        other.write_bytes(newer)
        other.replace(path)

    monkeypatch.setattr("os.fsync", replace_meanwhile)
    with pytest.raises(OSError, match="changed while it was worked on"):
        embed_file(path, "nation")

    assert newer == path.read_bytes()


def test_the_checksum_sidecar_stays_if_the_file_is_not_replaced(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path, sidecar = tmp_path / "f.parquet", tmp_path / ".f.parquet.crc"
    path.write_bytes(PLAIN)
    sidecar.write_bytes(b"crc")

    def fail(_: int) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("os.fsync", fail)
    with pytest.raises(OSError, match="No space left"):
        embed_file(path, "nation")

    assert (PLAIN, b"crc") == (path.read_bytes(), sidecar.read_bytes())
    assert not temporary_name(path).exists()


def test_bytes_that_only_a_length_field_claims_are_not_cut(tmp_path: Path) -> None:
    path = tmp_path / "f.parquet"
    foreign = b"OTHER-INDEX-OF-OTHERS"
    path.write_bytes(Idx1File(payload=b"a\nb" + foreign, length=3 + len(foreign)).build())
    result = embed_file(path, "nation")

    assert (0, 36) == (result.cut, result.dead)
    assert foreign in path.read_bytes()


@pytest.mark.skipif(sys.platform != "linux" or os.geteuid() != 0, reason="only root may give files away")
def test_the_owner_is_kept(tmp_path: Path) -> None:
    path = tmp_path / "f.parquet"
    path.write_bytes(PLAIN)
    path.chmod(0o600)
    os.chown(path, 1000, 1000)
    embed_file(path, "nation")
    found = path.stat()

    assert (1000, 1000, 0o600) == (found.st_uid, found.st_gid, found.st_mode & 0o777)


def test_rows_that_the_writer_refused_are_not_indexed(tmp_path: Path) -> None:
    path = tmp_path / "f.parquet"
    with IndexingWriter(path, table().schema, "nation") as writer:
        writer.write(table())
        with pytest.raises(Refused, match="schema"):
            writer.write(pa.table({"zz": ["bad"]}))

    assert set() == rules_of(path)


def test_a_flavor_that_renames_the_column_is_followed(tmp_path: Path) -> None:
    path = tmp_path / "f.parquet"
    data = pa.table({"a b": ["x"]})
    with IndexingWriter(path, data.schema, "a b", flavor="spark") as writer:
        writer.write(data)

    assert set() == rules_of(path)


def test_keys_of_an_older_index_in_a_schema_are_left_out(tmp_path: Path) -> None:
    path = tmp_path / "f.parquet"
    schema = table().schema.with_metadata({idx1.COMPANION_KEY: companion(), idx1.KEY: "4", "other": "kept"})
    with IndexingWriter(path, schema, "nation", companion=False) as writer:
        writer.write(table())
    keys = list(pq.ParquetFile(path).metadata.metadata or {})

    assert set() == rules_of(path)
    assert 1 == keys.count(b"distinct_index_offset")
    assert b"other" in keys


def test_an_index_of_nulls_has_no_values(tmp_path: Path) -> None:
    path = tmp_path / "f.parquet"
    path.write_bytes(parquet(table([None, None])))
    embed_file(path, "nation")
    found = extract_file(path)

    assert ((), ()) == (found.values, found.lost)


def test_a_nan_in_the_footer_does_not_stop_the_splice(tmp_path: Path) -> None:
    from pqassay_spec.parquet.thrift import BoundingBox, GeospatialStatistics

    def add_box(metadata: FileMetaData) -> None:
        facts = metadata.row_groups[0].columns[0].meta_data
        assert facts is not None
        box = BoundingBox(xmin=float("nan"), xmax=1.0, ymin=0.0, ymax=1.0)
        facts.geospatial_statistics = GeospatialStatistics(bbox=box)

    path = tmp_path / "f.parquet"
    path.write_bytes(edited(PLAIN, add_box))
    embed_file(path, "nation")

    # A column of text has no box, and no box has a NaN; the splice leaves that as it is.
    assert {"STA-022"} == rules_of(path)


@pytest.mark.parametrize("name", ["~/f.parquet", "file:f.parquet", "s3:f.parquet"])
def test_the_values_are_those_of_the_named_file(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    home = tmp_path / "home"
    for folder in (home, tmp_path / "~"):
        folder.mkdir()
    monkeypatch.setenv("HOME", str(home))
    monkeypatch.chdir(tmp_path)
    (home / "f.parquet").write_bytes(GOOD)
    Path(name).write_bytes(Idx1File(payload=b"nobody").build())
    with FileSource(name) as source:
        report, _ = check_source(source, Options("values"), Selection(), "must")

    assert (["IDX1-016"], None) == ([finding.rule for finding in report.findings], report.error)


@pytest.mark.parametrize("listing", [physical.OPEN_FILES, "/nowhere/{}"], ids=["native", "read by us"])
def test_a_file_that_is_replaced_meanwhile_is_judged_as_one(
    listing: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(physical, "OPEN_FILES", listing)
    path, other = tmp_path / "f.parquet", tmp_path / "other"
    path.write_bytes(GOOD)
    other.write_bytes(Idx1File(payload=b"nobody").build())
    with FileSource(path) as source:
        other.replace(path)
        report, _ = check_source(source, Options("values"), Selection(), "must")

    assert ("conformant", []) == (report.outcome, report.findings)


def test_pages_that_are_stored_elsewhere_are_not_looked_for_in_this_file() -> None:
    def move(metadata: FileMetaData) -> None:
        metadata.row_groups[1].columns[0].file_path = "other.parquet"

    data = edited(parquet(pa.table({"n": ["a", "b"], "m": ["p", "q"]}), row_group_size=1), move)
    report = pqassay.check(Idx1File(data=data, payload=b"a").build())
    (coverage,) = report.coverages.values()

    assert ["PQF-023"] == [finding.rule for finding in report.files[0].findings]
    assert (
        "row group 1 of column n is stored in another file, 'other.parquet'"
        == coverage.not_checked["IDX1-016"]
    )
    assert {"PQF-023"} == rules_of(Idx1File(data=data, payload=b"p\nq").build())


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (
            {"only": ["IDX1-016"], "tier": "index"},
            "no rule is left to test at tier index: IDX1-016 needs tier values",
        ),
        (
            {"only": ["IDX1-01[1-6]", "IDX1-030"], "tier": "footer"},
            "no rule is left to test at tier footer: IDX1-011 and 6 others need tier index or values",
        ),
        ({"skip": ["*"]}, "no rule is left to test: all are left out"),
        ({"only": ["PQF-001"], "skip": ["PQF-*"]}, "no rule is left to test: all are left out"),
    ],
)
def test_a_check_that_tests_nothing_is_a_usage_error(
    options: dict[str, Any], message: str, tmp_path: Path
) -> None:
    path = tmp_path / "f.parquet"
    path.write_bytes(GOOD)
    with pytest.raises(UsageError) as caught:
        pqassay.check(path, **options)
    names = {"only": "--rule", "skip": "--skip-rule"}
    arguments = [f"{names[key]}={text}" for key in names for text in options.get(key, ())]
    done = CliRunner().invoke(app, ["check", str(path), "--tier", options.get("tier", "values"), *arguments])

    assert message == str(caught.value)
    assert (2, f"error: {message}\n") == (done.exit_code, done.stderr)


@pytest.mark.parametrize("magic", [b"PAR1", b"PARE"])
@pytest.mark.parametrize(
    "arguments",
    [
        ["check", "--output", "b.parquet", "a.parquet"],
        ["check", "--write-baseline", "b.parquet", "a.parquet"],
        ["run", "--output", "b.parquet", "--", "true"],
        ["run", "--write-expectations", "b.parquet", "--", "true"],
    ],
    ids=lambda arguments: " ".join(arguments[:2]),
)
def test_no_output_replaces_a_parquet_file(
    arguments: list[str], magic: bytes, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("a.parquet").write_bytes(GOOD)
    Path("b.parquet").write_bytes(magic + GOOD[4:])
    done = CliRunner().invoke(app, arguments)

    assert 2 == done.exit_code
    assert (
        f"error: {arguments[1]} b.parquet: this is a Parquet file; remove it or write somewhere else\n"
        == done.stderr
    )
    assert magic + GOOD[4:] == Path("b.parquet").read_bytes()


def test_a_companion_record_counts_for_nothing_where_two_columns_have_the_name() -> None:
    for second in (["y"], [1]):
        data = pa.Table.from_arrays([pa.array(["x"]), pa.array(second)], names=["d", "d"])
        file = Idx1File(data=parquet(data), payload=b"x")
        record = idx1_companion.make_companion(
            file.blob(),
            offset=file.build().index(idx1.MAGIC),
            column=("d",),
            row_count=1,
            value_count=1,
            null_count=0,
        )
        file.keys = [(idx1.KEY, "{offset}"), (idx1.COMPANION_KEY, record.to_json())]
        finding, other = pqassay.check(file.build()).files[0].findings

        assert "PQF-018" == other.rule
        assert ("IDX1-018", "several columns are called d; a companion record means one") == (
            finding.rule,
            finding.message,
        )
        assert extract(BytesSource(file.build())).companion is None


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        (companion()[:-1] + ',"null_count":1}', "no JSON: member 'null_count' stands twice"),
        (companion()[:-1] + ',"note":{"a":1,"a":2}}', "no JSON: member 'a' stands twice"),
        (companion()[:-1] + ',"note":NaN}', "no JSON: NaN is no JSON"),
        (companion()[:-1] + ',"note":[-Infinity]}', "no JSON: -Infinity is no JSON"),
    ],
)
def test_a_companion_record_that_readers_take_differently_is_none(text: str, reason: str) -> None:
    file = Idx1File(keys=[(idx1.KEY, "{offset}"), (idx1.COMPANION_KEY, text)]).build()
    (finding,) = pqassay.check(file).files[0].findings

    assert ("IDX1-020", reason) == (finding.rule, finding.message)


def test_many_carriage_returns_are_counted_not_piled_up(monkeypatch: pytest.MonkeyPatch) -> None:
    data = Idx1File(payload=b"\r\n" * 100_000).build()
    made: list[Violation] = []

    def make(**given: Any) -> Violation:
        made.append(Violation(**given))
        return made[-1]

    monkeypatch.setattr("pqassay.checks.idx1.blob.Violation", make)
    findings = pqassay.check(data, tier="index", only=["IDX1-012", "IDX1-014"]).files[0].findings

    assert {"IDX1-012": 1, "IDX1-014": 100_000} == {finding.rule: finding.count for finding in findings}
    assert 4 == len(made)


def test_nulls_of_all_row_groups_are_counted() -> None:
    values = [None, "a", "a", "a", None, "a"]
    file = Idx1File(data=parquet(table(values), row_group_size=2), payload=b"a")
    record = idx1_companion.make_companion(
        file.blob(),
        offset=file.build().index(idx1.MAGIC),
        column=("nation",),
        row_count=6,
        value_count=1,
        null_count=2,
    )
    file.keys = [(idx1.KEY, "{offset}"), (idx1.COMPANION_KEY, record.to_json())]

    assert set() == rules_of(file.build())


@pytest.mark.parametrize("values", [["a", "a", "", ""], ["", "", "a", "a"]])
def test_a_value_of_any_row_group_shows_that_not_all_are_empty(values: list[str]) -> None:
    data = parquet(table(values), row_group_size=2)

    assert {"IDX1-016"} == rules_of(Idx1File(data=data, payload=b"").build())


def test_a_dictionary_column_holds_what_its_rows_name_not_what_its_dictionary_lists() -> None:
    unused = pa.DictionaryArray.from_arrays(pa.array([0, 2, None]), pa.array(["a", "unused", "b"]))
    file = Idx1File(data=parquet(pa.table({"nation": unused, "year": [1, 2, 3]})), payload=b"a\nb")
    record = idx1_companion.make_companion(
        file.blob(),
        offset=file.build().index(idx1.MAGIC),
        column=("nation",),
        row_count=3,
        value_count=2,
        null_count=1,
    )
    file.keys = [(idx1.KEY, "{offset}"), (idx1.COMPANION_KEY, record.to_json())]

    # pyarrow takes the bounds of the chunk from the dictionary, and calls them exact: no row holds "unused".
    assert {"STA-042"} == rules_of(file.build())


def test_nulls_of_another_column_are_not_compared_with_the_companion_record() -> None:
    data = parquet(pa.table({"nation": ["a", "b"], "other": ["a", "b"], "holes": ["a", None]}))
    file = Idx1File(data=data, payload=b"a")
    record = idx1_companion.make_companion(
        file.blob(),
        offset=file.build().index(idx1.MAGIC),
        column=("nation",),
        row_count=2,
        value_count=1,
        null_count=0,
    )
    file.keys = [(idx1.KEY, "{offset}"), (idx1.COMPANION_KEY, record.to_json())]
    report = pqassay.check(file.build(), idx1_column="holes")
    (coverage,) = report.coverages.values()

    assert [] == report.files[0].findings
    assert (
        "the index was compared with holes, the companion record names nation"
        == coverage.not_checked["IDX1-023"]
    )


def test_a_column_that_does_not_decode_may_be_the_one_that_fits() -> None:
    data = pa.table({"a": ["p", "q"], "b": [f"{i:040d}" for i in range(2)]})
    content = bytearray(Idx1File(data=parquet(data, compression="zstd"), payload=b"x\ny").build())
    start = content.index(b"\x28\xb5\x2f\xfd", content.index(b"\x28\xb5\x2f\xfd", 60) + 1)
    content[start : start + 12] = bytes(12)
    report = pqassay.check(bytes(content))
    (coverage,) = report.coverages.values()

    assert ("errored", ["PQF-070"]) == (
        report.files[0].outcome,
        [finding.rule for finding in report.files[0].findings],
    )
    assert coverage.not_checked["IDX1-016"].startswith("row group 0 of column b cannot be decoded")


def test_a_draft_that_would_overlap_pages_is_a_stale_key() -> None:
    keys = [(idx1.KEY, "20"), (idx1.LENGTH_KEY, "8")]
    found = rules_of(Idx1File(payload=None, keys=keys).build(), tier="index")

    assert {"IDX1-007", "IDX1-032"} == found
