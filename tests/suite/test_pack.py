"""Packs: whole, the same every time, usable without pqassay, and never written over what is not theirs."""

from __future__ import annotations

import hashlib
import json
import os
import re
import shutil
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest
from typer.testing import CliRunner, Result

from engine_limits import EXCEPTIONS
from golden_cases import golden_cases
from places import ROOT
from pqassay.cli.main import suite as app
from pqassay_spec import __version__
from pqassay_spec.rules.catalogue import rules
from pqassay_suite.cases.pack import (
    BAD,
    EDITION,
    EDITION_STATE,
    GOOD,
    LICENSE,
    MANIFEST,
    MOST_BYTES,
    README,
    SUMS,
    PackError,
    chosen,
    contents,
    duties,
    packed,
    write_pack,
)
from pqassay_suite.cases.pack_pages import cell, pages
from processes import run

FROZEN = {1: "08919e77384d1698d079073747dff902926852e9d3ba737b762bfe1a7b0f86bb"}
"""Digests of the paths, reasons and bytes of frozen editions. A pack with other files is the next edition, a draft."""


def export(folder: Path, *options: str) -> Result:
    return CliRunner().invoke(app, ["pack", str(folder), *options])


@pytest.fixture(scope="module")
def pack(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("packs") / "pack"
    assert 0 == export(folder).exit_code
    return folder


@pytest.fixture(scope="module")
def manifest(pack: Path) -> dict[str, Any]:
    found: dict[str, Any] = json.loads((pack / MANIFEST).read_bytes())
    return found


def files_of(entry: dict[str, Any]) -> list[dict[str, Any]]:
    return [entry, *entry.get("beside", []), *([entry["rows"]] if "rows" in entry else [])]


def test_the_manifest_names_every_file_with_its_size_and_digest(pack: Path, manifest: dict[str, Any]) -> None:
    named = {file["path"]: file for entry in manifest["files"] for file in files_of(entry)}
    there = {path.relative_to(pack).as_posix() for path in pack.rglob("*") if path.is_file()}

    pages_of = {README, LICENSE, MANIFEST, f"{GOOD}/{README}", f"{BAD}/{README}"}
    assert there == {*named, *pages_of, SUMS}
    for path, file in named.items():
        content = (pack / path).read_bytes()
        assert (len(content), hashlib.sha256(content).hexdigest()) == (file["bytes"], file["sha256"])
        assert len(content) <= MOST_BYTES


def test_every_rule_that_a_small_file_breaks_has_one_and_its_valid_parent_is_there(
    manifest: dict[str, Any],
) -> None:
    usable = chosen(golden_cases(), whole=True)
    broken = {rule for golden in usable if golden.case.kind == "invalid" for rule in golden.case.rules}
    entries = {entry["id"]: entry for entry in manifest["files"]}

    assert broken == {rule["id"] for e in entries.values() if e["kind"] == "invalid" for rule in e["rules"]}
    assert {golden.case.id for golden in usable} > set(entries)
    parents = {entry["made_from"] for entry in entries.values() if "made_from" in entry}
    assert set() == (parents & {golden.case.id for golden in usable}) - set(entries)
    assert [] == [entry["id"] for entry in entries.values() if not entry["duties"]]


def test_the_pages_have_a_row_for_each_file_with_the_sentence_of_its_rule(
    pack: Path, manifest: dict[str, Any]
) -> None:
    for folder, kind in ((GOOD, "valid"), (BAD, "invalid")):
        page = (pack / folder / README).read_text("utf-8")
        entries = [entry for entry in manifest["files"] if entry["kind"] == kind]
        assert len(entries) == page.count("\n| [`")
        for entry in entries:
            (row,) = re.findall(rf"^\| \[`{re.escape(Path(entry['path']).name)}`\].*$", page, re.MULTILINE)
            assert all(cell(rules()[rule["id"]].sentence) in row for rule in entry["rules"])
            assert cell(entry["title"]) in row
            assert f"| {entry.get('reason', '')} |" in row
    assert (ROOT / LICENSE).read_bytes() == (pack / LICENSE).read_bytes()


def test_the_reason_of_a_damaged_file_is_made_of_its_rules_alone(manifest: dict[str, Any]) -> None:
    of_rules = {
        entry["id"]: "+".join(rule["id"] for rule in entry["rules"])
        for entry in manifest["files"]
        if entry["kind"] == "invalid"
    }

    assert of_rules == {entry["id"]: entry["reason"] for entry in manifest["files"] if "reason" in entry}
    assert {"number": EDITION, "state": EDITION_STATE} == manifest["edition"]


def test_a_frozen_edition_never_changes(manifest: dict[str, Any]) -> None:
    lines = sorted(
        f"{file['sha256']} {file['path']} {entry.get('reason', '')}\n"
        for entry in manifest["files"]
        for file in files_of(entry)
    )

    assert (EDITION_STATE == "frozen") == (EDITION in FROZEN)
    assert hashlib.sha256("".join(lines).encode()).hexdigest() == FROZEN.get(EDITION)


def test_another_release_writes_the_same_bytes() -> None:
    packs = [packed(golden) for golden in chosen(golden_cases(), ["BLM"])]

    assert [] == [path for path, content in pages(packs).items() if __version__.encode() in content]
    assert __version__.encode() not in contents(packs, {})[MANIFEST]


def test_digests_are_in_the_form_that_sha256sum_checks(pack: Path) -> None:
    lines = (pack / SUMS).read_text("ascii").splitlines()
    there = {path.relative_to(pack).as_posix() for path in pack.rglob("*") if path.is_file()}

    assert sorted(there - {SUMS}) == [line[66:] for line in lines]
    assert [] == [
        line
        for line in lines
        if f"{hashlib.sha256((pack / line[66:]).read_bytes()).hexdigest()}  " != line[:66]
    ]


@pytest.mark.skipif(shutil.which("node") is None, reason="there is no Node.js")
def test_a_program_in_another_language_verifies_a_pack(tmp_path: Path) -> None:
    export(tmp_path / "pack", "--family", "BLM")
    command = ["node", str(ROOT / "examples" / "verify_pack.mjs"), str(tmp_path / "pack")]

    whole = run(command, capture_output=True, text=True)
    assert (0, True) == (whole.returncode, whole.stdout.endswith(" files, 0 wrong\n"))
    (tmp_path / "pack" / BAD / "blm-no-bit-set.parquet").write_bytes(b"PAR1")
    damaged = run(command, capture_output=True, text=True)
    assert (1, True) == (
        damaged.returncode,
        damaged.stdout.endswith(" 1 wrong bad_data/blm-no-bit-set.parquet\n"),
    )


def test_seeds_are_the_inputs_alone_each_once_and_named_by_their_content(tmp_path: Path) -> None:
    assert 0 == export(tmp_path / "seeds", "--seeds", "--family", "PM", "--family", "BLM").exit_code
    packs = [packed(golden) for golden in chosen(golden_cases(), ["PM", "BLM"], whole=True)]

    found = [path for path in (tmp_path / "seeds").rglob("*") if path.is_file()]
    assert {each.input.content for each in packs} == {path.read_bytes() for path in found}
    assert [] == [path for path in found if path.name != hashlib.sha256(path.read_bytes()).hexdigest()]
    assert {"parquet", "pm"} == {path.parent.name for path in found}

    assert 0 == export(tmp_path / "seeds", "--seeds", "--family", "BLM").exit_code
    assert ["parquet"] == [path.name for path in (tmp_path / "seeds").iterdir()]
    (tmp_path / "seeds" / "parquet" / ("0" * 64)).write_bytes(b"of a fuzzer")
    assert 2 == export(tmp_path / "seeds", "--seeds").exit_code


def test_rows_are_those_that_a_reader_gives_without_pqassay(pack: Path, manifest: dict[str, Any]) -> None:
    """Columns of integers and texts, whose values need no tag, of every such valid file."""
    compared = 0
    for entry in manifest["files"]:
        if entry["kind"] != "valid" or "rows" not in entry:
            continue
        told = json.loads((pack / entry["rows"]["path"]).read_bytes())
        plain = [
            (place, column["name"])
            for place, column in enumerate(told["columns"])
            if column["type"] in ("int32", "int64", "string")
        ]
        if not plain or entry["read"]["refusal"] != "never" or ("pyarrow", entry["id"]) in EXCEPTIONS:
            continue
        names = [name for _, name in plain]
        rows = [[row[place] for place, _ in plain] for row in told["rows"]]
        if any(isinstance(value, dict) for row in rows for value in row):
            continue
        read = pq.ParquetFile(pack / entry["path"]).read(columns=names).to_pylist()
        given = [[row[name] for name in names] for row in read]
        assert sorted(rows, key=repr) == sorted(given, key=repr), entry["id"]
        compared += 1
    assert compared > 50


def test_files_with_a_name_of_their_own_keep_it_and_their_companions(manifest: dict[str, Any]) -> None:
    pms = [one for one in manifest["files"] if one["called"] == "_pm"]

    assert all(one["path"].endswith("._pm") for one in pms)
    beside = [one for one in pms if "beside" in one]
    assert beside
    companions = {tuple(other["called"] for other in one["beside"]) for one in beside}
    assert {("data.parquet",), ("data.parquet", "_txn")} == companions


def test_the_same_golden_files_make_the_same_bytes() -> None:
    packs = [packed(golden) for golden in chosen(golden_cases(), ["BLM"])]
    again = [packed(golden) for golden in chosen(list(reversed(golden_cases())), ["BLM"])][::-1]

    assert contents(packs, pages(packs)) == contents(again, pages(again))


def test_a_family_alone_and_everything(tmp_path: Path) -> None:
    assert 0 == export(tmp_path / "blm", "--family", "blm", "--all").exit_code
    entries = json.loads((tmp_path / "blm" / MANIFEST).read_bytes())["files"]

    assert [
        golden.case.id for golden in golden_cases() if golden.case.family == "BLM" and duties(golden.case)
    ] == [entry["id"] for entry in entries]


def test_an_earlier_pack_is_replaced_whole(tmp_path: Path) -> None:
    export(tmp_path / "pack", "--family", "STA")
    result = export(tmp_path / "pack", "--family", "BLM")

    assert 0 == result.exit_code
    assert {"BLM"} == {
        one["family"] for one in json.loads((tmp_path / "pack" / MANIFEST).read_bytes())["files"]
    }
    assert ["pack"] == [path.name for path in tmp_path.iterdir()]
    assert [] == [*(tmp_path / "pack" / GOOD).glob("sta-*")]


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("notes.txt", b"mine", "has other files than a pack; name a new or empty folder"),
        (MANIFEST, b'{"kind": "another"}', "has other files than a pack"),
        (MANIFEST, b"[" * 100_000, "has other files than a pack"),
    ],
)
def test_a_folder_that_is_no_pack_stays_as_it_is(
    tmp_path: Path, name: str, content: bytes, message: str
) -> None:
    (tmp_path / name).write_bytes(content)
    result = export(tmp_path)

    assert 2 == result.exit_code
    assert message in result.stderr
    assert [(name, content)] == [(path.name, path.read_bytes()) for path in tmp_path.iterdir()]


def test_files_that_somebody_put_into_a_pack_are_not_lost(tmp_path: Path) -> None:
    export(tmp_path / "pack", "--family", "BLM")
    (tmp_path / "pack" / GOOD / "mine.parquet").write_bytes(b"mine")
    result = export(tmp_path / "pack", "--family", "BLM")

    assert 2 == result.exit_code
    assert "data/mine.parquet does not belong to the pack; move it away" in result.stderr
    assert b"mine" == (tmp_path / "pack" / GOOD / "mine.parquet").read_bytes()


def test_what_goes_wrong_while_writing_leaves_the_earlier_pack(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write_pack(tmp_path / "pack", {README: b"first", MANIFEST: b'{"kind": "pqassay pack", "files": []}'})

    def full(*_: int) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(OSError, match="No space left"):
        write_pack(tmp_path / "pack", {README: b"second"})
    assert ["pack"] == [path.name for path in tmp_path.iterdir()]
    assert b"first" == (tmp_path / "pack" / README).read_bytes()


def test_two_cases_of_one_name_are_refused() -> None:
    one = packed(chosen(golden_cases(), ["BLM"])[0])

    with pytest.raises(PackError, match="another case has a file"):
        contents([one, one], {})


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--family", "XYZ"], "there is no family XYZ; there are "),
        ([], "there is a file of this name; name a folder"),
    ],
)
def test_wrong_usage_is_said_in_a_line(tmp_path: Path, options: list[str], message: str) -> None:
    (tmp_path / "pack").write_bytes(b"")
    result = export(tmp_path / "pack", *options)

    assert 2 == result.exit_code
    assert message in result.stderr
    assert 1 == len(result.stderr.splitlines())
