"use strict";

// Theme: follow the system until the button is pressed.
const root = document.documentElement;
document.getElementById("theme").addEventListener("click", () => {
  const dark = root.dataset.theme
    ? root.dataset.theme === "dark"
    : matchMedia("(prefers-color-scheme: dark)").matches;
  root.dataset.theme = dark ? "light" : "dark";
});

// Tables: a click on a heading sorts by its column, a second one reverses the order.
const valueOf = (cell) => {
  const text = cell.dataset.v ?? cell.textContent.trim().replace(/,/g, "");
  if (text === "" || text === "–") return { empty: true };
  const number = Number(text.replace("−", "-").replace("%", ""));
  return Number.isNaN(number) ? { text } : { number };
};
const compareValues = (a, b) => {
  if (a.empty || b.empty) return 0;
  if ("number" in a && "number" in b) return a.number - b.number;
  return String(a.text ?? a.number).localeCompare(String(b.text ?? b.number));
};
for (const table of document.querySelectorAll("table.sortable")) {
  const headings = [...table.tHead.rows[0].cells];
  headings.forEach((heading, place) => {
    heading.tabIndex = 0;
    const sort = () => {
      const up = heading.getAttribute("aria-sort") !== "ascending";
      headings.forEach((one) => one.removeAttribute("aria-sort"));
      heading.setAttribute("aria-sort", up ? "ascending" : "descending");
      const body = table.tBodies[0];
      const rows = [...body.rows].map((row) => ({ row, value: valueOf(row.cells[place]) }));
      rows.sort((a, b) => {
        if (a.value.empty !== b.value.empty) return a.value.empty ? 1 : -1;
        return (up ? 1 : -1) * compareValues(a.value, b.value);
      });
      body.append(...rows.map((one) => one.row));
    };
    heading.addEventListener("click", sort);
    heading.addEventListener("keydown", (event) => {
      if (event.key === "Enter" || event.key === " ") {
        event.preventDefault();
        sort();
      }
    });
  });
}

// Pictures: show the tooltip of the part that is pointed at.
const tooltip = document.getElementById("tooltip");
for (const part of document.querySelectorAll("svg .has-tooltip")) {
  const title = part.querySelector("title");
  part.dataset.tooltip = title.textContent;
  title.remove();
  part.setAttribute("aria-label", part.dataset.tooltip);
  part.addEventListener("pointermove", (event) => {
    tooltip.textContent = part.dataset.tooltip;
    tooltip.hidden = false;
    const limit = innerWidth - tooltip.offsetWidth - 8;
    tooltip.style.left = `${Math.max(4, Math.min(event.clientX + 14, limit))}px`;
    tooltip.style.top = `${event.clientY + 14}px`;
  });
  part.addEventListener("pointerleave", () => { tooltip.hidden = true; });
}

// Decisions: the slider moves the threshold, and shows what it would decide and cost.
const slider = document.getElementById("slider");
if (slider) {
  const data = JSON.parse(slider.dataset.content);
  const size = data.classes.length;
  const position = document.getElementById("position");
  const costs = [...slider.querySelectorAll("[data-cost]")];
  const cells = [...document.getElementById("slider-table").tBodies[0].rows].map((row) =>
    [...row.cells].slice(1));
  const sum = (values) => values.reduce((total, value) => total + value, 0);
  const share = (part, whole) => (whole ? `${(100 * part / whole).toFixed(1)} %` : "–");
  const update = () => {
    const place = Number(position.value);
    const flat = data.tables[place];
    const table = cells.map((_, i) => flat.slice(i * size, (i + 1) * size));
    const rows = table.map(sum);
    const total = sum(rows);
    let cost = 0;
    table.forEach((row, i) => {
      cost += (rows[i] - row[i]) * (Number(costs[i].value) || 0);
      row.forEach((count, j) => {
        const cell = cells[i][j];
        cell.textContent = count.toLocaleString("en");
        cell.className = i === j ? "correct" : "wrong";
        cell.style.setProperty("--w", rows[i] ? count / rows[i] : 0);
      });
    });
    const hits = table[data.rare][data.rare];
    const predicted = sum(table.map((row) => row[data.rare]));
    const name = data.classes[data.rare];
    const value = data.positions[place];
    document.getElementById("position-value").textContent =
      data.twoClasses ? value.toPrecision(3) : `${value.toPrecision(3)} ×`;
    position.setAttribute("aria-valuetext", value.toPrecision(3));
    document.getElementById("slider-words").textContent =
      `${predicted.toLocaleString("en")} of ${total.toLocaleString("en")} rows are predicted to be ` +
      `${name}; recall ${share(hits, rows[data.rare])}, precision ${share(hits, predicted)}. ` +
      `Cost ${(cost / total).toPrecision(4)} per row, ` +
      `${Number(cost.toPrecision(6)).toLocaleString("en")} in all.`;
  };
  position.max = data.positions.length - 1;
  const reset = () => { position.value = data.start; update(); };
  costs.forEach((input, i) => {
    input.value = data.costs[i];
    input.addEventListener("input", update);
  });
  position.addEventListener("input", update);
  document.getElementById("position-reset").addEventListener("click", reset);
  reset();
}
