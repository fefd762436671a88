const table = document.getElementById("kernels");
if (table) {
  const body = table.tBodies[0];
  const rows = Array.from(body.rows);
  const text = document.getElementById("filter-text");
  const verdict = document.getElementById("filter-verdict");
  const shown = document.getElementById("filter-count");
  const filter = () => {
    const needle = text.value.toLowerCase();
    let count = 0;
    for (const row of rows) {
      const hit = row.textContent.toLowerCase().includes(needle) &&
        (!verdict.value || row.dataset.verdict === verdict.value);
      row.hidden = !hit;
      count += hit ? 1 : 0;
    }
    shown.textContent = count + " of " + rows.length;
  };
  text.addEventListener("input", filter);
  verdict.addEventListener("change", filter);
  const heads = Array.from(table.tHead.rows[0].cells);
  heads.forEach((head, column) => head.querySelector("button").addEventListener("click", () => {
    const up = head.getAttribute("aria-sort") !== "ascending";
    heads.forEach((other) => other.removeAttribute("aria-sort"));
    head.setAttribute("aria-sort", up ? "ascending" : "descending");
    const key = (row) => row.cells[column].dataset.key ?? row.cells[column].textContent.trim();
    const order = new Intl.Collator("en", { numeric: true });
    rows.sort((a, b) => (up ? 1 : -1) * order.compare(key(a), key(b)));
    body.append(...rows);
  }));
  const open = () => {
    const target = document.getElementById(location.hash.slice(1));
    if (target instanceof HTMLDetailsElement) target.open = true;
  };
  addEventListener("hashchange", open);
  addEventListener("beforeprint", () => document.querySelectorAll("details").forEach((d) => { d.open = true; }));
  filter();
  open();
}
