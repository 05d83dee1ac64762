// The page: files come in by dropping, choosing or their id (#blm/zeroed); verdict, findings, bytes and bench come out.
import { bench } from "./bench.js";
import { view } from "./bytes.js";
import { el, save } from "./dom.js";
import { findings, verdict } from "./findings.js";
import { chosen, entries, folder } from "./folders.js";
import { handed } from "./handed.js";
import { Judge } from "./judge.js";

const box = document.getElementById("checker");
const part = (name) => document.getElementById(`checker-${name}`);
const root = new URL(box.dataset.root, location.href).href;
const form = part("golden");
const progress = part("progress");

const judge = new Judge(import.meta.url, new URL("runtime/", new URL("check/", root)).href, (loaded, total) => {
  progress.max = total;
  progress.value = loaded;
  say(loaded < total ? `Loading the checker: ${(loaded / 1e6).toFixed(1)} of ${(total / 1e6).toFixed(1)} MB, once` : "The checker is loaded and starts");
});

const say = (text, isError = false) => {
  part("told").textContent = text;
  part("told").classList.toggle("checker-error", isError);
};

let turn = 0; // a file that is opened later has the last word
let current = null;

async function judged(open, name) {
  const mine = ++turn;
  current = open;
  const { top } = box.getBoundingClientRect();
  for (const id of ["verdict", "bytes", "bench"]) part(id).hidden = true;
  part("findings").replaceChildren();
  try {
    progress.hidden = judge.loaded === true;
    say(judge.loaded ? `Judging ${name}` : `Starting the checker for ${name}`);
    await judge.start();
    judge.loaded = true;
    progress.hidden = true;
    say(`Judging ${name}`);
    await judge.ask("open", open);
    const start = performance.now();
    const told = await judge.ask("judge", { tier: form.elements.tier.value });
    if (mine !== turn) return;
    const took = ((performance.now() - start) / 1000).toFixed(2);
    const read = told.read === null || told.read > told.size ? "" : `; ${told.read.toLocaleString("en")} bytes were read from a file of ${told.size.toLocaleString("en")} bytes`;
    say(`Judged in ${took} s${read}. Nothing left this machine.${others(open, told)}`);
    part("verdict").replaceChildren(...verdict(told), downloads(told));
    part("verdict").hidden = false;
    part("findings").replaceChildren(...findings(told, root, show));
    if (top < 0 || innerHeight < 900) part("verdict").scrollIntoView({ block: "center" });
    part("verdict").focus({ preventScroll: true });
    const scroll = told.files.length && (await bench(part("bench"), judge, told, root));
    if (mine !== turn) return;
    part("bench").hidden = !scroll;
    if (scroll) await scroll();
  } catch (error) {
    progress.hidden = true;
    if (mine === turn) say(error.message, true);
  }
  box.dispatchEvent(new CustomEvent("judged"));
}

// Files dropped together are judged together only as a _pm and its data file.
function others({ files = [] }, told) {
  const left = told.kind === "pm" || told.kind === "folder" ? 0 : files.length - 1;
  return left > 0 ? ` Of ${files.length} files only ${told.name} was judged; the command judges whole folders.` : "";
}

function downloads(told) {
  const get = (kind, type) => async () => {
    const site = location.protocol === "file:" ? undefined : root;
    save(`${told.name}.pqassay.${kind}`, await judge.ask("report", { form: kind, site }), type);
  };
  return el(
    "p",
    { class: "checker-downloads" },
    el("button", { type: "button", class: "md-button", onclick: get("html", "text/html") }, "Report as HTML"),
    " ",
    el("button", { type: "button", class: "md-button", onclick: get("json", "application/json") }, "Report as JSON"),
  );
}

async function show(one) {
  const told = await judge.ask("around", { offset: one.offset, length: one.length });
  part("bytes").replaceChildren(el("h2", {}, `Bytes at ${one.offset}: `, el("code", {}, one.field)), ...view(told, one.offset, one.length));
  part("bytes").hidden = false;
  part("bytes").scrollIntoView({ block: "nearest" });
  part("bytes").querySelector("pre").focus({ preventScroll: true });
}

function dropped(files) {
  if (!files.length) return;
  history.replaceState(null, "", location.pathname + location.search);
  judged({ files: [...files] }, files[0].name);
}

function droppedFolder(folder) {
  history.replaceState(null, "", location.pathname + location.search);
  judged({ folder }, folder.name);
}

const list = async (name) => (await fetch(new URL(`check/${name}.json`, root))).json();

async function golden(id) {
  form.elements.case.value = id;
  const cases = await list("cases");
  if (Object.hasOwn(cases, id)) return judged({ urls: cases[id].map((path) => new URL(path, root).href) }, id);
  const tables = await list("tables");
  if (!Object.hasOwn(tables, id)) return say(`There is no golden file ${id}.`, true);
  const urls = tables[id].map(([path, file]) => ({ path: `${id}/${path}`, url: new URL(file, root).href }));
  return judged({ folder: { name: id, urls } }, id);
}

const fromAddress = () => {
  const id = decodeURIComponent(location.hash.slice(1));
  if (id.includes("/")) golden(id);
  else if (id === "handed") handed().then((found) => (found.folder ? droppedFolder(found.folder) : dropped(found)));
};

function taken({ items, files }) {
  const [found, all] = [entries(items), [...files]]; // a folder among them is judged, else the files are
  folder(found).then((one) => (one ? droppedFolder(one) : dropped(all)), (error) => say(error.message, true));
}

const drop = part("drop");
part("file").addEventListener("click", ({ target }) => (target.value = "")); // so that the same file, rewritten, is a change
part("file").addEventListener("change", (event) => dropped(event.target.files));
part("folder").addEventListener("click", ({ target }) => (target.value = ""));
part("folder").addEventListener("change", ({ target }) => target.files.length && droppedFolder(chosen(target.files)));
for (const type of ["dragover", "drop", "dragleave"]) {
  document.addEventListener(type, (event) => {
    event.preventDefault();
    drop.classList.toggle("over", type === "dragover");
    if (type === "drop") taken(event.dataTransfer);
  });
}
form.addEventListener("submit", (event) => {
  event.preventDefault();
  const id = form.elements.case.value.trim();
  if (decodeURIComponent(location.hash.slice(1)) === id) golden(id);
  else location.hash = id;
});
form.elements.tier.addEventListener("change", () => current && judged(current, "the file"));
addEventListener("hashchange", fromAddress);
fromAddress();
box.hidden = false;
