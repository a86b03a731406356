
// Sorts, filters, copies and keeps the state in the address. Everything is on the page without it.
"use strict";
(() => {
  const table = document.getElementById("table");
  if (!table) return;
  const body = table.tBodies[0];
  const rows = [...body.rows].map((row, place) => ({row, place, name: row.cells[0].title,
    status: row.cells[1].textContent, verdict: row.cells[1].firstElementChild.className}));
  const headers = [...table.tHead.rows[0].cells];
  const box = document.getElementById("filter");
  const state = {filter: "", sort: "", status: "", open: ""};

  // GoogleTest: patterns of * and ? between colons, the negative ones behind the first dash; whole names.
  const pattern = text => new RegExp("^" + text.replace(/[.*+?^${}()|[\]\\]/g, "\\$&").replaceAll("\\*", "[^]*").replaceAll("\\?", "[^]") + "$");
  const matcher = text => {
    if (text === "") return () => true;
    if (!/[*?:-]/.test(text)) return name => name.toLowerCase().includes(text.toLowerCase()); // a plain word: anywhere
    const dash = text.indexOf("-");
    const split = part => part.split(":").filter(Boolean).map(pattern);
    const wanted = split(dash < 0 ? text : text.slice(0, dash));
    const unwanted = dash < 0 ? [] : split(text.slice(dash + 1));
    return name => (wanted.length === 0 || wanted.some(p => p.test(name))) && !unwanted.some(p => p.test(name));
  };

  const read = () => {
    const given = new URLSearchParams(location.hash.slice(1));
    for (const key of Object.keys(state)) state[key] = given.get(key) ?? "";
    if (/^#c\d+$/.test(location.hash)) state.open = location.hash.slice(1);
  };
  const write = () => {
    const text = new URLSearchParams(Object.entries(state).filter(entry => entry[1] !== "")).toString();
    try { history.replaceState(null, "", "#" + text); } catch { /* a sandbox without an address: the state stays here */ }
  };

  const show = () => {
    const fits = matcher(state.filter.trim());
    let shown = 0;
    for (const item of rows) {
      const [status, look] = state.status.split("/");
      item.row.hidden = !fits(item.name) || (status !== "" && !(item.status.includes(status) && item.verdict === (look ?? item.verdict)));
      shown += !item.row.hidden;
    }
    document.getElementById("shown").textContent = `${shown} of ${rows.length} shown`;
    for (const button of document.querySelectorAll(".ct button")) {
      button.setAttribute("aria-pressed", button.dataset.status === state.status);
      button.parentElement.classList.toggle("on", button.dataset.status === state.status);
    }
    const key = state.sort.replace(/^-/, ""), sign = state.sort.startsWith("-") ? -1 : 1;
    const column = headers.findIndex(header => header.dataset.k === key);
    headers.forEach((header, i) => header.setAttribute("aria-sort", i !== column ? "none" : sign > 0 ? "ascending" : "descending"));
    const value = row => {
      const cell = row.cells[column];
      return cell.dataset.v !== undefined ? Number(cell.dataset.v) : cell.textContent;
    };
    const order = (a, b) => {
      if (column < 0) return a.place - b.place;
      const x = value(a.row), y = value(b.row);
      if ((x === "") !== (y === "")) return x === "" ? 1 : -1; // what was not measured comes last, either way
      if (Number.isNaN(x) || Number.isNaN(y)) return Number.isNaN(x) - Number.isNaN(y) || a.place - b.place;
      const before = typeof x === "number" && typeof y === "number" ? x - y : String(x).localeCompare(String(y));
      return sign * before || a.place - b.place;
    };
    body.append(...[...rows].sort(order).map(item => item.row));
  };

  const open = () => {
    document.querySelector(".hit")?.classList.remove("hit");
    const target = /^c\d+$/.test(state.open) && document.getElementById(state.open);
    if (!target) return;
    target.classList.add("hit");
    target.closest("details.case").open = true;
    target.closest("details.case").scrollIntoView({block: "start"});
  };

  const copy = async (button, text) => {
    const label = button.textContent;
    try {
      await navigator.clipboard.writeText(text);
      button.textContent = "Copied";
    } catch {
      button.textContent = "Press Ctrl+C";
      const code = button.previousElementSibling;
      if (code) getSelection().selectAllChildren(code);
    }
    setTimeout(() => { button.textContent = label; }, 1500);
  };

  const button = (text, act) => {
    const made = document.createElement("button");
    made.type = "button";
    made.append(text);
    made.addEventListener("click", act);
    return made;
  };

  for (const header of headers) {
    const label = document.createElement("button");
    label.type = "button";
    label.append(...header.childNodes);
    label.addEventListener("click", () => {
      const key = header.dataset.k;
      state.sort = state.sort === key ? "-" + key : state.sort === "-" + key ? "" : key;
      write();
      show();
    });
    header.append(label);
  }
  for (const item of document.querySelectorAll("header .ct li")) {
    const look = item.className.replace("c ", "");
    const chip = button("", () => {
      state.status = state.status === chip.dataset.status ? "" : chip.dataset.status;
      write();
      show();
      document.getElementById("cases").scrollIntoView();
    });
    chip.dataset.status = (item.dataset.s === "crash" ? "" : item.dataset.s) + "/" + look;
    chip.append(...item.childNodes);
    item.append(chip);
  }
  for (const line of document.querySelectorAll(".again")) {
    line.append(button("Copy", event => copy(event.currentTarget, line.firstElementChild.textContent)));
  }
  table.addEventListener("click", event => {
    const link = event.target.closest("a[href^='#c']");
    if (!link) return;
    event.preventDefault();
    state.open = link.hash.slice(1);
    write();
    open();
  });
  box.addEventListener("input", () => { state.filter = box.value; write(); show(); });
  document.getElementById("reset").addEventListener("click", () => {
    Object.keys(state).forEach(key => { state[key] = ""; });
    box.value = "";
    write();
    show();
    open();
  });
  document.getElementById("copy-filter").addEventListener("click", event => {
    const text = state.filter.trim();
    copy(event.currentTarget, `--gtest_filter='${/[*?:-]/.test(text) || text === "" ? text || "*" : "*" + text + "*"}'`);
  });
  document.addEventListener("keydown", event => {
    if (event.key === "/" && !/^(INPUT|TEXTAREA)$/.test(event.target.tagName)) {
      event.preventDefault();
      box.focus();
    }
  });
  const start = () => {
    if (location.hash && !location.hash.includes("=") && !/^#c\d+$/.test(location.hash)) return; // a section of the page
    read();
    box.value = state.filter;
    show();
    open();
  };
  addEventListener("hashchange", start);
  document.querySelector(".tools").hidden = false;
  read();
  box.value = state.filter;
  show();
  open();
})();
