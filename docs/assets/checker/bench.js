// The bench: choose a field, a change that the grammar suggests or one of your own, and the file is judged again.
import { count, el, save } from "./dom.js";
import { findings, verdict } from "./findings.js";
import { Tree } from "./tree.js";

const shown = (change) => {
  const to = change.to === undefined ? "" : ` ${JSON.stringify(change.to?.bytes !== undefined ? `0x${change.to.bytes}` : change.to)}`;
  return `${change.op}${to.length > 70 ? `${to.slice(0, 68)}…` : to}${change.raw ? " (bytes in place, nothing else adapted)" : ""}`;
};

// What was typed: JSON, bytes as 0x…, or else text.
export function typed(text) {
  const value = text.trim();
  if (/^0x([0-9a-f]{2})*$/i.test(value)) return { bytes: value.slice(2) };
  if (/^-?\d{16,}$/.test(value)) return { int: value };
  try {
    return JSON.parse(value);
  } catch {
    return text;
  }
}

export async function bench(box, judge, told, root) {
  const search = el("input", { type: "search", name: "find", placeholder: "null_count, min_value, magic", spellcheck: "false" });
  const about = el("p", { class: "checker-about" });
  const changes = el("select", { name: "change" });
  const own = el("input", { type: "text", name: "own", placeholder: "42, \"text\", true, 0xff00", spellcheck: "false" });
  const apply = el("button", { type: "submit", class: "md-button md-button--primary" }, "Change it and judge again");
  const out = el("div", { class: "checker-after", role: "status", tabindex: -1 });
  const files = el("select", { name: "file" }, told.files.map((name) => el("option", {}, name)));
  let offered = [];
  let path = null;
  let asked = 0;

  const choose = async (node) => {
    const mine = ++asked;
    const found = await judge.ask("offers", { path: node.path, file: files.value });
    if (mine !== asked) return;
    [path, offered] = [node.path, found];
    about.textContent = [`${path}:`, node.doc, node.offset === undefined ? "" : `Offset ${node.offset}, ${count(node.length, "byte")}.`].filter(Boolean).join(" ");
    changes.replaceChildren(
      ...offered.map((change, number) => el("option", { value: number }, shown(change))),
      el("option", { value: "own" }, "set to a value of your own:"),
    );
    own.disabled = changes.value !== "own";
  };
  const tree = new Tree(judge, choose);
  const laid = async () => {
    asked++;
    path = null;
    about.textContent = "";
    changes.replaceChildren();
    const why = await tree.show(files.value, search.value);
    if (why) tree.box.replaceChildren(why);
  };
  const submit = async (event) => {
    event.preventDefault();
    if (path === null) return out.replaceChildren(el("p", {}, "Choose a field first."));
    const file = files.value;
    const isOwn = changes.value === "own";
    const mutation = isOwn ? { op: "set", path: path === "file" ? "" : path, to: typed(own.value) } : offered[Number(changes.value)];
    apply.disabled = true;
    try {
      out.replaceChildren(...result(await judge.ask("change", { mutation, file }), mutation, file));
    } catch (error) {
      out.replaceChildren(el("p", { class: "checker-error" }, error.message));
    }
    apply.disabled = false;
    out.focus();
  };
  const rules = (title, ids) => (ids.length ? el("p", {}, `${title}: `, ids.flatMap((id) => [el("a", { href: `${root}rules/${id.toLowerCase()}.html` }, id), " "])) : null);
  const result = (told, mutation, file) => {
    if (told.error !== undefined) return [el("p", { class: "checker-error" }, told.error)];
    const changed = told.difference?.changes ?? [];
    const rows = changed.slice(0, 50).map((one) => el("li", {}, el("b", {}, one.kind), " ", el("code", {}, one.path), ` ${one.old?.value ?? ""} → ${one.new?.value ?? "gone"}`));
    const follows = told.difference?.follows?.length ?? 0;
    return [
      el("h3", {}, shown(mutation)),
      el("p", {}, "The verdict was ", el("b", {}, told.before), ", and is ", el("b", {}, told.after.outcome), "."),
      rules("Broken since", told.come),
      rules("No longer broken", told.gone),
      el("p", {}, told.trouble || `${count(changed.length, "field")} changed; ${count(follows, "offset")} followed.`),
      el("ul", {}, rows),
      el("button", { type: "button", class: "md-button", onclick: async () => save(file, await judge.ask("broken", { file }), "application/octet-stream") }, "Download the changed file"),
      ...verdict(told.after),
      ...findings(told.after, root, null),
    ].filter(Boolean);
  };
  search.addEventListener("input", () => tree.show(files.value, search.value));
  files.addEventListener("change", laid);
  changes.addEventListener("change", () => (own.disabled = changes.value !== "own"));
  const which = told.files.length > 1 ? el("label", {}, "File ", files) : null;
  const form = el("form", { onsubmit: submit }, which, el("label", {}, "Find a field ", search), tree.box, about, el("label", {}, "Change ", changes), el("label", {}, "Value ", own), apply);
  const words = "Change one field. Whatever follows from the layout is computed again, as in the golden files, and the file is judged again.";
  box.replaceChildren(el("h2", {}, "Break it"), el("p", {}, words), form, out);
  await laid();
  // Where a finding is: shown first, since of what is hidden a browser scrolls nothing.
  return () => tree.reveal(told.findings[0]?.field ?? "");
}
