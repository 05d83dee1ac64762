// A table that is wider than the page can be scrolled with keys: it takes the focus, as long as there is something to scroll.
// One that is much higher than the screen is scrolled in a box, in which its first row stays in sight.
(() => {
  const TALL = 2; // screens
  const content = document.querySelector(".md-content");
  const isTall = (wrap) => wrap.classList.toggle("tall", wrap.scrollHeight > TALL * innerHeight);
  const look = () => {
    document.querySelectorAll(".md-typeset .scroll:not(:has(.list))").forEach(isTall);
    for (const wrap of document.querySelectorAll(".md-typeset__scrollwrap")) {
      if (!isTall(wrap) && wrap.scrollWidth <= wrap.clientWidth) {
        for (const name of ["tabindex", "role", "aria-label"]) wrap.removeAttribute(name);
        continue;
      }
      wrap.tabIndex = 0;
      wrap.setAttribute("role", "group");
      wrap.setAttribute("aria-label", "Table that scrolls");
    }
  };
  if (content) new ResizeObserver(look).observe(content);
})();
