// Filters of a long table: choices and a text, kept in the address, so that a view can be linked to.
// Of the rows that fit, the first are shown, and a button shows more.
// A form with data-list names the table; each choice compares with the words of data-<name> of a row.
// Without this script the form stays hidden and the table is whole.
(() => {
  const SHOWN = "shown";
  const PAGE = 50; // rows that are shown at once

  function attach(form) {
    const rows = [...document.querySelectorAll(`${form.dataset.list} tbody tr`)];
    const texts = new Map(rows.map((row) => [row, row.textContent.toLowerCase()]));
    const fields = [...form.elements].filter((field) => field.name);
    const output = form.querySelector("output");
    const more = document.createElement("button");
    more.type = "button";
    more.className = "md-button more-rows";
    const table = rows[0].closest("table");
    (table.closest(".scroll") ?? table).after(more);
    let limit = PAGE;

    const wanted = (row) =>
      fields.every((field) => {
        const value = field.type === "checkbox" ? (field.checked ? field.value : "") : field.value.trim().toLowerCase();
        if (!value) return true;
        if (field.type === "search") return value.split(/\s+/).every((word) => texts.get(row).includes(word));
        return (row.dataset[field.name] ?? "").split("|").includes(value);
      });

    function show() {
      const fitting = new Set(rows.filter(wanted));
      const target = [...fitting].findIndex((row) => row.id && `#${row.id}` === location.hash);
      const shown = new Set([...fitting].slice(0, Math.max(limit, target + 1)));
      for (const row of rows) row.hidden = !shown.has(row);
      more.hidden = shown.size === fitting.size;
      more.textContent = `Show ${Math.min(PAGE, fitting.size - shown.size)} more`;
      output.textContent = `${fitting.size} of ${rows.length}, ${shown.size} ${SHOWN}`;
    }

    function begin() {
      limit = PAGE;
      show();
      remember();
    }

    function remember() {
      const address = new URL(location.href);
      for (const field of fields) {
        const value = field.type === "checkbox" ? (field.checked ? field.value : "") : field.value.trim();
        if (value) address.searchParams.set(field.name, value);
        else address.searchParams.delete(field.name);
      }
      try {
        history.replaceState(null, "", address);
      } catch {
        // A page that was opened from disk may not change its address: the filter still works.
      }
    }

    function recall() {
      const asked = new URLSearchParams(location.search);
      for (const field of fields) {
        const value = asked.get(field.name) ?? "";
        if (field.type === "checkbox") field.checked = value === field.value;
        else field.value = field.type === "search" ? value : value.toLowerCase();
      }
    }

    form.addEventListener("submit", (event) => event.preventDefault());
    form.addEventListener("input", begin);
    form.addEventListener("reset", () => setTimeout(begin));
    more.addEventListener("click", () => {
      limit += PAGE;
      show();
    });
    addEventListener("hashchange", show);
    form.hidden = false;
    recall();
    show();
    if (location.hash) document.getElementById(location.hash.slice(1))?.scrollIntoView();
  }

  for (const form of document.querySelectorAll("form[data-list]")) attach(form);
})();
