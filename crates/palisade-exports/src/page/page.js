"use strict";
// Steps through computations: buttons, arrow keys, a click on a row, or #step-N in the address for the first of them.
(function () {
  const all = Array.from(document.querySelectorAll(".computation"));
  const steppers = all.map(function (element) {
    const states = JSON.parse(element.querySelector(".states").textContent);
    const rows = new Map();
    element.querySelectorAll("tr[data-step]").forEach(function (row) { rows.set(Number(row.dataset.step), row); });
    const output = element.querySelector("output"), now = element.querySelector(".now");
    const boxes = Array.from(element.querySelectorAll(".box .entries"));
    const middle = element.querySelector("tbody.middle"), fold = element.querySelector("tbody.fold");
    const text = element.querySelector(".now .text code"), own = element.querySelector(".own-steps");
    let at = null;

    // Steps in registers are passed over unless they are wanted.
    function passes(step) {
      const row = rows.get(step);
      return step > 0 && step < states.length - 1 && (!row || (row.classList.contains("own") && !own.checked));
    }

    function next(step, by) {
      step += by;
      while (passes(step)) step += by;
      return step;
    }

    // Where the source stands beside the steps, its line comes into view.
    function show(line) {
      const panel = line.closest(".beside > section"), fold = line.closest("details");
      if (fold) fold.open = true;
      if (!panel || getComputedStyle(panel).position !== "sticky") return;
      const away = line.getBoundingClientRect().top - panel.getBoundingClientRect().top;
      if (away < 40 || away > panel.clientHeight - 40) panel.scrollTop += away - panel.clientHeight / 2;
    }

    function unfold() {
      if (middle) { middle.hidden = false; fold.hidden = true; }
    }

    function fill(box, entries, before) {
      box.textContent = "";
      entries.forEach(function (entry, index) {
        const span = document.createElement("span");
        span.textContent = entry;
        if (before && !before.includes(entry)) span.className = "changed";
        box.appendChild(span);
      });
      if (entries.length === 0) box.textContent = "empty";
    }

    function texts(memory) {
      return memory.map(function (cell) { return cell[0] + " = " + cell[1]; });
    }

    function go(step, scrolls) {
      at = Math.max(0, Math.min(states.length - 1, step));
      const state = states[at], before = at > 0 ? states[at - 1] : null;
      now.classList.add("shown");
      output.textContent = "step " + at + " of " + (states.length - 1);
      now.querySelector(".what").textContent = state.text;
      state.buffers.forEach(function (entries, index) { fill(boxes[index], entries, before && before.buffers[index]); });
      fill(boxes[boxes.length - 1], texts(state.memory), before && texts(before.memory));
      element.querySelectorAll("tr.current").forEach(function (row) { row.classList.remove("current"); });
      document.querySelectorAll(".line.at").forEach(function (line) { line.classList.remove("at"); });
      const row = rows.get(at);
      if (row) {
        if (row.closest("[hidden]")) unfold();
        row.classList.add("current");
        if (scrolls) row.scrollIntoView({ block: "nearest" });
      }
      const line = state.line === null ? null : document.getElementById("L" + state.line);
      text.textContent = line ? line.querySelector("code").textContent.trim() : "";
      if (line) { line.classList.add("at"); show(line); }
    }

    function move(where) {
      if (where === "first") go(0, true);
      else if (where === "last") go(states.length - 1, true);
      else if (where === "back") go(at === null ? 0 : next(at, -1), true);
      else go(next(at === null ? 0 : at, 1), true);
    }

    if (own) own.addEventListener("change", function () { element.classList.toggle("all", own.checked); });

    element.querySelectorAll("[data-go]").forEach(function (button) {
      button.addEventListener("click", function () { move(button.dataset.go); });
    });
    rows.forEach(function (row, step) {
      row.addEventListener("click", function (event) { if (!event.target.closest("a")) go(step, false); });
    });
    if (fold) fold.querySelector("button").addEventListener("click", unfold);
    return { element: element, move: move, go: go };
  });
  document.addEventListener("keydown", function (event) {
    if (event.altKey || event.ctrlKey || event.metaKey || steppers.length === 0) return;
    const where = { ArrowLeft: "back", ArrowRight: "on", Home: "first", End: "last" }[event.key];
    const own = steppers.find(function (stepper) { return stepper.element.contains(document.activeElement); });
    if (!where || (!own && (event.key === "Home" || event.key === "End"))) return;
    (own || steppers[0]).move(where);
    event.preventDefault();
  });
  const wanted = /^#step-(\d+)$/.exec(location.hash);
  if (wanted && steppers.length > 0) steppers[0].go(Number(wanted[1]), false);
  // A link to a line inside a fold opens it.
  function open() {
    const target = location.hash.startsWith("#L") && document.getElementById(location.hash.slice(1));
    const details = target && target.closest("details");
    if (details) { details.open = true; target.scrollIntoView(); }
  }
  window.addEventListener("hashchange", open);
  open();
})();
