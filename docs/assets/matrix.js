// Tools above tables of answers: only rows in which implementations disagree, rows with a text, columns by harm.
// Without this script the tables are whole, in the order in which they were made.
(() => {
  const HARM = ["rows-lost", "wrong-rows", "crashed", "wrong-answer", "accepted", "refused"];

  const signs = (row) =>
    [...row.cells].slice(1).map((cell) => cell.querySelector("[role=img]")?.getAttribute("aria-label") ?? "");

  const disagrees = (row) => new Set(signs(row).filter((sign) => sign && sign !== "not asked")).size > 1;

  const harm = (table, column) =>
    [...table.tBodies].flatMap((body) => [...body.rows]).filter((row) => {
      const sign = row.cells[column]?.querySelector("[role=img]");
      return sign && HARM.some((name) => sign.classList.contains(name));
    }).length;

  function sortColumns(table, byHarm, original) {
    const width = table.tHead.rows[0].cells.length;
    const rows = [...table.rows].filter((row) => row.cells.length === width);
    const columns = byHarm
      ? [...Array(width - 1).keys()]
          .map((index) => ({ cells: rows.map((row) => row.cells[index + 1]), harm: harm(table, index + 1) }))
          .sort((one, other) => other.harm - one.harm)
          .map((column) => column.cells)
      : original;
    for (const cells of columns) cells.forEach((cell, index) => rows[index].append(cell));
  }

  function add(table) {
    const width = table.tHead.rows[0].cells.length;
    const whole = [...table.rows].filter((row) => row.cells.length === width);
    const original = [...Array(width - 1).keys()].map((index) => whole.map((row) => row.cells[index + 1]));
    const rows = [...table.tBodies].flatMap((body) => [...body.rows]).filter((row) => signs(row).some(Boolean));
    const tools = document.createElement("form");
    tools.className = "filter";
    tools.innerHTML =
      '<label>Find <input type="search" name="text"></label>' +
      '<label><input type="checkbox" name="disagree"> only where they disagree</label>' +
      '<label><input type="checkbox" name="harm"> columns by harm</label>' +
      '<output aria-live="polite"></output>';
    const show = () => {
      const text = tools.elements.text.value.trim().toLowerCase();
      let shown = 0;
      for (const row of rows) {
        const wanted =
          (!text || row.cells[0].textContent.toLowerCase().includes(text)) &&
          (!tools.elements.disagree.checked || disagrees(row));
        row.hidden = !wanted;
        shown += wanted;
      }
      tools.querySelector("output").textContent = `${shown} of ${rows.length} rows`;
    };
    tools.addEventListener("submit", (event) => event.preventDefault());
    tools.elements.text.addEventListener("input", show);
    tools.elements.disagree.addEventListener("change", show);
    tools.elements.harm.addEventListener("change", (event) => sortColumns(table, event.target.checked, original));
    (table.closest(".scroll, .matrix, .md-typeset__scrollwrap") ?? table).before(tools);
    show();
  }

  const LEAST = 8; // rows from which on tools are of use
  for (const table of document.querySelectorAll("table.sortable, .matrix.upright:not(.exchange) table")) {
    if (table.rows.length > LEAST) add(table);
  }
})();
