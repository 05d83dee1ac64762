"""Write every file that is computed from other files of this repository: ``make generate``.

    python tools/generate.py                        write all stale files
    python tools/generate.py --check                write nothing; name stale files, and fail if there are any
    python tools/generate.py schemas "null scores"  write only these

Measurements and answers of engines have commands of their own, which store the figures. A test runs the check.
"""

from __future__ import annotations

import argparse
import importlib
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from page_tables import figures_of, rendered, tables_in, with_tables

from pqassay_golden.generator import write_golden_files
from pqassay_golden.tables import write_golden_tables
from pqassay_spec.base.sources import write_whole

ROOT = Path(__file__).resolve().parent.parent


@dataclass(frozen=True)
class Derived:
    """Files that a module generates.

    Attributes:
        name: The name of the group of files.
        outputs: Globs of the files.
        inputs: Globs of the source files, except the code of the module.
        module: A module whose ``contents()`` returns the text of each file by its path.
        notice: A reminder for changes.
    """

    name: str
    outputs: tuple[str, ...]
    inputs: tuple[str, ...]
    module: str
    notice: str = ""

    def contents(self) -> Mapping[str, str]:
        """The text that each file should have, by its path."""
        made: Mapping[str, str] = importlib.import_module(self.module).contents()
        return made

    def update(self, *, write: bool) -> list[str]:
        """Update the files if ``write`` is set; return the stale paths."""
        stale = {path: text for path, text in self.contents().items() if text != _stored(path)}
        if write:
            for path, text in stale.items():
                write_whole(ROOT / path, text.encode())
        return list(stale)


class PageTables(Derived):
    """Tables in pages, and pictures, from templates of `page_tables`.

    The first input has their figures, unless a module of the same name reads them.
    """

    def contents(self) -> Mapping[str, str]:
        """See `Derived`; the pages with regenerated tables."""
        figures = figures_of(self.module, ROOT / self.inputs[0])
        tables = tables_in(self.module, figures)
        return {
            path: rendered(f"{self.module}.svg", figures)
            if path.endswith(".svg")
            else with_tables(_stored(path), tables)
            for path in self.outputs
        }


class GoldenFiles(Derived):
    """The golden files, whose own writer removes obsolete ones and keeps cases of other software."""

    def update(self, *, write: bool) -> list[str]:
        """Update the golden files if ``write`` is set; return the folders of stale cases."""
        folder = ROOT / "golden_files"
        files = write_golden_files(folder, dry_run=not write)
        changed, _, removed = write_golden_tables(folder, dry_run=not write)
        return [f"golden_files/{name}" for name in (*files.changed, *files.removed, *changed, *removed)]


def _stored(path: str) -> str:
    file = ROOT / path
    return file.read_text("utf-8") if file.is_file() else ""


RULES = "spec/pqassay_spec/rules/*.toml"
SCHEMAS = ("conformance/pqassay/schemas/*.json", "spec/pqassay_spec/rules/rules.schema.json")
GOLDEN = "golden_files/**/*"
CHAIN = "golden_files/interop/questdb-9.4.3/o3-chain-*/*"
FAKES = "tests/suite/fakes/*"
JUDGE, SUITE = "conformance/pqassay/**/*.py", "conformance/pqassay_suite/**/*.py"
LAKE = "conformance/pqassay_lake/**/*.py"
COMMANDS = (JUDGE, LAKE, SUITE, "reference_impl/*/cli/*.py", "pipeline/pqassay_spark/cli/*.py")
CHANGED_CASE = "A case in a revision should stay as it is: give what is new an id of its own, or say in the changelog that the draft took it in."

REGISTRY: tuple[Derived, ...] = (
    GoldenFiles("golden files", (GOLDEN,), (RULES, "reference_impl/pqassay_golden/**/*"), "pqassay_golden"),
    Derived("schemas", SCHEMAS, (RULES, JUDGE, SUITE), "schemas"),
    Derived("value corpus", ("conformance/pqassay/corpus/values.json",), ("conformance/pqassay/literals/*.py",), "value_corpus"),
    Derived("picture of an update", ("spec/chapters/pictures/pm-update.svg",), (CHAIN,), "pm_update_picture"),
    Derived("revision drafts", ("spec/revisions/*.toml",), ("spec/revisions/*.toml", GOLDEN), "revisions", CHANGED_CASE),
    Derived("null scores", ("conformance/implementations/null_scores.toml",), (RULES, GOLDEN, FAKES, SUITE), "null_scores"),
    Derived("shapes", ("spec/pqassay_spec/rules/shapes.json",), (RULES, GOLDEN, JUDGE, "golden_files/**/table.json", "spec/pqassay_spec/rules/observed.json"), "shapes"),
    Derived("observed", ("README.md", "docs/**/*.md"), ("spec/pqassay_spec/rules/observed.json",), "observe"),
    PageTables("picture of indexes", ("docs/assets/which-index.svg",), ("benchmarks/which_index_figures.json",), "which_index"),
    PageTables("commands", ("docs/guide/commands.md",), COMMANDS, "commands"),
    PageTables("findings", ("docs/guide/findings.md",), ("docs/guide/findings-*.md",), "findings"),
)  # fmt: skip
"""The groups of files in order: each comes after its inputs."""


def main(arguments: Sequence[str] | None = None) -> int:
    """Write or compare the files; return the exit status."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    names = [derived.name for derived in REGISTRY]
    parser.add_argument("names", nargs="*", metavar="NAME", help=f"{', '.join(names)} (default: all)")
    parser.add_argument("--check", action="store_true", help="write nothing; fail if anything is stale")
    options = parser.parse_args(arguments)
    if unknown := [name for name in options.names if name not in names]:
        parser.error(f"{unknown[0]} is not in the registry: {', '.join(names)}")
    stale = 0
    for derived in REGISTRY:
        if options.names and derived.name not in options.names:
            continue
        changed = derived.update(write=not options.check)
        stale += len(changed)
        for path in changed:
            print(f"{path} is stale: make generate" if options.check else path, flush=True)
        if changed and derived.notice:
            print(derived.notice)
    return 1 if options.check and stale else 0


if __name__ == "__main__":
    sys.exit(main())
