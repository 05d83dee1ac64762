from __future__ import annotations

import ast
import json
import os
import sys
import tarfile
import tomllib
import zipfile
from collections import Counter
from importlib import metadata
from pathlib import Path

import pytest
from packaging.requirements import Requirement

import processes
from places import GOLDEN_FILES, ROOT
from pqassay_spec import __version__

ROOMS = {
    "pqassay_spec": ROOT / "spec" / "pqassay_spec",
    "pqassay_spec/chapters": ROOT / "spec" / "chapters",
    "pqassay_spec/revisions": ROOT / "spec" / "revisions",
    "pqassay_reference": ROOT / "reference_impl" / "pqassay_reference",
    "pqassay_reader": ROOT / "reference_impl" / "pqassay_reader",
    "pqassay": ROOT / "conformance" / "pqassay",
    "pqassay_suite": ROOT / "conformance" / "pqassay_suite",
    "pqassay_lake": ROOT / "conformance" / "pqassay_lake",
    "pqassay_tables": ROOT / "conformance" / "pqassay_tables",
    "pqassay_spark": ROOT / "pipeline" / "pqassay_spark",
    "pqassay_spec/golden_files": GOLDEN_FILES,
    "pqassay_suite/implementations": ROOT / "conformance" / "implementations",
}
"""Where the folders of the wheel are in the repository."""


PACKAGES = [
    "conformance/pqassay",
    "conformance/pqassay_lake",
    "conformance/pqassay_suite",
    "conformance/pqassay_tables",
    "pipeline/pqassay_spark",
    "reference_impl/pqassay_golden",
    "reference_impl/pqassay_reader",
    "reference_impl/pqassay_reference",
    "spec/pqassay_spec",
]
"""The packages of the repository. Only the recipes of golden files are in no wheel."""


MOST_LINES = 10_500
"""Lines of the small reference. It only ever sinks: what profits from metadata is the reader's."""


def files_below(folder: Path) -> set[str]:
    """The files of a folder, but for what Python leaves there."""
    paths = (path for path in folder.rglob("*") if path.is_file() and "__pycache__" not in path.parts)
    return {str(path.relative_to(folder)) for path in paths}


def clean_environment() -> dict[str, str]:
    """The environment without what would let the repository's own modules be imported."""
    return {name: value for name, value in os.environ.items() if not name.startswith("PYTHON")}


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the sdist, and the wheel that was built from it."""
    out = tmp_path_factory.mktemp("dist")
    _build("sdist", ROOT, out)
    (sdist,) = out.glob("*.tar.gz")
    with tarfile.open(sdist) as archive:
        archive.extractall(out, filter="data")
    _build("wheel", out / sdist.name.removesuffix(".tar.gz"), out)
    return out


def _build(target: str, source: Path, out: Path) -> None:
    # the build backend is installed beside the tests: nothing is downloaded
    command = [sys.executable, "-m", "hatchling", "build", "--target", target, "--directory", str(out)]
    run = processes.run(command, stdout=processes.PIPE, stderr=processes.STDOUT, text=True, cwd=source)
    assert run.returncode == 0, run.stdout


@pytest.fixture(scope="module")
def wheel(built: Path) -> Path:
    (path,) = built.glob("*.whl")
    return path


@pytest.fixture(scope="module")
def core(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A fresh virtual environment with the wheel and what it requires without any extra, and nothing else."""
    home = tmp_path_factory.mktemp("core") / "venv"
    processes.run([sys.executable, "-m", "venv", "--without-pip", str(home)], check=True)
    (site_packages,) = home.glob("lib/python*/site-packages")
    for name in required("pqassay"):
        distribution = metadata.distribution(name)
        for top in {
            file.parts[0] for file in distribution.files or () if file.parts[0] not in ("..", "__pycache__")
        }:
            (site_packages / top).symlink_to(str(distribution.locate_file(top)))
    install = [sys.executable, "-m", "pip", "--python", str(home / "bin" / "python"), "install"]
    # What is never imported need not be compiled.
    plain = ["--no-compile", "--no-deps", "--no-index", "--quiet"]
    processes.run([*install, *plain, str(wheel)], check=True, env=clean_environment())
    return home


def required(name: str) -> set[str]:
    """The distributions that one needs without extras, all the way down."""
    found: set[str] = set()
    waiting = [name]
    while waiting:
        for text in metadata.requires(waiting.pop()) or ():
            requirement = Requirement(text)
            is_needed = requirement.marker is None or requirement.marker.evaluate({"extra": ""})
            if is_needed and requirement.name not in found:
                found.add(requirement.name)
                waiting.append(requirement.name)
    return found


def run(home: Path, *command: str) -> processes.Completed[str]:
    """Run a program of an installed environment."""
    return processes.run(
        [str(home / "bin" / command[0]), *command[1:]],
        capture_output=True,
        text=True,
        cwd=home,
        env=clean_environment(),
    )


def test_each_package_is_in_the_contracts_and_all_but_the_golden_maker_in_the_wheel() -> None:
    settings = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["tool"]
    found = [
        str(path.parent.relative_to(ROOT))
        for folder in ("conformance", "pipeline", "reference_impl", "spec")
        for path in sorted((ROOT / folder).glob("*/__init__.py"))
    ]
    names = {path.rpartition("/")[2] for path in PACKAGES}
    in_wheel = {
        name for name in settings["hatch"]["build"]["targets"]["wheel"]["sources"].values() if "/" not in name
    }

    assert PACKAGES == found
    assert names == set(settings["importlinter"]["root_packages"])
    assert set(PACKAGES) <= set(settings["mypy"]["files"])
    assert names - {"pqassay_golden"} == in_wheel


OF_TWO_FORMATS = {"ColumnChunk", "SortingColumn"}
"""Structures of Parquet and of ``_pm``, which are named by their formats."""


@pytest.mark.parametrize("package", PACKAGES)
def test_a_class_name_is_unique_in_its_package(package: str) -> None:
    names = Counter(
        node.name
        for path in (ROOT / package).rglob("*.py")
        for node in ast.parse(path.read_text("utf-8")).body
        if isinstance(node, ast.ClassDef)
    )

    assert set() == {name for name, count in names.items() if count > 1} - OF_TWO_FORMATS


def test_the_reference_stays_small_enough_to_be_read() -> None:
    modules = (ROOT / "reference_impl" / "pqassay_reference").rglob("*.py")

    assert sum(len(module.read_text("utf-8").splitlines()) for module in modules) <= MOST_LINES


def test_the_wheel_holds_every_file_of_the_packages_and_the_golden_files(wheel: Path) -> None:
    with zipfile.ZipFile(wheel) as archive:
        found = {name for name in archive.namelist() if ".dist-info/" not in name}
    expected = {f"{name}/{file}" for name, folder in ROOMS.items() for file in files_below(folder)}
    assert found == expected


def test_the_wheel_holds_what_is_no_python(wheel: Path) -> None:
    with zipfile.ZipFile(wheel) as archive:
        names = archive.namelist()
    expected = {
        "pqassay/py.typed",
        "pqassay_reference/py.typed",
        "pqassay_spark/jobs/log4j2.properties",
        "pqassay_spark/py.typed",
        "pqassay_spec/chapters/idx1.md",
        "pqassay_spec/py.typed",
        "pqassay_spec/revisions/1.0.toml",
        "pqassay_spec/rules/idx1.toml",
        "pqassay_spec/rules/parquet_file.toml",
    }
    assert set() == expected - set(names)
    assert [name for name in names if name.startswith("pqassay/schemas/") and name.endswith(".json")]
    golden = [name for name in names if name.startswith("pqassay_spec/golden_files/")]
    assert [name for name in golden if name.endswith(".parquet")]


def test_the_sdist_holds_the_chapters_and_what_the_tests_need(built: Path) -> None:
    (path,) = built.glob("*.tar.gz")
    with tarfile.open(path) as archive:
        names = {name.partition("/")[2] for name in archive.getnames()}
    chapters = {f"spec/chapters/{file}" for file in files_below(ROOT / "spec" / "chapters")}
    assert chapters
    assert chapters <= names
    assert {"LICENSE", "Makefile", "README.md", "constraints.txt", "mkdocs.yml", "pyproject.toml"} <= names
    assert {f"tests/{file}" for file in files_below(ROOT / "tests")} <= names


def test_the_installed_commands_tell_their_version(core: Path) -> None:
    for command in ("pqassay", "pqassay-ref", "pqassay-spark"):
        told = run(core, command, "--version")
        note = (
            ""
            if command == "pqassay"
            else f"note: `{command}` is now `pqassay{command[7:].replace('-ref', '').replace('-', ' ')}`\n"
        )
        assert (told.returncode, told.stdout, told.stderr) == (0, f"pqassay {__version__}\n", note)


ASKING = """
import importlib.util as u, json, pathlib, sys
import pqassay
from pqassay.cli.main import app
from typer.testing import CliRunner
done = [CliRunner().invoke(app, arguments) for arguments in json.loads(sys.argv[1])]
extras = [n for n in ("duckdb", "polars", "pyspark", "pytest") if u.find_spec(n)]
place = str(pathlib.Path(pqassay.__file__).parent.parent)
print(json.dumps([place, extras, [[one.exit_code, one.stdout, one.stderr] for one in done]]))
"""
"""Asks for several commands in one process: to start one for each takes longer than what they do."""


def test_the_core_alone_checks_reads_and_runs_and_says_which_extra_brings_spark(core: Path) -> None:
    (site_packages,) = core.glob("lib/python*/site-packages")
    golden = str(site_packages / "pqassay_spec" / "golden_files" / "idx1" / "plain" / "data.parquet")
    commands = (
        (["check", golden], f"{golden}: conformant\n"),
        (["explain", "PIX-050"], "PIX-050"),
        (["dump", golden], "footer"),
        (["scan", golden, "year > 0"], "year"),
    )
    refused = ["spark", "check", golden]
    asked = json.dumps([*(command for command, _ in commands), refused])
    place, extras, done = json.loads(run(core, "python", "-c", ASKING, asked).stdout)

    assert (str(site_packages), []) == (place, extras)
    for (command, part), (code, shown, error) in zip(commands, done[:-1], strict=True):
        assert (command, 0) == (command, code), error
        assert part in shown
    assert (2, True) == (done[-1][0], "pip install '.[spark]'" in done[-1][2])

    suite = ["suite", "run", "--case", "idx1/plain", "--", str(core / "bin" / "pqassay"), "driver"]
    ran = run(core, "pqassay", *suite)
    assert (0, True) == (ran.returncode, "IDX1  encode   1 of 1 passed" in ran.stdout), ran.stderr
