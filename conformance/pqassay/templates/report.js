"use strict";
// The page is complete without this script: it adds filters, and opens what a link leads to.
(() => {
  const form = document.getElementById("filters");
  const items = [...document.querySelectorAll(".item")];
  const groups = [...document.querySelectorAll(".group")];

  function open(target) {
    for (let node = target; node; node = node.parentElement) {
      if (node.tagName === "DETAILS") node.open = true;
    }
  }

  function follow() {
    const target = document.getElementById(decodeURIComponent(location.hash.slice(1)));
    if (target) {
      open(target);
      (target.closest("details") || target).scrollIntoView();
    }
  }
  window.addEventListener("hashchange", follow);
  if (location.hash) follow();

  let opened = [];
  window.addEventListener("beforeprint", () => {
    opened = [...document.querySelectorAll("details:not([open])")];
    for (const node of opened) node.open = true;
  });
  window.addEventListener("afterprint", () => {
    for (const node of opened) node.open = false;
  });

  if (!form) return;
  form.hidden = false;
  const shown = document.getElementById("shown");
  const words = new Map(); // what the text filter looks at: made once for each item

  function textOf(item) {
    if (!words.has(item)) {
      words.set(item, (item.dataset.where + " " + item.firstElementChild.textContent).toLowerCase());
    }
    return words.get(item);
  }

  function apply() {
    const wanted = Object.fromEntries(new FormData(form));
    const text = (wanted.text || "").trim().toLowerCase();
    delete wanted.text;
    const pairs = Object.entries(wanted).filter((pair) => pair[1] !== "");
    let count = 0;
    for (const item of items) {
      const fits = pairs.every(([name, value]) => item.dataset[name] === value) && (!text || textOf(item).includes(text));
      item.hidden = !fits;
      count += fits;
    }
    const isFiltered = pairs.length > 0 || text !== "";
    for (const group of groups) {
      group.hidden = isFiltered && !group.querySelector(".item:not([hidden])");
    }
    shown.textContent = count.toLocaleString("en") + " of " + items.length.toLocaleString("en") + " shown";
  }

  let waiting = 0;
  form.addEventListener("input", () => {
    clearTimeout(waiting);
    waiting = setTimeout(apply, 120);
  });
  form.addEventListener("submit", (event) => event.preventDefault());
  form.addEventListener("reset", () => setTimeout(apply, 0));
  for (const [id, state] of [["unfold", true], ["fold", false]]) {
    document.getElementById(id).addEventListener("click", () => {
      for (const item of items) if (!item.hidden) item.open = state;
    });
  }
  apply();
})();
