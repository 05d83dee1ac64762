"""The command ``pqassay driver``: this project's own reader and writer, as a driver for `pqassay suite run`."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated

import typer

from pqassay_reader.cli.scan_files import TrustName
from pqassay_reference.cli.errors import fail
from pqassay_spec.base.help_pages import epilog, example


@example(
    epilog("`pqassay suite run -- pqassay driver`", codes="0 answered, 1 failed, 2 usage, 3 not supported")
)
def driver(
    request: Annotated[
        Path | None, typer.Argument(metavar="REQUEST", help="Request, a JSON file.", show_default=False)
    ] = None,
    answer: Annotated[
        Path | None,
        typer.Argument(metavar="ANSWER", help="File to write the answers to.", show_default=False),
    ] = None,
    trust: Annotated[
        TrustName,
        typer.Option(
            metavar="INDEX",
            help="Indexes a scan may use: companion (with companion record) or published (any).",
        ),
    ] = TrustName.COMPANION,
    serve: Annotated[
        bool, typer.Option("--serve", help="Answer requests from stdin, one per line, until it ends.")
    ] = False,
) -> None:
    """Answer requests of `pqassay suite run` as the reference implementation."""
    from pqassay_reader.cli.driver import NotSupportedError, answer_file
    from pqassay_reader.cli.driver import serve as answer_lines

    if serve == (request is not None) or (request is None) != (answer is None):
        fail("name a request and an answer, or --serve alone: pqassay driver REQUEST ANSWER", 2)
    try:
        if request is None or answer is None:
            answer_lines(sys.stdin.buffer, sys.stdout, trust=trust.value)
        else:
            answer_file(request, answer, trust=trust.value)
    except NotSupportedError as error:
        fail(str(error), 3)
    except (OSError, ValueError, KeyError, TypeError) as error:
        fail(f"{request or 'a request'}: {error}", 1)
