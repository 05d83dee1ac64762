"""The drivers that come with pqassay, the beginning of another, and what a run says about its driver."""

from __future__ import annotations

import json
import os
import shutil
import stat
import sys
import zipfile
from dataclasses import replace
from pathlib import Path

import pytest
from typer.testing import CliRunner, Result

import processes
from golden_cases import broken_case, valid_case, write_driver
from pqassay.cli.main import suite as app
from pqassay_suite.drivers import implementations, jdk
from pqassay_suite.drivers.implementations import Implementation, ImplementationError

pytestmark = pytest.mark.slow


def command(*arguments: str) -> Result:
    return CliRunner().invoke(app, arguments)


# -------------------------------------------------------------------------------------------------- --hello


def test_hello_says_what_is_declared_what_would_be_asked_and_what_more_would_add(tmp_path: Path) -> None:
    valid_case(tmp_path / "cases")
    driver = write_driver(tmp_path, "exit 1", hello=["idx1.lint", "codec.snappy"])
    result = command("run", "--hello", "--cases", str(tmp_path / "cases"), "--", *driver)

    assert 0 == result.exit_code
    assert [
        "made 1 (sh)",
        "  answers requests one a process",
        "  compares NaN as unordered, zeros as equal",
        "  declares codec.snappy, idx1.lint",
        "1 question would be asked",
        "  idx1.decode would add 1",
        "  idx1.encode would add 1",
        "  idx1.scan would add 1",
    ] == result.stdout.splitlines()


def test_hello_of_a_driver_that_does_not_know_it(tmp_path: Path) -> None:
    valid_case(tmp_path / "cases")
    result = command("run", "--hello", "--cases", str(tmp_path / "cases"), "--", *write_driver(tmp_path, ""))

    assert [
        "it does not answer hello: not supported (exit status 3)",
        "4 questions would be asked",
    ] == result.stdout.splitlines()


def test_hello_of_a_program_that_is_not_there_is_one_line() -> None:
    result = command("run", "--hello", "--", "no-such-program")

    assert (2, "error: there is no program no-such-program, or it is not executable\n") == (
        result.exit_code,
        result.stderr,
    )


# -------------------------------------------------------------------------------------------------- --rerun

ACCEPTS = 'answer \'{"answer": "accept"}\''


def test_only_what_was_wrong_is_asked_again(tmp_path: Path) -> None:
    valid_case(tmp_path / "cases")
    broken_case(tmp_path / "cases", parent="made/good")
    options = ["--cases", str(tmp_path / "cases"), "--format", "json"]
    results = tmp_path / "results.json"
    first = write_driver(tmp_path, f"[ $op = lint ] || exit 3; {ACCEPTS}")
    command("run", *options, "--output", str(results), "--", *first)
    repaired = write_driver(tmp_path, f"echo $op >> {tmp_path}/asked; {ACCEPTS}")
    again = command("run", *options, "--rerun", str(results), "--", *repaired)

    assert ["lint"] == (tmp_path / "asked").read_text().split()
    assert [("made/broken", "lint")] == [
        (result["case"], result["operation"]) for result in json.loads(again.stdout)["results"]
    ]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("{}", "results.json: "),
        ("nonsense", "results.json: "),
    ],
)
def test_results_that_are_none_are_one_line(text: str, message: str, tmp_path: Path) -> None:
    path = tmp_path / "results.json"
    path.write_text(text)
    result = command("run", "--rerun", str(path), "--", "true")

    assert 2 == result.exit_code
    assert message in result.stderr
    assert 1 == len(result.stderr.splitlines())


def test_where_nothing_was_wrong_nothing_is_asked_again(tmp_path: Path) -> None:
    valid_case(tmp_path / "cases", lint="accept")
    driver = write_driver(tmp_path, ACCEPTS)
    results = tmp_path / "results.json"
    options = ["--cases", str(tmp_path / "cases")]
    command("run", *options, "--format", "json", "--output", str(results), "--", *driver)
    result = command("run", *options, "--rerun", str(results), "--", *driver)

    assert (2, f"error: {results}: no wrong answers are listed\n") == (result.exit_code, result.stderr)


# ------------------------------------------------------------------------------------------ shipped drivers


def test_a_driver_that_comes_with_pqassay_is_run_by_its_name(tmp_path: Path) -> None:
    target = tmp_path / "results.json"
    options = ["--case", "idx1/offset-underscore", "--operation", "decode", "--output", str(target)]
    result = command("run", "--driver", "published-idx1", *options, "--format", "json")
    report = json.loads(target.read_text())

    assert 0 == result.exit_code
    assert "published-idx1" == report["driver"]["shipped"]
    assert ["{python}", "{folder}/driver.py"] == report["driver"]["command"]
    assert str(Path(__file__).parents[3]) not in target.read_text()
    assert {"passed"} == {one["outcome"] for one in report["results"]}


def made(folder: Path, name: str, **members: object) -> Path:
    """A folder of a driver with this ``driver.toml``."""
    home = folder / "implementations" / name
    home.mkdir(parents=True)
    lines = {"title": name, "language": "sh", "command": ["{build}/driver"], **members}
    (home / "driver.toml").write_text(
        "".join(f"{key} = {json.dumps(value)}\n" for key, value in lines.items())
    )
    return home


@pytest.fixture
def room(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A place with drivers of its own, and their builds."""
    (tmp_path / "implementations").mkdir()
    monkeypatch.setattr(implementations, "folder", lambda: tmp_path / "implementations")
    monkeypatch.setenv("PQASSAY_DRIVERS", str(tmp_path / "builds"))
    return tmp_path


BUILD = "printf '#!/bin/sh\\nexit 3\\n' > {build}/driver && chmod +x {build}/driver"


def test_drivers_are_listed_built_and_built_anew_when_their_sources_change(room: Path) -> None:
    home = made(room, "new", build=[BUILD])
    made(room, "plain", command=["{python}"])
    made(room, "needy", needs=["no-such-program", "python:no-such-distribution"])
    listed = command("drivers")

    assert [
        ["needy", "sh", "needs no-such-program, no-such-distribution"],
        ["new", "sh", "not built"],
        ["plain", "sh", "ready"],
    ] == [line.split(maxsplit=2) for line in listed.stdout.splitlines()]
    refused = command("run", "--driver", "new", "--case", "pqf/plain")
    assert (2, "error: the driver new is not built; `pqassay suite drivers --build new` builds it\n") == (
        refused.exit_code,
        refused.stderr,
    )
    built = command("drivers", "--build", "new")
    assert (0, ["new"]) == (built.exit_code, [line.split()[0] for line in built.stdout.splitlines()])
    assert implementations.implementation("new").is_built
    assert os.access(room / "builds" / "new" / "driver", os.X_OK)
    (home / "more").write_text("x")
    assert not implementations.implementation("new").is_built


def write_wheel(folder: Path, name: str, version: str) -> None:
    """A distribution without any module."""
    folder.mkdir(exist_ok=True)
    info = f"{name}-{version}.dist-info"
    texts = {
        f"{info}/METADATA": f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n",
        f"{info}/WHEEL": "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n",
        f"{info}/RECORD": "",
    }
    with zipfile.ZipFile(folder / f"{name}-{version}-py3-none-any.whl", "w") as archive:
        for path, text in texts.items():
            archive.writestr(path, text)


def test_a_release_of_a_library_has_an_environment_that_outlives_changes_of_the_driver(
    room: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    home = made(room, "engine", package="cinnabar", older=["1.2"], command=["{python}", "{folder}/driver.py"])
    write_wheel(room / "wheels", "cinnabar", "1.2")
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    monkeypatch.setenv("PIP_FIND_LINKS", str(room / "wheels"))
    assert "engine  sh  ready, engine@1.2\n" == command("drivers").stdout
    built = command("drivers", "--build", "engine@1.2")
    assert (0, "engine@1.2  sh  ready\n") == (built.exit_code, built.stdout)

    older = implementations.implementation("engine@1.2")
    python, driver = older.argv
    assert (str(home / "driver.py"), "engine", "engine@1.2") == (driver, older.name, older.label)
    asked = [python, "-c", "from importlib import metadata; print(metadata.version('cinnabar'))"]
    assert "1.2\n" == processes.run(asked, capture_output=True, text=True).stdout
    (home / "driver.py").write_text("pass")
    assert older.is_built
    assert not implementations.implementation("engine@1.3").is_built


def test_a_release_of_a_compiled_library_is_a_build_of_its_own(room: Path) -> None:
    make = ["echo 2.0 > '{build}/library'"], ["echo {release} > '{build}/library'"]
    made(room, "engine", build=make[0], release_build=make[1], older=["1.2"], command=["{build}/driver"])
    built = command("drivers", "--build", "engine", "engine@1.2")
    newest, older = (implementations.implementation(name) for name in ("engine", "engine@1.2"))

    assert (0, "engine@1.2  sh  ready\n") == (built.exit_code, built.stdout.partition("\n")[2])
    assert ["2.0\n", "1.2\n"] == [(one.build_folder / "library").read_text() for one in (newest, older)]
    assert [str(older.build_folder / "driver")] == older.argv


def test_a_library_that_is_no_distribution_has_no_other_releases(room: Path) -> None:
    made(room, "known")
    result = command("drivers", "known@1.2")

    assert (2, "error: known: there are no other releases\n") == (result.exit_code, result.stderr)


def test_a_newer_java_than_that_of_the_search_path_is_looked_for(
    room: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, version in (("old", "17.0.15"), ("new", "25.0.1"), ("runtime", "26")):
        (room / name / "bin").mkdir(parents=True)
        (room / name / "release").write_text(f'IMPLEMENTOR="x"\nJAVA_VERSION="{version}"\n')
    for name in ("old", "new"):
        (room / name / "bin" / "javac").touch()
    monkeypatch.setenv("JAVA_HOME", str(room / "old"))
    monkeypatch.setenv("PATH", str(room))
    monkeypatch.setattr(jdk, "PLACES", (f"{room}/*",))
    made(room, "needy", needs=["java:27"])
    made(room, "young", needs=["java:21"], command=["{java}/bin/java"])

    assert ["needy  sh  needs java 27", "young  sh  ready"] == command("drivers").stdout.splitlines()
    assert [f"{room}/new/bin/java"] == implementations.implementation("young").argv
    assert room / "old" == jdk.java_home(17)


def test_a_build_that_fails_is_told_with_its_last_words(room: Path) -> None:
    made(room, "bad", build=["echo going; echo why not >&2; exit 7"])
    result = command("drivers", "--build")

    assert 1 == result.exit_code
    assert "error: bad: echo going; echo why not >&2; exit 7 ended with 7:\ngoing\nwhy not" in result.stderr
    assert not implementations.implementation("bad").is_built


def test_a_build_that_hangs_ends_at_its_limit_with_all_that_it_started(room: Path) -> None:
    line = "sleep 1000 & echo $! > {build}/child; wait"
    made(room, "slow", build=[line])
    result = command("drivers", "--build", "--timeout", "3")

    assert (1, f"error: slow: {line} did not end within 3 s; raise --timeout") == (
        result.exit_code,
        result.stderr.splitlines()[-1],
    )
    assert processes.gone(int((room / "builds" / "slow" / "child").read_text()))
    assert not implementations.implementation("slow").is_built


def test_a_limit_without_a_build_is_wrong_usage(room: Path) -> None:
    made(room, "known")
    result = command("drivers", "--timeout", "3")

    assert (2, "error: --timeout is for the lines of a build; add --build\n") == (
        result.exit_code,
        result.stderr,
    )


def test_the_last_words_of_a_build_may_be_in_another_encoding(room: Path) -> None:
    made(room, "bad", build=["printf 'ge\\347ersiz' >&2; exit 7"])
    result = command("drivers", "--build")

    assert 1 == result.exit_code
    assert "exit 7 ended with 7:\nge\N{REPLACEMENT CHARACTER}ersiz\n" in result.stderr


def test_what_a_driver_needs_is_said_before_it_is_run(room: Path) -> None:
    made(room, "needy", needs=["no-such-program"])
    result = command("run", "--driver", "needy", "--case", "pqf/plain")

    assert (2, "error: the driver needy needs no-such-program\n") == (result.exit_code, result.stderr)
    with pytest.raises(ImplementationError, match="needy needs no-such-program"):
        implementations.implementation("needy").make()


def test_a_driver_that_nobody_has_heard_of_is_one_line(room: Path) -> None:
    made(room, "known")
    result = command("drivers", "unknown")

    assert (2, "error: there is no driver 'unknown'; there are known\n") == (result.exit_code, result.stderr)


def test_every_shipped_driver_can_be_read_and_says_what_it_takes() -> None:
    found = [*implementations.implementations(), *implementations.skeletons()]

    assert {"pyarrow", "duckdb", "published-idx1", "python"} <= {one.name for one in found}
    for one in found:
        assert one.title, one.name
        assert one.language, one.name
        assert one.command, one.name
        assert "{" not in "".join(one.argv), one.name
        if one.folder.parent.name != "skeletons":
            assert (one.folder / "expectations.toml").is_file(), one.name


# ----------------------------------------------------------------------------------------------- new-driver


def skeletons() -> list[Implementation]:
    return implementations.skeletons()


@pytest.mark.parametrize("language", [one.name for one in skeletons()])
def test_a_new_driver_is_the_skeleton_and_the_next_steps_are_said(language: str, tmp_path: Path) -> None:
    folder = tmp_path / "mine"
    result = command("new-driver", language, str(folder))
    copied = {path.relative_to(folder) for path in folder.rglob("*") if path.is_file()}
    source = implementations.skeleton(language).folder
    there = {path.relative_to(source) for path in source.rglob("*") if path.is_file()}

    assert 0 == result.exit_code
    assert {path for path in there if "__pycache__" not in path.parts} == copied
    assert f"  cd {folder}" in result.stdout
    assert "  pqassay suite run --operation read -- " in result.stdout
    assert "{" not in result.stdout


def test_a_new_driver_from_a_read_only_installation_can_be_edited(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    installed = tmp_path / "installed"
    shutil.copytree(implementations.skeleton("Rust").folder, installed)
    places = [installed, *installed.rglob("*")]
    for path in places:
        path.chmod(0o555 if path.is_dir() else 0o444)
    skeleton = replace(implementations.skeleton("Rust"), folder=installed)
    monkeypatch.setattr(implementations, "skeleton", lambda _: skeleton)
    result = command("new-driver", "rust", str(tmp_path / "mine"))
    made = [tmp_path / "mine", *(tmp_path / "mine").rglob("*")]

    assert 0 == result.exit_code, result.output
    assert len(places) == len(made)
    assert [] == [path for path in made if not path.stat().st_mode & stat.S_IWUSR]


def test_a_new_driver_in_python_answers(tmp_path: Path) -> None:
    folder = tmp_path / "mine"
    command("new-driver", "Python", str(folder))
    driver = [sys.executable, str(folder / "driver.py")]
    result = command(
        "run", "--operation", "read", "--case", "idx1/one-value", "--format", "json", "--", *driver
    )

    assert 0 == result.exit_code
    assert ["passed"] == [one["outcome"] for one in json.loads(result.stdout)["results"]]


def test_a_folder_that_is_there_is_left_alone(tmp_path: Path) -> None:
    (tmp_path / "mine").mkdir()
    result = command("new-driver", "python", str(tmp_path / "mine"))

    assert (2, f"error: {tmp_path}/mine already exists; name a new folder\n") == (
        result.exit_code,
        result.stderr,
    )
    assert [] == list((tmp_path / "mine").iterdir())


def test_a_language_without_skeleton_is_one_line(tmp_path: Path) -> None:
    result = command("new-driver", "cobol", str(tmp_path / "mine"))

    assert 2 == result.exit_code
    assert (
        "error: there is no skeleton for cobol; there are go, java, javascript, python, rust\n"
        == result.stderr
    )
    assert not (tmp_path / "mine").exists()


@pytest.mark.parametrize("name", ["drivers", "new-driver", "run"])
def test_help_has_an_example(name: str) -> None:
    assert "Example" in command(name, "--help").stdout
