// A table that is wider than the page can be scrolled with keys: it takes the focus, as long as there is something to scroll.
(() => {
  const content = document.querySelector(".md-content");
  const wraps = () => document.querySelectorAll(".md-typeset__scrollwrap");
  const look = () => {
    for (const wrap of wraps()) {
      const isWide = wrap.scrollWidth > wrap.clientWidth;
      if (!isWide) {
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
