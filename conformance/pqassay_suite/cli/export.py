"""The command ``pqassay suite pack``: golden files for use without pqassay."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from pqassay.cli.failure import fail
from pqassay_spec.base.help_pages import epilog, example
from pqassay_suite.cli.driver import failing

PACK_EPILOG = epilog(
    "`pqassay suite pack parquet-files`",
    "`pqassay suite pack --family PIX --family BLM indexes`",
    "`pqassay suite pack --seeds seeds`",
    codes="0 written, 2 usage",
)


@example(PACK_EPILOG)
def export_pack(
    folder: Annotated[
        Path,
        typer.Argument(
            metavar="DIR",
            help="New or empty folder, or an earlier pack to replace.",
            show_default=False,
        ),
    ],
    family: Annotated[
        list[str] | None,
        typer.Option(
            metavar="FAMILY",
            help="Pack only this family, such as PIX; repeatable. Default: all.",
            show_default=False,
        ),
    ] = None,
    whole: Annotated[
        bool, typer.Option("--all", help="Pack every golden file that can test a reader.")
    ] = False,
    as_seeds: Annotated[
        bool, typer.Option("--seeds", help="Write seeds for fuzzers only: every small golden file.")
    ] = False,
) -> None:
    """Write golden files into a folder for tests without pqassay.

    The folder holds data, bad_data, a manifest, digests, a README and the license.
    """
    from pqassay_spec.rules.catalogue import families
    from pqassay_suite.cases.case import CaseError, golden_folder, load
    from pqassay_suite.cases.pack import (
        PackError,
        chosen,
        contents,
        packed,
        require_replaceable,
        seeds,
        write_pack,
    )
    from pqassay_suite.cases.pack_pages import pages

    known = [one.prefix for one in families()]
    names = [name.upper() for name in family or ()]
    if strange := [name for name in names if name not in known]:
        fail(f"there is no family {strange[0]}; there are {', '.join(known)}")
    with failing(CaseError, PackError):
        require_replaceable(folder)
        packs = [packed(golden) for golden in chosen(load(golden_folder()), names, whole=whole or as_seeds)]
        if not packs:
            fail(f"no golden file of {', '.join(names)} tests a reader; name another family")
        files = seeds(packs) if as_seeds else contents(packs, pages(packs))
        write_pack(folder, files)
    bad = sum(each.golden.case.kind != "valid" for each in packs)
    size = sum(map(len, files.values()))
    if as_seeds:
        folders = sorted({path.partition("/")[0] for path in files})
        typer.echo(
            f"{folder}: {len(files):,} seeds, {size / 1024:,.0f} KiB in all, in {' and '.join(folders)}"
        )
        return
    typer.echo(
        f"{folder}: {len(packs) - bad:,} valid and {bad:,} damaged files, {size / 1024:,.0f} KiB in all"
    )
    typer.echo(f"  begin with {folder / 'README.md'}")
