"use strict";
(() => {
  const byId = (id) => document.getElementById(id);
  const form = byId("filters");
  const [text, status, area, level] = ["text", "status", "area", "level"].map((f) => byId("f-" + f));
  const rows = [...document.querySelectorAll(".rule-row")].map((row) => {
    const rule = byId("r-" + row.dataset.rule);
    const words = row.querySelector("th").textContent + " " + rule.textContent.slice(0, 4000);
    return { row, rule, words: words.toLowerCase() };
  });

  const fitting = (statuses) =>
    !status.value ||
    (status.value === "applicable"
      ? statuses.some((each) => each !== "not-applicable")
      : statuses.includes(status.value));

  const filter = () => {
    const wanted = text.value.trim().toLowerCase();
    let seen = 0;
    for (const { row, rule, words } of rows) {
      const fits =
        words.includes(wanted) &&
        fitting(row.dataset.status.split(" ")) &&
        (!area.value || row.dataset.area === area.value) &&
        (!level.value || row.dataset.level === level.value);
      row.hidden = rule.hidden = !fits;
      seen += fits;
    }
    for (const group of document.querySelectorAll("#matrix tbody")) {
      group.hidden = !group.querySelector(".rule-row:not([hidden])");
    }
    byId("f-count").textContent = `${seen} of ${rows.length} rules`;
  };

  const reveal = () => {
    const target = byId(decodeURIComponent(location.hash.slice(1)));
    if (!target) return;
    for (let each = target; each; each = each.parentElement) {
      if (each.tagName === "DETAILS") each.open = true;
      if (each.hidden) each.hidden = false;
    }
    target.scrollIntoView();
    if (target.tabIndex === -1 && target.tagName === "DIV") target.focus({ preventScroll: true });
  };

  const copy = async (pre, button) => {
    const selection = getSelection();
    selection.selectAllChildren(pre);
    try {
      await navigator.clipboard.writeText(pre.textContent);
      button.textContent = "copied";
    } catch {
      button.textContent = document.execCommand("copy") ? "copied" : "selected: copy it";
    }
    setTimeout(() => (button.textContent = "copy"), 2000);
  };

  for (const pre of document.querySelectorAll(".copy pre")) {
    const button = document.createElement("button");
    button.type = "button";
    button.textContent = "copy";
    button.setAttribute("aria-describedby", pre.id);
    button.addEventListener("click", () => copy(pre, button));
    pre.after(button);
  }

  let opened = [];
  addEventListener("beforeprint", () => {
    opened = [...document.querySelectorAll("details:not([open])")];
    for (const each of opened) each.open = true;
  });
  addEventListener("afterprint", () => {
    for (const each of opened) each.open = false;
  });

  form.hidden = false;
  form.addEventListener("input", filter);
  form.addEventListener("submit", (event) => event.preventDefault());
  form.addEventListener("reset", () =>
    setTimeout(() => {
      status.value = "";
      filter();
    }));
  addEventListener("hashchange", reveal);
  filter();
  reveal();
})();
