"""The checker in the browser: the same verdicts as in CPython, few bytes read, nothing asked of anybody else."""

from __future__ import annotations

import json
import os
import re
import sys
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler
from pathlib import Path
from typing import NamedTuple

import npm_package
import pytest
from npm_package import PackageMissingError
from pages.files import checker
from pages.page import Site

import processes
from axe import grave
from browser import Browser, Tab, serving
from checker_site import write_checker_site
from damage import SUGGESTED
from golden_cases import golden_cases
from inflated import write_inflated
from places import GOLDEN_FILES, ROOT
from pqassay.browser.folder import Folder
from pqassay.browser.session import MOST_NODES, Session
from pqassay.dump import dump
from pqassay.stores.kinds import judged_as
from pqassay_spec.base.sources import BytesSource
from pqassay_spec.grammar.trace import Leaf
from pqassay_spec.mutation.mutations import form_of
from pqassay_spec.mutation.possible import mutations_of
from pqassay_spec.rules.catalogue import Tier

pytestmark = pytest.mark.slow

TIERS: tuple[Tier, ...] = ("footer", "index", "pages")

ZEROED = GOLDEN_FILES / "blm" / "zeroed" / "data.parquet"

BESIDE = GOLDEN_FILES / "pm" / "with-data"

ABSENT = (
    "numpy",
    "pyarrow",
    "xxhash",
    "pydantic",
    "rich",
    "typer",
    "pandas",
    "pqassay.cli",
)


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("checker")
    write_checker_site(folder)
    return folder


class Dropped(NamedTuple):
    """What the page shows of a file that was dropped on the home page: its address, its first finding, and what it says about the file."""

    address: str
    finding: str
    message: str


@pytest.fixture(scope="module")
def opened(browser: Browser, address: str) -> Iterator[tuple[Tab, Dropped]]:
    """One page for all tests, in which Python is loaded once: it takes seconds. It comes from the home page, with a file that was dropped there."""
    with browser.open(f"{address}index.html", width=390, height=844) as tab:
        tab.call("Page.addScriptToEvaluateOnNewDocument", source=SHARED_WORKER)
        tab.drop_files("a.drop", ZEROED, leaves=True)
        wait_for_verdict(tab, "data.parquet")
        yield (
            tab,
            Dropped(
                tab.evaluate("location.href"),
                told(tab, "#checker-findings summary"),
                told(tab, "#checker-told"),
            ),
        )


@pytest.fixture
def tab(opened: tuple[Tab, Dropped]) -> Tab:
    """The page, without a verdict: a test does not see what another one had judged."""
    opened[0].evaluate(
        """(() => {
          for (const part of ["verdict", "bytes", "bench"]) document.getElementById(`checker-${part}`).hidden = true;
          for (const input of ["file", "folder"]) document.getElementById(`checker-${input}`).value = "";
          document.getElementById("checker-golden").elements.tier.value = "pages";
          document.getElementById("checker-told").classList.remove("checker-error");
          history.replaceState(null, "", location.pathname);
        })()"""
    )
    return opened[0]


@pytest.fixture
def zeroed(tab: Tab) -> Tab:
    """The page with the verdict of `ZEROED`."""
    tab.choose_files("#checker-file", ZEROED)
    wait_for_verdict(tab, "data.parquet")
    return tab


SHARED_WORKER = """window.Worker = class extends Worker {
  constructor(...given) {
    super(...given);
    const waiting = new Map();
    window.ask = (ask, more = {}) =>
      new Promise((...both) => this.postMessage({ id: `test ${waiting.set(`test ${waiting.size + 1}`, both).size}`, ask, ...more }));
    this.addEventListener("message", (event) => {
      if (!waiting.has(event.data.id)) return;
      event.stopImmediatePropagation();
      const [resolve, reject] = waiting.get(event.data.id);
      if (event.data.error === undefined) resolve(event.data.answer);
      else reject(new Error(event.data.error));
    });
  }
};"""
"""Lets the tests ask the worker of the page as well, with ``ask``, and keeps its answers to them from the page."""


def told(tab: Tab, selector: str) -> str:
    return str(tab.evaluate(f"document.querySelector({json.dumps(selector)}).innerText"))


def wait_for_verdict(tab: Tab, name: str) -> None:
    tab.wait(
        f"""document.querySelector("#checker-verdict:not([hidden]) h2")?.innerText.includes({json.dumps(name)})
        && !document.getElementById("checker-bench").hidden"""
    )


def session_of(*paths: Path) -> Session:
    return Session([(path.name, path.stat().st_size, reader_of(path.read_bytes())) for path in paths])


def reader_of(data: bytes) -> Callable[[int, int], bytes]:
    return lambda offset, length: data[offset : offset + length]


# ------------------------------------------------------------------------------------------------- without a browser


def test_a_session_needs_nothing_that_a_browser_has_not() -> None:
    program = f"""
import sys
for name in {ABSENT!r}:
    sys.modules[name] = None
from pqassay.browser.folder import Folder
from pqassay.browser.session import Session
from pqassay_spec.rules.catalogue import Tier
data = open({str(ZEROED)!r}, "rb").read()
session = Session([("data.parquet", len(data), lambda offset, length: data[offset : offset + length])])
session.judged(), session.level("", "data.parquet"), session.bytes_around(600, 4)
session.changed('{{"op": "set", "path": "head.magic", "to": {{"bytes": "00"}}}}', "data.parquet")
print(len(session.report("html")) > 1000, session.report("json")[:1])
folder = Folder({str(GOLDEN_FILES / "ice/plain")!r}, "table")
print(folder.judged("pages")[:1], folder.report("json")[:1])
"""
    run = processes.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert ("True {\n{ {\n", "") == (run.stdout, run.stderr)


def test_the_archive_has_the_same_bytes_each_time_and_is_small() -> None:
    packed = checker.archive()
    assert packed == checker.archive()
    assert len(packed) < 1_350_000


def test_a_runtime_with_another_digest_is_refused() -> None:
    with pytest.raises(PackageMissingError, match="has the digest sha512-"):
        checker.PACKAGE.checked(b"something else", "it")


def test_npm_is_asked_again_and_then_the_error_says_what_to_do(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    asked: list[str] = []

    def failing() -> list[str]:
        asked.append("npm")
        return ["false"]

    monkeypatch.setattr(npm_package, "_npm", failing)
    monkeypatch.setattr(npm_package, "KEPT", tmp_path)
    with pytest.raises(
        PackageMissingError,
        match=rf"put it at {tmp_path}/none/none-1\.tgz, or name its place with PQASSAY_NONE",
    ):
        npm_package.NpmPackage("none", "1", "sha512-", "PQASSAY_NONE").content()
    assert len(asked) == npm_package.ATTEMPTS


def test_without_a_runtime_the_page_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(checker, "runtime", lambda: None)
    site = Site()
    assert "left out of this copy" in "\n".join(checker.lines(site))
    assert list(checker.files(site)) == []


def test_scripts_are_short() -> None:
    lengths = {
        path.name: len(path.read_text().splitlines()) for path in (ROOT / "docs/assets/checker").iterdir()
    }
    assert {name: length for name, length in lengths.items() if length >= 150} == {}


def test_a_changed_field_shows_what_it_breaks() -> None:
    session = session_of(GOLDEN_FILES / "blm" / "audited" / "data.parquet")
    bitset = "row_groups[0].columns[0].bloom_filter.bitset"
    mutation = {"op": "set", "path": bitset, "to": {"bytes": "00" * 32}}
    changed = json.loads(session.changed(json.dumps(mutation), "data.parquet"))
    assert (changed["before"], changed["after"]["outcome"]) == ("conformant", "untrue")
    assert (changed["come"], changed["gone"]) == (["BLM-007"], [])
    assert [one["path"] for one in changed["difference"]["changes"]] == [bitset]
    assert session.broken_file("data.parquet") == ZEROED.read_bytes()
    assert {"bytes": ""} in [offer["to"] for offer in json.loads(session.offers(bitset, "data.parquet"))]


def test_a_change_that_makes_no_sense_is_told_and_changes_nothing() -> None:
    session = session_of(ZEROED)
    said = json.loads(session.changed('{"op": "set", "path": "footer.nothing", "to": 1}', "data.parquet"))
    assert said == {"error": "set footer.nothing: there is no footer.nothing"}
    assert json.loads(session.changed("[]", "data.parquet"))["error"].startswith("not a change")


def test_the_data_beside_a_pm_can_be_changed_and_the_pm_is_judged_beside_it() -> None:
    session = session_of(*(BESIDE / name for name in ("data.parquet", "_pm")))
    assert json.loads(session.judged())["files"] == ["_pm", "data.parquet"]
    mutation = {"op": "set", "path": "footer.row_groups[0].num_rows", "to": 7}
    changed = json.loads(session.changed(json.dumps(mutation), "data.parquet"))
    assert (changed["before"], changed["after"]["outcome"]) == ("conformant", "nonconformant")
    assert changed["come"] == ["PM-109"]
    assert mutation["path"] in [one["path"] for one in changed["difference"]["changes"]]
    assert session.broken_file("_pm") == (BESIDE / "_pm").read_bytes()


@pytest.mark.parametrize(("folder", "name"), [(ZEROED.parent, "data.parquet"), (BESIDE, "_pm")])
def test_the_tree_of_fields_has_every_byte_and_every_field_that_can_be_changed(
    folder: Path, name: str
) -> None:
    session = session_of(folder / name)
    found: list[str] = []
    levels = [""]
    deepest = 0
    while levels:
        path = levels.pop()
        level = json.loads(session.level(path, name))
        assert level["more"] == 0
        found += [node["path"] for node in level["nodes"] if node["is_field"]]
        levels += [node["path"] for node in level["nodes"] if node["is_branch"]]
        deepest = max(deepest, path.count("."))
    data = (folder / name).read_bytes()
    traced: list[Leaf] = []
    dump(BytesSource(data, name), traced.extend, judged_as(name))
    changed = {mutation.path for mutation in mutations_of(data, form_of(name))} - {""}
    assert len(found) == len(set(found))
    assert set(found) == {leaf.path for leaf in traced} | changed | {"file"}
    assert deepest > 0


def test_a_level_with_many_fields_is_told_in_parts_and_a_search_finds_them() -> None:
    session = session_of(ZEROED)
    path = "row_groups[0].columns[0].bloom_filter.bitset"
    assert [
        node["path"] for node in json.loads(session.search("BITSET columns[0]", "data.parquet"))["nodes"]
    ] == [path]
    found = json.loads(session.search("", "data.parquet"))
    assert (len(found["nodes"]), found["more"] > 0) == (MOST_NODES, True)


# ----------------------------------------------------------------------------------------------------- in a browser


def test_a_broken_file_that_is_dropped_on_the_home_page_is_judged_on_this_machine(
    opened: tuple[Tab, Dropped], address: str
) -> None:
    tab, dropped = opened
    assert dropped.address == f"{address}check/index.html"  # the mark is gone
    assert "BLM-007" in dropped.finding
    assert "Nothing left this machine" in dropped.message
    assert tab.outside(address) == []
    again = "import(new URL('../assets/checker/handed.js', location.href).href).then(({handed}) => handed())"
    assert tab.evaluate(again) == []


def test_a_folder_that_is_dropped_is_judged_as_the_table_that_it_is(tab: Tab) -> None:
    tab.drop_files("#checker-drop", GOLDEN_FILES / "dlt" / "size-less" / "table")
    tab.wait("document.querySelector('#checker-verdict:not([hidden]) h2')?.innerText.includes('table')")
    assert "DLT-008" in told(tab, "#checker-findings summary")


def test_a_golden_file_opens_by_its_address_and_the_verdict_is_seen_without_scrolling(tab: Tab) -> None:
    tab.evaluate("location.hash = '#blm/zeroed'")
    wait_for_verdict(tab, "data.parquet")
    assert "untrue" in told(tab, "#checker-verdict h2")
    assert "BLM-007" in told(tab, "#checker-findings summary")
    assert re.search(
        r"\d+ rules need more than tier pages: pqassay check --tier values", told(tab, "#checker-verdict")
    )
    place = tab.measured("document.querySelector('#checker-verdict h2').getBoundingClientRect().toJSON()")
    assert 0 <= place["top"] <= place["bottom"] <= 844
    assert 390 == tab.measured("document.documentElement.scrollWidth")


def test_the_bytes_of_a_finding_are_shown_with_their_fields(zeroed: Tab) -> None:
    tab = zeroed
    tab.evaluate("document.querySelector('#checker-findings details').open = true")
    tab.evaluate("document.querySelector('#checker-findings button').click()")
    tab.wait("document.querySelector('#checker-bytes tbody tr')")
    assert tab.evaluate("document.querySelectorAll('#checker-bytes mark').length") == 32
    assert "bloom_filter.bitset" in told(tab, "#checker-bytes tbody")


CHANGE = """(async () => {
  const form = document.querySelector("#checker-bench form"), end = Date.now() + LIMIT;
  const until = async (condition) => {
    while (!condition()) {
      if (Date.now() > end) throw new Error(`never: ${condition}`);
      await new Promise((done) => setTimeout(done, 20));
    }
  };
  const open = async (path) => {
    const branch = form.querySelector(`details[data-path="${path}"]`);
    branch.open = true;
    await until(() => branch.lastElementChild.childElementCount >= 2);
  };
  const choose = async (path) => {
    form.querySelector(`input[value="${path}"]`).click();
    await until(() => form.querySelector(".checker-about").textContent.startsWith(`${path}:`));
  };
  const change = async (value) => {
    form.elements.change.value = "own";
    form.elements.change.dispatchEvent(new Event("change"));
    form.elements.own.value = value;
    form.requestSubmit();
  };
  """.replace("LIMIT", f"{processes.PATIENCE * 1000:.0f}")


def test_the_field_of_the_finding_is_chosen_and_all_above_it_is_open(zeroed: Tab) -> None:
    tab = zeroed
    tab.wait("document.querySelector('#checker-bench input:checked')")
    chosen = "row_groups[0].columns[0].bloom_filter.bitset"
    assert tab.evaluate("document.querySelector('#checker-bench input:checked').value") == chosen
    assert tab.evaluate("[...document.querySelectorAll('#checker-bench details[open]')].length") >= 2


def test_a_field_is_changed_and_the_file_judged_again(zeroed: Tab) -> None:
    tab = zeroed
    tab.evaluate(CHANGE + 'await choose("head.magic"); await change("0x50415232");})()')
    tab.wait("document.querySelector('.checker-after h3')")
    assert "Broken since: PQF-001" in told(tab, ".checker-after")
    assert "head.magic" in told(tab, ".checker-after ul")


PICKED = """(async () => {
  const { Tree } = await import("../assets/checker/tree.js");
  const leaf = (path) => ({ path, name: path, can_change: true });
  const levels = { "": [leaf("a"), { path: "b", name: "b", is_branch: true, fields: 1 }], b: [leaf("b.c")] };
  const chosen = [];
  let answer;
  const answered = new Promise((done) => (answer = done));
  const ask = async (_, { path }) => {
    if (path) await answered;
    return { nodes: levels[path] };
  };
  const tree = new Tree({ ask }, (node) => chosen.push(node.path));
  document.body.append(tree.box);
  await tree.show("file");
  const revealed = tree.reveal("b.c");
  if (PICKS) tree.box.querySelector("input").click();
  answer();
  await revealed;
  tree.box.remove();
  return chosen;
})()"""


@pytest.mark.parametrize(("picks", "chosen"), [("true", ["a"]), ("false", ["b.c"])])
def test_the_field_of_a_finding_is_not_chosen_over_the_one_that_was_picked(
    tab: Tab, picks: str, chosen: list[str]
) -> None:
    assert chosen == tab.evaluate(PICKED.replace("PICKS", picks))


def test_everybody_can_use_it_once_a_file_is_judged(zeroed: Tab) -> None:
    assert [] == grave(zeroed)


def test_the_data_beside_a_pm_is_changed_and_the_pm_judged_again(tab: Tab) -> None:
    tab.choose_files("#checker-file", BESIDE / "_pm", BESIDE / "data.parquet")
    wait_for_verdict(tab, "_pm")
    tab.evaluate(
        CHANGE
        + """form.elements.file.value = "data.parquet";
        form.elements.file.dispatchEvent(new Event("change"));
        await until(() => form.querySelector('details[data-path="footer"]'));
        await open("footer"); await open("footer.row_groups");
        const group = form.querySelector('details[data-path="footer.row_groups"] details');
        await open(group.dataset.path);
        await open("footer.row_groups[0].num_rows");
        await choose("footer.row_groups[0].num_rows"); await change("7");})()"""
    )
    tab.wait("document.querySelector('.checker-after h3')")
    assert "Broken since: PM-109" in told(tab, ".checker-after")
    assert "footer.row_groups[0].num_rows" in told(tab, ".checker-after ul")


def test_reports_can_be_downloaded(zeroed: Tab) -> None:
    report, page = zeroed.evaluate(
        "Promise.all([ask('report', {form: 'json'}), ask('report', {form: 'html'})])"
    )
    assert json.loads(report)["files"][0]["outcome"] == "untrue"
    assert page.lower().startswith("<!doctype html>")


ALL_TIERS = "PQASSAY_ALL_TIERS" in os.environ
"""Whether every golden file is judged at all tiers, which takes a minute more: the deepest asks what the others ask."""

EACH = 12
"""One of this number of golden files is judged at all tiers in any case."""

FOREIGN = "interop/"
"""Where all golden files are judged, since each was written by something else; elsewhere one of twelve is, and all by `make damages`."""

AT_ONCE = 50
"""Golden files that are asked about by one call."""

PARTS = 4
"""Tests among which the golden files are shared, so that each is soon over on a busy machine as well."""


@pytest.mark.parametrize("part", range(PARTS))
def test_every_golden_file_has_the_same_report_as_in_cpython(
    tab: Tab, site: Path, monkeypatch: pytest.MonkeyPatch, part: int
) -> None:
    # There are none in the browser, where reports name the gaps that this leaves.
    for name in ("xxhash", "pqassay.values.decoding.codecs"):
        monkeypatch.setitem(sys.modules, name, None)
    cases: dict[str, list[str]] = json.loads((site / "check" / "cases.json").read_text())
    assert len(golden_cases()) == len(cases)
    asked = {
        case_id: TIERS if ALL_TIERS or number % EACH == 0 else TIERS[-1:]
        for number, case_id in enumerate(cases)
    }
    judged = [
        case_id
        for number, case_id in enumerate(cases)
        if number % SUGGESTED == 0 or case_id.startswith(FOREIGN)
    ]
    names = judged[len(judged) * part // PARTS : len(judged) * (part + 1) // PARTS]
    everywhere: dict[str, list[str]] = {}
    for start in range(0, len(names), AT_ONCE):
        everywhere |= tab.evaluate(
            """(async () => {
              const told = {};
              for (const [id, parts, tiers] of ASKED) {
                await ask("open", {urls: parts.map((part) => new URL("../" + part, location.href).href)});
                told[id] = [];
                for (const tier of tiers) {
                  await ask("judge", {tier});
                  told[id].push(await ask("report", {form: "json"}));
                }
              }
              return told;
            })()""".replace(
                "ASKED",
                json.dumps([(name, cases[name], asked[name]) for name in names[start : start + AT_ONCE]]),
            )
        )
    assert set(names) == set(everywhere)
    different: list[str] = []
    for name in names:
        session = session_of(*(site / path for path in cases[name]))
        for tier, found in zip(asked[name], everywhere[name], strict=True):
            session.judged(tier)
            if session.report("json") != found:
                different.append(f"{name} at tier {tier}")
    assert [] == different


EACH_TABLE = 15
"""One of this number of golden tables is judged in the browser."""


def test_golden_tables_have_the_same_report_as_in_cpython(
    tab: Tab, site: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("xxhash", "pqassay.values.decoding.codecs", "pqassay_tables.values.deletion_vector"):
        monkeypatch.setitem(sys.modules, name, None)
    tables: dict[str, list[list[str]]] = json.loads((site / "check" / "tables.json").read_text())
    # A browser has no pyarrow, which reads checkpoints.
    asked = [
        name
        for name, files in tables.items()
        if not any("_delta_log" in path and path.endswith(".parquet") for path, _ in files)
    ][::EACH_TABLE]
    assert {"dlt", "ice"} <= {name.partition("/")[0] for name in asked}
    everywhere = tab.evaluate(
        """(async () => {
          const told = {}, tables = await (await fetch("tables.json")).json();
          for (const id of ASKED) {
            const urls = tables[id].map(([path, file]) => ({path: `${id}/${path}`, url: new URL("../" + file, location.href).href}));
            await ask("open", {folder: {name: id, urls}});
            await ask("judge", {tier: "pages"});
            told[id] = await ask("report", {form: "json"});
          }
          return told;
        })()""".replace("ASKED", json.dumps(asked))
    )
    for name in asked:
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).symlink_to(GOLDEN_FILES / name / "table")
        folder = Folder(str(tmp_path), name)
        folder.judged("pages")
        assert folder.report("json") == everywhere[name], name


def test_a_folder_that_is_chosen_is_judged_as_the_table_that_it_is(tab: Tab) -> None:
    tab.choose_files("#checker-folder", GOLDEN_FILES / "ice" / "size-less" / "table")
    tab.wait("document.querySelector('#checker-verdict:not([hidden]) h2')?.innerText.includes('table')")
    assert "3 judged, the table being one of them: 2 conformant, 1 nonconformant" in told(
        tab, "#checker-verdict"
    )
    assert "ICE-014" in told(tab, "#checker-findings summary")
    tab.wait("document.getElementById('checker-bench').hidden")


DROP = """(async () => {
  const { folder } = await import(new URL("../assets/checker/folders.js", location.href).href);
  const file = (name) => ({ isFile: true, name, file: (take) => take(new File(["x"], name)) });
  const within = (name, ...parts) => ({
    isDirectory: true, name,
    createReader() { const rest = [parts, []]; return { readEntries: (take) => take(rest.shift()) }; },
  });
  const dropped = [file("beside.txt"), within("t", within("_delta_log", file("0.json")), file("part-0.parquet"))];
  const found = await folder(dropped);
  return [found.name, found.files.map((one) => one.path), await folder([file("a.parquet")])];
})()"""


def test_all_files_of_a_folder_that_is_dropped_are_found(tab: Tab) -> None:
    assert ["t", ["t/_delta_log/0.json", "t/part-0.parquet"], None] == tab.evaluate(DROP)


@pytest.mark.parametrize(
    ("path", "said"),
    [
        ("dlt/plain/table/_delta_log/00000000000000000000.json", "is a file of the log of a Delta table"),
        ("ice/plain/table/metadata/manifest-0.avro", "drop the folder of the table here"),
    ],
)
def test_a_file_of_a_table_is_not_called_a_broken_parquet_file(tab: Tab, path: str, said: str) -> None:
    tab.choose_files("#checker-file", GOLDEN_FILES / path)
    tab.wait("document.getElementById('checker-told').classList.contains('checker-error')")
    assert told(tab, "#checker-told").startswith(path.rpartition("/")[2])
    assert said in told(tab, "#checker-told")
    assert tab.evaluate("document.getElementById('checker-verdict').hidden")


def test_a_great_file_is_judged_at_tier_index_without_its_pages(tab: Tab, tmp_path: Path) -> None:
    great = tmp_path / "great.parquet"
    write_inflated(great, 50_000_000)
    tab.evaluate("document.getElementById('checker-golden').elements.tier.value = 'index'")
    tab.choose_files("#checker-file", great)
    wait_for_verdict(tab, "great.parquet")
    words = told(tab, "#checker-told")
    read, size = (int(number.replace(",", "")) for number in re.findall(r"([\d,]+) bytes", words))
    assert size == great.stat().st_size > 50_000_000
    assert read < 100_000
    assert "too large to be changed here" in told(tab, "#checker-bench")


def test_nothing_is_asked_of_anybody_else_and_nothing_complains(tab: Tab, address: str) -> None:
    assert len([request for request in tab.requests if request.startswith(address)]) > 10
    assert tab.outside(address) == []
    assert tab.complaints == []


def test_from_disk_the_page_says_what_to_do_and_complains_about_nothing(browser: Browser, site: Path) -> None:
    with browser.open((site / "check" / "index.html").as_uri()) as tab:
        assert "python -m http.server" in told(tab, "#checker-from-disk:not([hidden])")
        assert [] == tab.complaints


def test_the_policy_of_the_page_lets_neither_it_nor_its_worker_ask_another_server(tab: Tab) -> None:
    heard: list[str] = []

    class Other(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            """Note what came and answer every request."""
            heard.append(self.path)
            self.send_response(200)
            self.send_header("Access-Control-Allow-Origin", "*")
            self.end_headers()

        def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - the name is its base's
            """Say nothing."""

    before = len(tab.complaints)
    with serving(Other) as other:
        page = tab.evaluate(f"fetch('{other}page').then(() => 'let out', () => 'refused')")
        worker = tab.evaluate(
            f"ask('open', {{urls: ['{other}worker']}}).then(() => 'let out', () => 'refused')"
        )
    assert ("refused", "refused", []) == (page, worker, heard)
    del tab.complaints[before:]  # the browser's own, about what was refused
