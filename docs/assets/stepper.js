// Shows the steps of a stepper one at a time. Without this script they are all there, one below the other.
"use strict";

(() => {
  const KEYS = { ArrowLeft: -1, ArrowRight: 1, Home: -Infinity, End: Infinity };

  function button(bar, words, act) {
    const made = document.createElement("button");
    made.type = "button";
    made.textContent = words;
    made.addEventListener("click", act);
    bar.append(made);
    return made;
  }

  // Where a picture is wider than the screen, what it points at is brought into sight.
  function show(frame) {
    const marks = frame.querySelectorAll(".edge");
    if (marks.length === 0) return;
    const beyond = marks[marks.length - 1].getBoundingClientRect().right - frame.getBoundingClientRect().right;
    if (beyond > -20) frame.scrollLeft += beyond + 20;
  }

  function begin(stepper) {
    const steps = [...stepper.querySelectorAll(".step")];
    const bar = document.createElement("div");
    bar.className = "stepper-bar";
    let now = 0;

    const back = button(bar, "← Previous", () => go(now - 1));
    const where = document.createElement("span");
    where.className = "where";
    where.setAttribute("role", "status");
    bar.append(where);
    const on = button(bar, "Next →", () => go(now + 1));
    const all = button(bar, "All steps", () => showAll(stepper.classList.contains("stepping")));

    function go(wanted) {
      now = Math.max(0, Math.min(steps.length - 1, wanted));
      steps.forEach((step, number) => step.classList.toggle("now", number === now));
      steps[now].querySelectorAll(".scroll").forEach(show);
      where.textContent = `Step ${now + 1} of ${steps.length}`;
      // Not disabled: the button would lose the focus at the last step.
      back.setAttribute("aria-disabled", String(now === 0));
      on.setAttribute("aria-disabled", String(now === steps.length - 1));
    }

    function showAll(whole) {
      stepper.classList.toggle("stepping", !whole);
      for (const one of [back, where, on]) one.hidden = whole;
      all.textContent = whole ? "One at a time" : "All steps";
    }

    // A link to a step, or to something within one, opens it.
    function follow() {
      const target = location.hash.length > 1 && document.getElementById(decodeURIComponent(location.hash.slice(1)));
      const step = target && target.closest(".step");
      if (step && stepper.contains(step)) {
        go(steps.indexOf(step));
        step.scrollIntoView({ block: "nearest" });
      }
    }

    stepper.addEventListener("keydown", (event) => {
      const by = KEYS[event.key];
      if (by === undefined || event.altKey || event.ctrlKey || event.metaKey || event.shiftKey) return;
      if (!stepper.classList.contains("stepping")) return;
      const frame = event.target.closest(".scroll");
      if (frame && frame.scrollWidth > frame.clientWidth) return; // the keys scroll it
      event.preventDefault();
      go(now + by);
    });
    window.addEventListener("hashchange", follow);

    stepper.prepend(bar);
    showAll(false);
    go(0);
    follow();
  }

  function start() {
    document.querySelectorAll(".stepper").forEach(begin);
  }

  if (document.readyState === "loading") document.addEventListener("DOMContentLoaded", start);
  else start();
})();
