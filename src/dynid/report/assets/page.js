"use strict";
// Light and dark, tabs, formulas, the contents' mark, and paper.
(() => {
  const root = document.documentElement;
  const button = document.getElementById("theme");
  const dark = matchMedia("(prefers-color-scheme: dark)");
  let chosen = null; // by the button; until then the system decides

  function show() {
    root.dataset.theme = chosen || (dark.matches ? "dark" : "light");
    button.textContent = root.dataset.theme === "dark" ? "Light" : "Dark";
    dynid.arm.draw();
    return dynid.redraw();
  }
  button.addEventListener("click", () => {
    chosen = root.dataset.theme === "dark" ? "light" : "dark";
    show();
  });
  dark.addEventListener("change", show);

  for (const list of document.querySelectorAll("[role=tablist]")) {
    const tabs = [...list.querySelectorAll("[role=tab]")];
    const select = (tab) => {
      for (const other of tabs) {
        const on = other === tab;
        other.setAttribute("aria-selected", on);
        other.tabIndex = on ? 0 : -1;
        document.getElementById(other.getAttribute("aria-controls")).toggleAttribute("data-hidden", !on);
      }
    };
    list.addEventListener("click", (event) => tabs.includes(event.target) && select(event.target));
    list.addEventListener("keydown", (event) => {
      const to = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
      if (!to) return;
      const next = tabs[(tabs.indexOf(document.activeElement) + to + tabs.length) % tabs.length];
      select(next);
      next.focus();
      event.preventDefault();
    });
  }

  const tip = document.getElementById("tip");
  let explained = null; // the name whose formula is open
  const hide = () => { tip.hidden = true; };
  const place = () => {
    if (tip.hidden) return;
    const at = explained.getBoundingClientRect(), own = tip.getBoundingClientRect();
    tip.style.left = Math.max(8, Math.min(at.left, innerWidth - own.width - 8)) + "px";
    tip.style.top = (at.bottom + own.height + 8 < innerHeight ? at.bottom + 6 : at.top - own.height - 6) + "px";
  };
  for (const name of document.querySelectorAll("[data-formula]")) {
    const open = () => {
      explained = name;
      tip.textContent = document.getElementById(name.dataset.formula).textContent;
      tip.hidden = false;
      place();
    };
    for (const event of ["mouseenter", "focus", "click"]) name.addEventListener(event, open);
    for (const event of ["mouseleave", "blur"]) name.addEventListener(event, hide);
  }
  addEventListener("keydown", (event) => event.key === "Escape" && hide());
  addEventListener("scroll", place, { passive: true });

  const links = new Map([...document.querySelectorAll(".contents a")].map((a) => [a.hash.slice(1), a]));
  const watcher = new IntersectionObserver((seen) => {
    for (const entry of seen.filter((e) => e.isIntersecting)) {
      for (const link of links.values()) link.removeAttribute("aria-current");
      links.get(entry.target.id)?.setAttribute("aria-current", "true");
    }
  }, { rootMargin: "-20% 0px -70% 0px" });
  for (const section of document.querySelectorAll("main > section")) watcher.observe(section);

  let waiting = 0;
  addEventListener("resize", () => {
    clearTimeout(waiting);
    waiting = setTimeout(show, 150);
  });

  const PAPER = 660; // px, the width of a page of A4 between its margins
  addEventListener("beforeprint", () => {
    root.dataset.theme = "light";
    for (const details of document.querySelectorAll("details")) details.open = true;
    dynid.redraw(PAPER);
    dynid.arm.draw();
  });
  addEventListener("afterprint", show);

  root.dataset.theme = dark.matches ? "dark" : "light";
  button.textContent = root.dataset.theme === "dark" ? "Light" : "Dark";
  dynid.arm.draw();
  dynid.start();
})();
