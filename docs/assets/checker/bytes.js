// Bytes around a place, each with its field: point at bytes or move to a row, and both light up.
import { el } from "./dom.js";

const hex = (number, width) => number.toString(16).padStart(width, "0");

export function view(told, offset, length) {
  const bytes = told.hex.match(/../g) ?? [];
  const fields = told.fields.filter((field) => field.length);
  const owner = (at) => fields.findIndex((field) => field.offset <= at && at < field.offset + field.length);
  const pre = el("pre", { class: "checker-hex", tabindex: 0, "aria-label": "Bytes" });
  const runs = new Map();
  for (let row = 0; row < bytes.length; row += 16) {
    pre.append(`${hex(told.start + row, 8)}  `);
    for (let index = row; index < Math.min(row + 16, bytes.length); index++) {
      const at = told.start + index;
      const number = owner(at);
      const isMeant = at >= offset && at < offset + Math.max(length, 1);
      const byte = el(isMeant ? "mark" : "span", { "data-f": number }, bytes[index]);
      if (!runs.has(number)) runs.set(number, []);
      runs.get(number).push(byte);
      pre.append(byte, " ");
    }
    pre.append("\n");
  }
  const rows = fields.map((field, number) =>
    el(
      "tr",
      { tabindex: 0, "data-f": number },
      [field.offset, field.length, field.path, field.value, field.doc].map((text) => el("td", {}, String(text))),
    ),
  );
  const head = ["offset", "bytes", "field", "value", "meaning"].map((text) => el("th", { scope: "col" }, text));
  const table = el("table", {}, el("thead", {}, el("tr", {}, head)), el("tbody", {}, rows));
  const light = (event) => {
    const number = Number(event.target.closest("[data-f]")?.dataset.f ?? -1);
    for (const one of box.querySelectorAll(".on")) one.classList.remove("on");
    if (number < 0) return;
    for (const byte of runs.get(number) ?? []) byte.classList.add("on");
    rows[number].classList.add("on");
  };
  const wide = el("div", { class: "checker-wide", tabindex: 0, role: "region", "aria-label": "Fields" }, table);
  const box = el("div", { class: "checker-view", onpointerover: light, onfocusin: light }, pre, fields.length ? wide : null);
  const why = told.whole ? null : el("p", {}, "The file is too large for its fields to be shown here; `pqassay dump` shows them.");
  return [box, why].filter(Boolean);
}
