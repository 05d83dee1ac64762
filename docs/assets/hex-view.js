// Hex views: point at bytes, or walk with the arrow keys, and their field lights up in the table, and the other way round.
// A byte run has data-f with the number of its field; the field's row has the id "<prefix>f<number>".
// Without this script bytes and table are there to read.
(() => {
  const PREFIX = /f\d+$/;

  function attach(view) {
    const bytes = view.querySelector(".hex-bytes");
    const fields = view.querySelector(".hex-fields");
    const rows = [...fields.querySelectorAll("tr[id]")];
    if (!rows.length) return;
    const prefix = rows[0].id.replace(PREFIX, "");
    const runs = new Map();
    for (const run of bytes.querySelectorAll("[data-f]")) {
      const number = run.dataset.f;
      if (!runs.has(number)) runs.set(number, []);
      runs.get(number).push(run);
    }
    const order = rows.map((row) => row.id.slice(prefix.length + 1));
    const told = document.createElement("output");
    told.className = "hex-told";
    told.setAttribute("aria-live", "polite");
    told.textContent = "Point at bytes or at a field.";
    view.before(told);
    let current = null;

    const within = (box, element) => {
      // Only the box is scrolled, and not the page under the reader's pointer.
      const outer = box.getBoundingClientRect();
      const inner = element.getBoundingClientRect();
      const head = box.querySelector("thead")?.offsetHeight ?? 0;
      if (inner.top < outer.top + head) box.scrollTop -= outer.top + head - inner.top + 20;
      else if (inner.bottom > outer.bottom) box.scrollTop += inner.bottom - outer.bottom + 20;
    };

    const words = (row) => {
      const [offset, size, name, type, value, meaning] = [...row.cells].map((cell) => cell.textContent.trim());
      let group = row.previousElementSibling;
      while (group && group.cells[0]?.tagName !== "TH") group = group.previousElementSibling;
      const path = [group?.cells[0].textContent.trim(), name].filter(Boolean).join(" · ");
      const where = `offset ${offset}, ${size} ${size === "1" ? "byte" : "bytes"}`;
      return `${where}: ${path}${type && ` (${type})`} = ${value || "no value"}. ${meaning}`;
    };

    function light(number, scrolled) {
      if (number === current) return;
      const swap = (on) => {
        if (current === null) return;
        for (const run of runs.get(current) ?? []) run.classList.toggle("on", on);
        document.getElementById(`${prefix}f${current}`)?.classList.toggle("on", on);
      };
      swap(false);
      current = number;
      swap(true);
      const row = document.getElementById(`${prefix}f${number}`);
      if (!row) return;
      told.textContent = words(row);
      const first = runs.get(number)?.[0];
      if (scrolled !== fields) within(fields, row);
      if (scrolled !== bytes && first) within(bytes, first);
    }

    // What differs is shown first, wherever it is.
    const mark = bytes.querySelector("mark:not(.w)") ?? bytes.querySelector("mark");
    if (mark) {
      within(bytes, mark);
      const row = document.getElementById(`${prefix}f${mark.closest("[data-f]").dataset.f}`);
      if (row) within(fields, row);
    }

    bytes.addEventListener("pointerover", (event) => {
      const run = event.target.closest("[data-f]");
      if (run) light(run.dataset.f, bytes);
    });
    fields.addEventListener("pointerover", (event) => {
      const row = event.target.closest("tr[id]");
      if (row) light(row.id.slice(prefix.length + 1), fields);
    });
    bytes.addEventListener("click", (event) => {
      const run = event.target.closest("[data-f]");
      if (run) light(run.dataset.f, bytes);
    });

    // The run above or below is the one nearest by its place on the screen.
    const nearest = (down) => {
      const from = runs.get(current)?.[0]?.getBoundingClientRect();
      if (!from) return null;
      let best = null;
      let least = Infinity;
      for (const run of bytes.querySelectorAll("[data-f]")) {
        const box = run.getBoundingClientRect();
        const away = down ? box.top - from.top : from.top - box.top;
        const cost = away * 100 + Math.abs(box.left - from.left);
        if (away > 4 && run.dataset.f !== current && cost < least) [best, least] = [run.dataset.f, cost];
      }
      return best;
    };

    view.addEventListener("keydown", (event) => {
      const place = order.indexOf(current);
      const inTable = fields.contains(event.target);
      const steps = {
        ArrowRight: () => order[Math.min(place + 1, order.length - 1)],
        ArrowLeft: () => order[Math.max(place - 1, 0)],
        ArrowDown: () => (inTable ? steps.ArrowRight() : nearest(true)),
        ArrowUp: () => (inTable ? steps.ArrowLeft() : nearest(false)),
        Home: () => order[0],
        End: () => order[order.length - 1],
      };
      if (!(event.key in steps) || event.ctrlKey || event.metaKey || event.altKey) return;
      const number = current === null ? order[0] : steps[event.key]();
      event.preventDefault();
      if (number !== null && number !== undefined) light(number);
    });
  }

  for (const view of document.querySelectorAll(".hex-view")) attach(view);
})();
