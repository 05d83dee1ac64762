"""What a run keeps with ``--keep``: request, answers and files of each exchange, in a folder of its own."""

from __future__ import annotations

import shutil
from pathlib import Path

from pqassay_suite.drivers import protocol
from pqassay_suite.judging.bench import Bench


def keep(home: Path | None, bench: Bench, case: str, request: protocol.CaseRequest, name: str) -> None:
    """Keep an exchange below the folder of a case, with the paths of where it is kept.

    Args:
        home: Where exchanges are kept; ``None`` if they are not.
        bench: The folder of the exchange; the driver's lines are in its ``answers.jsonl``.
        case: Id of the case that it is about.
        request: The request.
        name: The folder's name.
    """
    if home is None or not bench.folder.is_dir():
        return
    target = home.resolve() / case / name
    target.mkdir(parents=True, exist_ok=True)
    for path in bench.folder.iterdir():
        if path.is_file() and not path.is_symlink():
            shutil.copyfile(path, target / path.name)
    text = protocol.to_json(request).replace(str(bench.folder), str(target))
    (target / "request.json").write_text(text, encoding="ascii")
