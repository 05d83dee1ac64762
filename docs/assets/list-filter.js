// Filters of a long table: choices and a text, kept in the address, so that a view can be linked to.
// A form with data-list names the table; each choice compares with the words of data-<name> of a row.
// Without this script the form stays hidden and the table is whole.
(() => {
  const SHOWN = "shown";

  function attach(form) {
    const rows = [...document.querySelectorAll(`${form.dataset.list} tbody tr`)];
    const texts = new Map(rows.map((row) => [row, row.textContent.toLowerCase()]));
    const fields = [...form.elements].filter((field) => field.name);
    const output = form.querySelector("output");

    const wanted = (row) =>
      fields.every((field) => {
        const value = field.type === "checkbox" ? (field.checked ? field.value : "") : field.value.trim().toLowerCase();
        if (!value) return true;
        if (field.type === "search") return value.split(/\s+/).every((word) => texts.get(row).includes(word));
        return (row.dataset[field.name] ?? "").split("|").includes(value);
      });

    function show() {
      let count = 0;
      for (const row of rows) {
        const fits = wanted(row);
        row.hidden = !fits;
        count += fits;
      }
      output.textContent = `${count} of ${rows.length} ${SHOWN}`;
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
    form.addEventListener("input", () => {
      show();
      remember();
    });
    form.addEventListener("reset", () =>
      setTimeout(() => {
        show();
        remember();
      }),
    );
    form.hidden = false;
    recall();
    show();
  }

  for (const form of document.querySelectorAll("form[data-list]")) attach(form);
})();
