"""The commands ``pqassay export-pack`` and ``pqassay export-status``: what others use without running pqassay.

Exit codes: 0 written; 2 wrong usage.
"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from pqassay.cli.failure import fail

PACK_EPILOG = (
    "Examples: `pqassay export-pack parquet-files`, `pqassay export-pack --family PIX --family BLM indexes`. "
    "Exit codes: 0 written, 2 usage."
)


def export_pack(
    folder: Annotated[
        Path,
        typer.Argument(
            metavar="DIR",
            help="A folder that is not there, is empty, or holds an earlier pack, which is replaced.",
            show_default=False,
        ),
    ],
    family: Annotated[
        list[str] | None,
        typer.Option(
            metavar="FAMILY",
            help="Only this family, such as PIX; may be repeated. Default: all.",
            show_default=False,
        ),
    ] = None,
    whole: Annotated[
        bool, typer.Option("--all", help="Every golden file that a reader can be tested by, not a choice.")
    ] = False,
) -> None:
    """Write chosen golden files as a folder that tests use without pqassay: data, bad_data, manifest, README, licence."""
    from pqassay.suite.cases import CaseError, golden_folder, load
    from pqassay.suite.pack import PackError, chosen, contents, packed, require_replaceable, write_pack
    from pqassay.suite.pack_pages import pages
    from pqassay_spec.rules.catalogue import families

    known = [one.prefix for one in families()]
    wanted = [name.upper() for name in family or ()]
    if strange := [name for name in wanted if name not in known]:
        fail(f"there is no family {strange[0]}; there are {', '.join(known)}")
    try:
        require_replaceable(folder)
        packs = [packed(golden) for golden in chosen(load(golden_folder()), wanted, whole=whole)]
        if not packs:
            fail(f"no golden file of {', '.join(wanted)} tests a reader; name another family")
        files = contents(packs, pages(packs))
        write_pack(folder, files)
    except (CaseError, PackError) as error:
        fail(str(error))
    except OSError as error:
        fail(f"{error.filename or folder}: {error.strerror or error}")
    bad = sum(each.golden.case.kind != "valid" for each in packs)
    size = sum(map(len, files.values()))
    typer.echo(
        f"{folder}: {len(packs) - bad:,} valid and {bad:,} damaged files, {size / 1024:,.0f} KiB in all"
    )
    typer.echo(f"  begin with {folder / 'README.md'}")
