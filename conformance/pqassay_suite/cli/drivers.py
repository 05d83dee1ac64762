"""The commands ``pqassay suite drivers`` (the shipped drivers) and ``pqassay suite new-driver`` (a skeleton for a new one)."""

from __future__ import annotations

import shutil
import stat
from pathlib import Path
from typing import Annotated

import typer

from pqassay.cli.failure import fail
from pqassay_spec.base.help_pages import epilog, example
from pqassay_suite.cli.driver import failing

EPILOG = epilog(
    "`pqassay suite drivers`",
    "`pqassay suite drivers --build arrow-go` (then `pqassay suite run --driver arrow-go`)",
    "`pqassay suite drivers --build duckdb@1.3.2` (another release of its library)",
    codes="0 done, 1 a driver could not be built, 2 usage",
)

NEW_EPILOG = epilog(
    "`pqassay suite new-driver go my-driver` (prints the next steps)", codes="0 written, 2 usage"
)


@example(EPILOG)
def drivers(
    names: Annotated[
        list[str] | None,
        typer.Argument(metavar="NAME...", help="Drivers to list or build. Default: all.", show_default=False),
    ] = None,
    build: Annotated[
        bool, typer.Option("--build", help="Build missing drivers, if this machine can.")
    ] = False,
    timeout: Annotated[
        float | None,
        typer.Option(
            metavar="SECONDS",
            min=0.1,
            help="Time limit for each build command. Default: 1800.",
            show_default=False,
        ),
    ] = None,
) -> None:
    """List the drivers that come with pqassay, or build them."""
    from pqassay_suite.drivers.implementations import (
        BUILD_SECONDS,
        ImplementationError,
        implementation,
        implementations,
    )

    if timeout is not None and not build:
        fail("--timeout is for the lines of a build; add --build")
    with failing(ImplementationError):
        shipped = [implementation(name) for name in names] if names else implementations()
    failed = False
    widths = [
        max(len(text) for text in column) + 2
        for column in zip(*((one.label, one.language) for one in shipped), strict=True)
    ]
    for one in shipped:
        if build and not one.missing and not one.is_built:
            typer.echo(f"{one.label}: building", err=True)
            try:
                one.make(lambda line: typer.echo(f"  {line}", err=True), timeout or BUILD_SECONDS)
            except ImplementationError as error:
                typer.echo(f"error: {error}", err=True)
                failed = True
        state = _state(one.missing, is_built=one.is_built)
        state += "".join(f", {one.of_release(release).label}" for release in one.older)
        typer.echo(f"{one.label:<{widths[0]}}{one.language:<{widths[1]}}{state}")
    if failed:
        raise typer.Exit(1)


def _state(missing: list[str], *, is_built: bool) -> str:
    if missing:
        return f"needs {', '.join(need.removeprefix('python:').replace(':', ' ') for need in missing)}"
    return "ready" if is_built else "not built"


def _copy_as_new(source: Path, target: Path) -> None:
    """Copy a folder with the default modes of new files; folders become writable even if those of the installation are not."""
    ignored = shutil.ignore_patterns("__pycache__")
    shutil.copytree(source, target, ignore=ignored, copy_function=shutil.copyfile)
    for path in (target, *target.rglob("*")):
        if path.is_dir():
            path.chmod(path.stat().st_mode | stat.S_IWUSR)


@example(NEW_EPILOG)
def new_driver(
    language: Annotated[
        str,
        typer.Argument(
            metavar="LANGUAGE", help="Language: python, go, rust, java or javascript.", show_default=False
        ),
    ],
    folder: Annotated[
        Path, typer.Argument(metavar="FOLDER", help="New folder for the driver.", show_default=False)
    ],
) -> None:
    """Create a driver skeleton in a language.

    It builds, answers hello, and reads files with a library that you replace.
    """
    from pqassay_suite.drivers.implementations import ImplementationError, skeleton

    with failing(ImplementationError):
        template = skeleton(language)
    if folder.exists() or folder.is_symlink():
        fail(f"{folder} already exists; name a new folder")
    beside = folder.with_name(f".{folder.name}.new")
    try:
        with failing(of=folder):
            _copy_as_new(template.folder, beside)
            beside.rename(folder)
    finally:
        shutil.rmtree(beside, ignore_errors=True)
    filled = [
        part.replace("{folder}", ".").replace("{build}", "build")
        for part in (*template.build, *template.command)
    ]
    lines = [line.replace("{python}", "python3") for line in filled[: len(template.build)]]
    command = " ".join(part.replace("{python}", "python3") for part in filled[len(template.build) :])
    typer.echo(f"{folder} holds a driver in {template.language}. Next:")
    typer.echo(f"  cd {folder}" + (" && mkdir -p build" if lines else ""))
    for line in lines:
        typer.echo(f"  {line}")
    typer.echo(f"  pqassay suite run --operation read -- {command}")
