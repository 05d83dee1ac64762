"""From a Parquet file to a verdict: write one, embed an index, check it, damage a copy, check that.

``make demo`` runs it. Every line that begins with ``$`` is a command, printed and then run; the files stay in
``build-demo``.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from itertools import takewhile
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

from pqassay_spark.jobs.java import JavaMissingError, require_java
from pqassay_spark.produce.sales import CATEGORIES, NATIONS, YEARS
from pqassay_spec.base.sources import FileSource
from pqassay_spec.idx1 import blob as idx1
from pqassay_spec.parquet.file import read_footer, read_framing

ROOT = Path(__file__).resolve().parent.parent
FOLDER = Path("build-demo")
GOOD = FOLDER / "sales.parquet"
DAMAGED = FOLDER / "damaged.parquet"

ROWS = 20_000
COLUMN = "nation"
VALUE, IMPOSTOR = "Singapore", "Singapura"


def emphasised(text: str, code: str) -> str:
    """Text in bold or colour on a terminal, plain in a pipe."""
    return f"\033[{code}m{text}\033[0m" if sys.stdout.isatty() and "NO_COLOR" not in os.environ else text


def heading(text: str) -> None:
    """Say what comes next."""
    print(f"\n{emphasised(text, '1')}", flush=True)


def command_line(command: str) -> list[str]:
    """The words of a command, its program from beside this Python if it is there."""
    name, *arguments = command.split()
    program = Path(sys.executable).with_name(name)
    return [str(program) if program.exists() else name, *arguments]


def run(command: str, *, expect: int = 0) -> None:
    """Print a command and run it; leave the program if it ends in another way than expected."""
    print(emphasised(f"$ {command}", "36"), flush=True)
    result = subprocess.run(command_line(command), check=False)
    if result.returncode != expect:
        sys.exit(
            f"{Path(sys.argv[0]).stem}: `{command.split(maxsplit=1)[0]}` ended with exit status {result.returncode}, not {expect}"
        )


def write_with_spark() -> None:
    """Let Spark write the sales, and take its one data file."""
    run(f"pqassay spark produce {FOLDER / 'spark'} --rows {ROWS}")
    (part,) = (FOLDER / "spark").glob("part-*.parquet")
    run(f"cp {part} {GOOD}")


def write_with_arrow() -> None:
    """Write similar sales without Spark."""
    rows = range(ROWS)
    columns = {
        "id": pa.array(rows, pa.int64()),
        COLUMN: pa.array(
            [NATIONS[(i * 7 + i // 20) % len(NATIONS)] if i % 20 else None for i in rows], pa.string()
        ),
        "year": pa.array([YEARS[i % len(YEARS)] for i in rows], pa.int32()),
        "category": pa.array([CATEGORIES[i // 7 % len(CATEGORIES)] for i in rows], pa.string()),
        "sales_amount": pa.array([i * 37 % 999_983 / 100 if i % 30 else None for i in rows], pa.float64()),
    }
    pq.write_table(pa.table(columns), GOOD, write_page_index=True)
    print(f"{GOOD}: {ROWS} rows, written by pyarrow {pa.__version__}")


def overwrite_value(path: Path, old: str, new: str) -> None:
    """Replace one value of a file's index by another of the same length; nothing else changes."""
    with FileSource(path) as source:
        framing = read_framing(source)
        metadata, _ = read_footer(source, framing)
        (text,) = [pair.value for pair in metadata.key_value_metadata or [] if pair.key == idx1.KEY]
        blob = idx1.read_blob(source, idx1.parse_offset(str(text)), framing.footer_start)
    before = takewhile(lambda value: value != old, idx1.exact_values(blob.payload))
    position = blob.payload_start + sum(len(f"{value}{idx1.SEPARATOR}".encode()) for value in before)
    with path.open("r+b") as file:
        file.seek(position)
        if file.read(len(old.encode())) != old.encode() or len(old.encode()) != len(new.encode()):
            sys.exit(f"demo: {old!r} is not at offset {position} of {path}, or {new!r} is not there any more")
        file.seek(position)
        file.write(new.encode())
    print(f"{path}: {old!r} at offset {position} is now {new!r}")


def main() -> None:
    """Run the demo."""
    os.chdir(ROOT)
    shutil.rmtree(FOLDER, ignore_errors=True)
    FOLDER.mkdir()
    try:
        java = require_java()
    except JavaMissingError as error:
        heading("1. Write sales data as a Parquet file (with pyarrow: there is no Java for Spark here)")
        print(error)
        write_with_arrow()
    else:
        heading(f"1. Write sales data as a Parquet file, with Spark on Java {java} (takes some ten seconds)")
        write_with_spark()

    heading(f"2. Embed an index into it: the distinct values of column {COLUMN}")
    run(f"pqassay embed {GOOD} --column {COLUMN}")

    heading("3. Check the file: it is as the specification wants it")
    run(f"pqassay check {GOOD}")

    hidden = pq.read_table(GOOD, columns=[COLUMN]).column(COLUMN).to_pylist().count(VALUE)
    heading(f"4. Damage a copy: write another name over {VALUE} in the index")
    print(f"A query for {VALUE} would now skip the file and lose its {hidden} rows. No reader would notice.")
    shutil.copyfile(GOOD, DAMAGED)
    overwrite_value(DAMAGED, VALUE, IMPOSTOR)

    heading("5. Check the damaged copy: it must fail")
    run(f"pqassay check {DAMAGED}", expect=1)

    heading("All went as it should: exit status 0 for the good file, 1 for the damaged one.")
    programs = Path(sys.executable).parent
    if programs.is_relative_to(ROOT):
        programs = programs.relative_to(ROOT)
    print(f"Files to look at: {GOOD}, {DAMAGED}")
    print("Try next:")
    suggestions = {
        f"pqassay dump {DAMAGED} --hexdump | less": "every byte with its field",
        "pqassay explain IDX1-016": "the rule that failed",
        f"pqassay index extract {GOOD}": "the values in the index",
    }
    for command, purpose in suggestions.items():
        print(f"  {f'{programs}/{command}':<68}  {purpose}")


if __name__ == "__main__":
    main()
