// The bench: choose a field, a change that the grammar suggests or one of your own, and the file is judged again.
import { count, el, save } from "./dom.js";
import { findings, verdict } from "./findings.js";

const MOST = 300; // fields that a search shows at once

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

// Fields below what they are in: a group for each structure, since lists with groups work with any keyboard and reader of screens.
function tree(fields) {
  const groups = new Map();
  for (const { path, value } of fields) {
    const end = Math.max(path.lastIndexOf("."), 0);
    const inside = path.slice(0, end);
    const name = path.slice(end && end + 1);
    if (!groups.has(inside)) groups.set(inside, []);
    groups.get(inside).push(el("option", { value: path, title: path }, value === undefined ? name : `${name} = ${value}`));
  }
  return [...groups].flatMap(([inside, options]) => (inside ? el("optgroup", { label: inside }, options) : options));
}

export async function bench(box, judge, name, root, wanted) {
  const { fields, why } = await judge.ask("fields");
  if (!fields.length) return box.replaceChildren(el("h2", {}, "Break it"), el("p", {}, why));
  const search = el("input", { type: "search", placeholder: "null_count, min_value, magic", spellcheck: "false" });
  const list = el("select", { size: 8, "aria-label": "Fields" });
  const about = el("p", { class: "checker-about" });
  const changes = el("select", { "aria-label": "Change" });
  const own = el("input", { type: "text", placeholder: "42, \"text\", true, 0xff00", spellcheck: "false" });
  const apply = el("button", { type: "submit", class: "md-button md-button--primary" }, "Change it and judge again");
  const out = el("div", { class: "checker-after", role: "status", tabindex: -1 });
  let offered = [];

  const fill = () => {
    const words = search.value.toLowerCase().split(/\s+/);
    const found = fields.filter(({ path }) => words.every((word) => path.toLowerCase().includes(word)));
    list.replaceChildren(...tree(found.slice(0, MOST)));
    if (found.length > MOST) list.append(el("option", { disabled: true }, `… ${count(found.length - MOST, "more field")}`));
  };
  const choose = async () => {
    const field = fields.find(({ path }) => path === list.value);
    if (!field) return;
    about.textContent = [field.doc, field.offset === undefined ? "" : `Offset ${field.offset}, ${count(field.length, "byte")}.`].filter(Boolean).join(" ");
    offered = await judge.ask("offers", { path: field.path });
    changes.replaceChildren(
      ...offered.map((change, number) => el("option", { value: number }, shown(change))),
      el("option", { value: "own" }, "set to a value of your own:"),
    );
    own.disabled = changes.value !== "own";
  };
  const submit = async (event) => {
    event.preventDefault();
    if (!list.value) return out.replaceChildren(el("p", {}, "Choose a field first."));
    const isOwn = changes.value === "own";
    const mutation = isOwn ? { op: "set", path: list.value === "file" ? "" : list.value, to: typed(own.value) } : offered[Number(changes.value)];
    apply.disabled = true;
    try {
      out.replaceChildren(...result(await judge.ask("change", { mutation }), mutation));
    } catch (error) {
      out.replaceChildren(el("p", { class: "checker-error" }, error.message));
    }
    apply.disabled = false;
    out.focus();
  };
  const rules = (title, ids) => (ids.length ? el("p", {}, `${title}: `, ids.flatMap((id) => [el("a", { href: `${root}rules/${id.toLowerCase()}.html` }, id), " "])) : null);
  const result = (told, mutation) => {
    if (told.error !== undefined) return [el("p", { class: "checker-error" }, told.error)];
    const changed = told.difference?.changes ?? [];
    const rows = changed.slice(0, 50).map((one) => el("li", {}, el("b", {}, one.kind), " ", el("code", {}, one.path), ` ${one.old?.value ?? ""} → ${one.new?.value ?? "gone"}`));
    const follows = told.difference?.follows?.length ?? 0;
    return [
      el("h3", {}, shown(mutation)),
      el("p", {}, "The verdict was ", el("b", {}, told.before), ", and is ", el("b", {}, told.after.outcome), "."),
      rules("Broken since", told.come),
      rules("No longer broken", told.gone),
      el("p", {}, told.trouble || `${count(changed.length, "field")} changed; ${count(follows, "offset or length")} followed.`),
      el("ul", {}, rows),
      el("button", { type: "button", class: "md-button", onclick: async () => save(name, await judge.ask("broken"), "application/octet-stream") }, "Download the changed file"),
      ...verdict(told.after),
      ...findings(told.after, root, null),
    ].filter(Boolean);
  };
  search.addEventListener("input", fill);
  list.addEventListener("change", choose);
  changes.addEventListener("change", () => (own.disabled = changes.value !== "own"));
  fill();
  if (wanted && fields.some(({ path }) => path === wanted)) list.value = wanted;
  const form = el("form", { onsubmit: submit }, el("label", {}, "Find a field ", search), list, about, el("label", {}, "Change ", changes), el("label", {}, "Value ", own), apply);
  const words = "Change one field. Whatever follows from the layout is computed anew, as in the golden files, and the file is judged again.";
  box.replaceChildren(el("h2", {}, "Break it"), el("p", {}, words), form, out);
  await choose();
  // Shown first: of what is hidden, a browser scrolls nothing.
  return () => {
    const chosen = list.selectedOptions[0];
    if (chosen) list.scrollTop = chosen.getBoundingClientRect().top - list.getBoundingClientRect().top - list.clientHeight / 2;
  };
}
