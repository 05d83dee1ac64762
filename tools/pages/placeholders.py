"""Placeholders: comments in Markdown that are replaced by generated lines.

A page asks for a table with an HTML comment on a line of its own, so that the Markdown reads well unrendered:

<!-- rules: IDX1 -->                the rules of one family for files, each a box and an anchor (``#idx1-016``)
<!-- reader rules: PIX -->         the rules of one family for readers, with the golden files that test each
<!-- relied on: PIX-050,PIX-051 -->     these rules, with what breaking each of them could do
<!-- revision: IDX1 -->             the status of a chapter: the documents that its rules come from at their revisions, errata, how to cite it
<!-- releases: parquet-format -->  the releases of a format, and what shows them
<!-- all rules -->                  the rules of all families in one table
<!-- fields: idx1.blob.BLOB -->     the fields of a construct or Thrift struct of ``pqassay_spec``
<!-- layout: idx1.blob.BLOB -->     the bytes of a construct as a picture, whose boxes lead to the table of fields, see `layouts`
<!-- stepper: pm-chain -->         the states of an algorithm one after another, drawn from golden files, see `steppers`
<!-- enum: grammar.thrift_wire.WireType --> the names of an enum, or of the bits of flags
<!-- companion fields -->           the members of IDX1's companion record
<!-- members: pm.from_parquet.questdb_key.COLUMN_FIELDS --> the members of a JSON object
<!-- all footer structs -->         every Thrift struct and enum that FileMetaData reaches
<!-- all cases -->            all golden files with a filter; only on their index page
<!-- recall -->              the false facts that were tried, with a filter; only on the page of recall
<!-- museum: exhibits -->        the exhibits of the museum, with a filter, and ``absent``: what no file shows
<!-- results: overview -->      what implementations answer about the golden files, see `results_tables`
<!-- matrix: implementations/index.html -->  the gravest answer of each implementation for each family, for the page that it is on
<!-- table matrix: implementations/index.html -->  what engines do with false claims of tables, for the page that it is on
<!-- table headline -->        the same in a sentence; only on the home page
<!-- headline -->              how many lies cost each implementation rows; only on the home page
<!-- small matrix -->          who is misled by the worst of them; only on the home page
<!-- install -->               the line that installs the kit
<!-- downloads -->             what can be downloaded; only on the page of data
<!-- repository file: CHANGELOG.md --> a file of the repository's root, with its links as they lead from here
<!-- checker -->               the checker in the browser; only on its page
<!-- status -->                the status of implementations by feature
<!-- errata: page-index -->        mistakes in a document of ``docs/data/errata.toml``, each with what shows it
<!-- errata: pm -->                the table of the chapter on ``_pm``, with its links as seen from another page
<!-- upstream -->              the pages of ``docs/upstream``, each a defect written as an issue, with its state
<!-- findings table -->             the columns of the table that `--reuse` writes
<!-- history -->                    the columns of what `pqassay check --history` appends to
<!-- site table: kept-sorted -->    a table that a module of `page_tables` makes, see `site_tables`

A comment of such a form with an unknown name fails the build.

A link to the folder of a golden case, such as ``[this file](../../golden_files/blm/zeroed)``, leads to its page.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping

from pages import findings_columns, home, repository_files, site_tables
from pages.cases import case_list, museum_pages
from pages.files import checker, downloads
from pages.implementations import matrix, results_tables, status_page, upstream_issues
from pages.markup import Link, generated_page
from pages.page import inline, shared_site
from pages.pictures import field_tables, layouts
from pages.pictures.byte_layout import slug
from pages.pictures.declared import declared
from pages.rules import errata_tables, reader_rules, recall_list, rule_list, rule_tables
from pages.stepwise import steppers
from pages.tables import table_matrix

Part = Callable[[str, Link], Iterator[str]]
"""A function ``(name, link) -> lines of Markdown``; the name is empty if the comment has none."""


PARTS: Mapping[str, Part] = {
    "rules": lambda name, link: rule_tables.rules_of_files(rule_tables.family_called(name), link),
    "reader rules": reader_rules.reader_rules,
    "relied on": lambda name, link: reader_rules.relied_on(name.split(","), link),
    "revision": lambda name, link: rule_tables.status_of_family(rule_tables.family_called(name), link),
    "releases": lambda name, _: rule_tables.release_table(name),
    "all rules": lambda _, __: rule_list.lines(shared_site()),
    "fields": lambda name, link: field_tables.field_table(declared(name), link, slug(name)),
    "layout": layouts.lines,
    "stepper": steppers.lines,
    "enum": lambda name, _: field_tables.enum_table(declared(name)),
    "companion fields": lambda _, __: field_tables.companion_table(),
    "members": lambda name, _: field_tables.member_table(declared(name)),
    "all footer structs": lambda _, link: field_tables.footer_structs(link),
    "all cases": lambda _, __: case_list.lines(shared_site()),
    "recall": lambda _, __: recall_list.lines(shared_site()),
    "museum": lambda name, _: museum_pages.overview(name, shared_site()),
    "results": results_tables.lines,
    "matrix": lambda name, _: iter([matrix.matrix(shared_site(), name)]),
    "table matrix": lambda name, _: table_matrix.lines(shared_site(), name),
    "table headline": lambda _, __: table_matrix.headline(shared_site()),
    "headline": lambda _, __: home.headline(shared_site()),
    "small matrix": lambda _, __: home.small_matrix(shared_site()),
    "install": lambda _, __: home.install(shared_site()),
    "downloads": lambda _, __: downloads.lines(shared_site()),
    "repository file": lambda name, link: repository_files.lines(name, link, shared_site()),
    "checker": lambda _, __: checker.lines(shared_site()),
    "status": lambda _, __: status_page.lines(shared_site()),
    "errata": errata_tables.lines,
    "upstream": lambda _, __: upstream_issues.upstream_issues(),
    "findings table": lambda _, __: findings_columns.findings_table(),
    "history": lambda _, __: findings_columns.history_columns(),
    "site table": site_tables.lines,
}
"""The functions that make the lines of each comment, by its first word."""

PLACEHOLDER = re.compile(
    rf"^<!-- (?P<what>{'|'.join(map(re.escape, PARTS))})(?:: (?P<name>\S+))? -->$", re.MULTILINE
)


CASE_LINK = re.compile(r"\[(?P<text>[^\]]+)\]\((?:\.\./)+golden_files/(?P<case>[\w./-]+)\)")
"""A pattern for a link to the folder of a golden case, which also works in the Markdown of the repository."""


class PlaceholderError(Exception):
    """A placeholder with an unknown name."""


def replaced(markdown: str, link: Link) -> str:
    """Replace the placeholders of a page.

    Raises:
        PlaceholderError: A placeholder has an unknown name.
    """

    def replacement(match: re.Match[str]) -> str:
        try:
            return "\n".join(PARTS[match["what"]](match["name"] or "", link))
        except (LookupError, ImportError, OSError, AttributeError, TypeError, ValueError) as error:
            raise PlaceholderError(f"{match[0]}: {error}") from error

    def case_page(match: re.Match[str]) -> str:
        if match["case"] not in {**shared_site().cases, **shared_site().tables}:
            return match[0]
        stem = match["case"].replace("/", "-")
        return f'<a href="{generated_page("cases", stem, link)}">{inline(match["text"])}</a>'

    return PLACEHOLDER.sub(replacement, CASE_LINK.sub(case_page, markdown))
