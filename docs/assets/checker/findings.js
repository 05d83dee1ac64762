// The verdict and the findings, as in the HTML report.
import { count, el } from "./dom.js";

const badge = (text, tone) => el("span", { class: `badge tone-${tone}` }, text);

export const rulePage = (root, rule) => `${root}rules/${rule.toLowerCase()}.html`;

// Rows of a hexdump; a line of carets marks bytes of the line above it.
export function hexdump(rows) {
  const pre = el("pre", { class: "hexdump", tabindex: 0, "aria-label": "Bytes; those that the finding is about are marked" });
  rows.forEach((row, number) => {
    if (/^ {10,}\^\^/.test(row)) return;
    const marks = /^ {10,}\^\^/.test(rows[number + 1] ?? "") ? rows[number + 1] : "";
    const carets = /\^[\^ ]*\^/.exec(marks);
    if (!carets) return pre.append(`${row}\n`);
    const [start, end] = [carets.index, carets.index + carets[0].trimEnd().length];
    pre.append(row.slice(0, start), el("mark", {}, row.slice(start, end)), row.slice(end));
    pre.append(el("span", { class: "note" }, `  ${marks.slice(end).trim()}`), "\n");
  });
  return pre;
}

function finding(one, root, show, isOpen) {
  const rows = [["rule", el("span", {}, el("a", { href: rulePage(root, one.rule) }, one.rule), ` ${one.sentence}`)], ...one.details];
  return el(
    "details",
    { class: "item", open: isOpen },
    el(
      "summary",
      {},
      badge(one.verdict, one.tone),
      " ",
      el("b", {}, one.rule),
      one.part ? el("code", {}, ` ${one.part}`) : null,
      el("span", { class: "message" }, ` ${one.message}`),
      one.count > 1 ? el("span", { class: "times" }, ` ${one.count.toLocaleString("en")} times`) : null,
    ),
    el(
      "div",
      { class: "body" },
      el("dl", {}, rows.map(([label, value]) => el("div", {}, el("dt", {}, label), el("dd", {}, value)))),
      Object.entries(one.further).map(([name, lines]) => [el("h4", {}, name), el("pre", { tabindex: 0 }, lines.join("\n"))]).flat(),
      one.hexdump.length ? hexdump(one.hexdump) : null,
      one.offset >= 0 && show && !one.field.startsWith("data.")
        ? el("button", { type: "button", class: "md-button", onclick: () => show(one) }, "Show these bytes and their fields")
        : null,
    ),
  );
}

export function verdict(told) {
  const tally = {};
  for (const one of told.findings) tally[one.verdict] = (tally[one.verdict] ?? 0) + 1;
  // What only a deeper tier can tell may lose rows: without it a file is not shown as good.
  const tone = told.deeper && told.tone === "good" ? "plain" : told.tone;
  const deeper = told.deeper
    ? `${count(told.deeper, "rule")} need more than tier ${told.tier}: `
    : "Nothing deeper was left out.";
  return [
    el("h2", {}, el("span", { class: "path" }, told.name), " ", badge(told.outcome, tone)),
    el(
      "p",
      {},
      told.summary ? `${told.summary}; ` : "",
      `${told.size.toLocaleString("en")} bytes, ${count(told.checked, "rule")} tested`,
      Object.entries(tally).map(([name, number]) => `, ${number} ${name}`).join(""),
      `. ${deeper}`,
      told.deeper ? el("code", {}, `pqassay check --tier values ${/^[\w./-]+$/.test(told.name) ? told.name : told.kind === "folder" ? "FOLDER" : "FILE"}`) : null,
    ),
    told.remarks.length ? el("ul", { class: "remarks" }, told.remarks.map((line) => el("li", {}, line))) : null,
  ].filter(Boolean);
}

export function findings(told, root, show) {
  if (!told.findings.length) return [el("p", {}, "Nothing is wrong with what was checked.")];
  return told.findings.map((one) => finding(one, root, show, told.findings.length < 4));
}
