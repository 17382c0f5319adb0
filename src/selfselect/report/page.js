"use strict";
(() => {
  const data = JSON.parse(document.getElementById("data").textContent);
  const K = data.names.length;
  const T = data.thresholds === null ? 1 : data.thresholds.length;
  const population = data.population === null ? data.published : data.population;
  const $ = (id) => document.getElementById(id);

  // ------------------------------------------------------------ numbers as text: the same as selfselect/formatting.py

  const UNDEFINED = "undefined";
  function percent(value) {
    if (Number.isNaN(value)) return UNDEFINED;
    const tenths = Math.floor(value * 1000 + 0.5);
    return `${Math.floor(tenths / 10)}.${tenths % 10}%`;
  }
  function thousandths(n) {
    let decimals = String(n % 1000).padStart(3, "0");
    if (decimals.endsWith("0")) decimals = decimals.slice(0, 2);
    return `${Math.floor(n / 1000)}.${decimals}`;
  }
  const fixed = (n) => `${Math.floor(n / 1000)}.${String(n % 1000).padStart(3, "0")}`;
  const amount = (v) => (Number.isNaN(v) ? UNDEFINED : thousandths(Math.floor(v * 1000 + 0.5)));
  const amountUp = (v) => (Number.isNaN(v) ? UNDEFINED : thousandths(Math.ceil(v * 1000 - 1e-6)));
  const amountDown = (v) => (Number.isNaN(v) ? UNDEFINED : thousandths(Math.floor(v * 1000 + 1e-6)));
  function count(value) {
    const [whole, rest] = String(value).split(".");
    const grouped = whole.replace(/\B(?=(\d{3})+(?!\d))/g, ",");
    return rest === undefined ? grouped : `${grouped}.${rest}`;
  }
  function listed(items) {
    if (items.length < 2) return items.join("");
    return `${items.slice(0, -1).join(", ")} and ${items[items.length - 1]}`;
  }
  const thresholdText = (t) => {
    const value = data.thresholds[t];
    return value === null ? "none" : String(value);
  };

  // ------------------------------------------------------------ the model: the same rules as the library

  const ratio = (top, bottom) => (bottom === 0 ? NaN : top / bottom);
  const sum = (values) => values.reduce((a, b) => a + b, 0);

  function groupCost(state, z) {
    const base = state.cost === null ? data.group_costs[z] : state.cost;
    const subsidy = state.subsidies[z];
    return data.kind === "proportional" ? base * (1 - subsidy) : Math.max(base - subsidy, 0);
  }
  function listedCost(state, z) {
    return state.cost === null ? data.group_costs[z] : state.cost;
  }
  function appliesAt(hits, passed, cost) {
    // counts are compared, never ratios
    return passed > 0 && hits >= cost * passed - data.slack * Math.max(passed, 1);
  }
  function interval(hits, passed) {
    if (passed <= 0) return [NaN, NaN];
    const { z, z2 } = data;
    const half = z * Math.sqrt((hits * (passed - hits)) / passed + z2 / 4);
    const low = hits <= 0 ? 0 : (hits + z2 / 2 - half) / (passed + z2);
    const high = hits >= passed ? 1 : (hits + z2 / 2 + half) / (passed + z2);
    return [low, high];
  }
  function correctIn(table, t, z) {
    return table.n[z] - table.positives[z] - table.selected[t][z] + 2 * table.true_positives[t][z];
  }

  function outcome(state, applies) {
    const t = state.threshold;
    let people = 0, right = 0, applicants = 0, rightApplicants = 0, qualified = 0, away = 0, groups = 0;
    for (let z = 0; z < K; z += 1) {
      const correct = correctIn(population, t, z);
      people += population.n[z];
      right += correct;
      qualified += population.positives[z];
      if (applies[z]) {
        groups += 1;
        applicants += population.n[z];
        rightApplicants += correct;
      } else {
        away += population.positives[z];
      }
    }
    return {
      assumed_accuracy: ratio(right, people),
      induced_accuracy: ratio(rightApplicants, applicants),
      social_cost: ratio(away, qualified),
      application_rate: ratio(applicants, people),
      applying_groups: groups,
      n: people,
    };
  }
  function decisions(state) {
    const t = state.threshold;
    return data.names.map((_, z) =>
      appliesAt(data.published.true_positives[t][z], data.published.selected[t][z], groupCost(state, z)));
  }
  function compute(state) {
    const t = state.threshold;
    const applies = decisions(state);
    const groups = data.names.map((name, z) => {
      const n = data.published.n[z];
      const selected = data.published.selected[t][z];
      const hits = data.published.true_positives[t][z];
      const cost = groupCost(state, z);
      const precision = ratio(hits, selected);
      const [low, high] = interval(hits, selected);
      const gain = Math.max(hits - cost * selected, 0);
      const paid = applies[z] ? (listedCost(state, z) - cost) * population.selected[t][z] : 0;
      return {
        z, name, n, selected, cost, precision, precision_low: low, precision_high: high,
        true_positives: hits,
        base_rate: ratio(data.published.positives[z], n),
        accuracy: ratio(correctIn(data.published, t, z), n),
        selection_rate: ratio(selected, n),
        applies: applies[z],
        subsidy: state.subsidies[z],
        subsidy_needed: applies[z] ? 0 : Math.max(cost - precision, 0),
        utility: ratio(gain, n),
        paid,
        recipients: paid > 0 ? population.selected[t][z] : 0,
      };
    });
    const result = outcome(state, applies);
    result.groups = groups;
    result.paid = sum(groups.map((g) => g.paid));
    result.recipients = sum(groups.map((g) => g.recipients));
    result.utility = ratio(sum(groups.map((g) => g.utility * g.n)), sum(data.published.n));
    result.verdict = verdict(state, result);
    return result;
  }

  // ------------------------------------------------------------ words: the same as selfselect/auditing.py

  function verdict(state, result) {
    const at = state.cost === null ? "At the costs given," : `At a cost of ${amount(state.cost)},`;
    const staying = result.groups.filter((g) => !g.applies).map((g) => g.name);
    if (result.applying_groups === 0) {
      return `${at} nobody applies: no group finds it worth being tested, and there is nobody to be accurate about.`;
    }
    if (staying.length === 0) {
      const everyone = K === 1 ? "everybody applies" : `all ${K} groups apply`;
      return `${at} ${everyone}: the model is right for ${percent(result.assumed_accuracy)} of them, as assumed.`;
    }
    const stay = staying.length === 1 ? "stays" : "stay";
    const who = staying.length <= data.most_named ? listed(staying) : `${staying.length} of ${K} groups`;
    return `${at} ${who} ${stay} away: the model is right for ${percent(result.induced_accuracy)} of those ` +
      `who apply, not ${percent(result.assumed_accuracy)} as assumed, and ${percent(result.social_cost)} of ` +
      "qualified people stay away.";
  }
  function sentence(g) {
    if (g.selected === 0) return `${g.name} stays away: nobody in it passes screening, so no subsidy can bring it in.`;
    const hired = `${percent(g.precision)} of those who pass screening are hired`;
    if (g.applies) return `${g.name} applies at a cost of ${amount(g.cost)}: ${hired}.`;
    if (g.precision === 0) {
      return `${g.name} stays away at a cost of ${amount(g.cost)}: nobody of those who pass screening is hired.`;
    }
    return `${g.name} stays away at a cost of ${amount(g.cost)}: ${hired}; it would come at ${amountDown(g.precision)} ` +
      `or with a subsidy of ${amountUp(g.subsidy_needed)}.`;
  }
  function warning(g) {
    if (g.selected === 0) return "";
    if (g.selected < data.few) return `only ${count(g.selected)} pass screening, mostly chance`;
    if (g.precision_low < g.cost && g.cost <= g.precision_high) {
      return "the interval holds the cost";
    }
    return "";
  }

  // ------------------------------------------------------------ state, kept in the address

  const byPeople = data.names.map((_, z) => z).sort((a, b) => data.published.n[b] - data.published.n[a] || a - b);
  const MOST_DRAWN = 8;
  const startThreshold = data.thresholds === null ? 0 : data.thresholds.indexOf(data.threshold);
  function startState() {
    return {
      cost: data.cost,
      threshold: Math.max(startThreshold, 0),
      subsidies: data.subsidies.slice(),
      drawn: byPeople.slice(0, MOST_DRAWN),
    };
  }
  let state = startState();

  function toHash(current) {
    const start = startState();
    const parts = [];
    if (current.cost !== start.cost) parts.push(`c=${current.cost}`);
    if (current.threshold !== start.threshold) parts.push(`t=${thresholdText(current.threshold)}`);
    const paid = [];
    current.subsidies.forEach((s, z) => { if (s !== start.subsidies[z]) paid.push(`${z}:${s}`); });
    if (paid.length) parts.push(`s=${paid.join(",")}`);
    if (current.drawn.join() !== start.drawn.join()) parts.push(`d=${current.drawn.join(",")}`);
    return parts.join("&");
  }
  function fromHash(text) {
    const next = startState();
    for (const part of text.replace(/^#/, "").split("&")) {
      const [key, value = ""] = part.split("=");
      if (key === "c") {
        const cost = Number(value);
        if (value !== "" && cost >= 0 && cost <= 1) next.cost = cost;
      } else if (key === "t" && data.thresholds !== null) {
        const t = data.thresholds.findIndex((_, i) => thresholdText(i) === value);
        if (t >= 0) next.threshold = t;
      } else if (key === "s") {
        for (const pair of value.split(",")) {
          const [z, s] = pair.split(":").map(Number);
          if (Number.isInteger(z) && z >= 0 && z < K && s >= 0 && s <= 1) next.subsidies[z] = s;
        }
      } else if (key === "d") {
        const drawn = value.split(",").filter((z) => z !== "").map(Number);
        next.drawn = [...new Set(drawn.filter((z) => Number.isInteger(z) && z >= 0 && z < K))].slice(0, MOST_DRAWN);
      }
    }
    return next;
  }
  let ownHash = "";
  function remember() {
    ownHash = toHash(state);
    const address = ownHash ? `#${ownHash}` : "#";
    try {
      history.replaceState(null, "", address);
    } catch {
      location.hash = ownHash;
    }
  }

  // ------------------------------------------------------------ tables and their files

  const tables = {};
  function inertCell(value) {
    if (typeof value !== "string") return value;
    return (/^[\s]*[=+\-@]/.test(value) || /^[\t\r]/.test(value)) ? `'${value}` : value;
  }
  function csvText(columns, rows) {
    const cell = (value) => {
      if (value === null || value === undefined || Number.isNaN(value)) return "";
      const text = String(inertCell(value));
      return /[",\n\r]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
    };
    return [columns, ...rows].map((row) => row.map(cell).join(",")).join("\n") + "\n";
  }
  function download(name) {
    const { columns, rows } = tables[name]();
    const link = document.createElement("a");
    link.href = URL.createObjectURL(new Blob([csvText(columns, rows)], { type: "text/csv" }));
    link.download = `${name}.csv`;
    link.click();
    setTimeout(() => URL.revokeObjectURL(link.href), 10000);
  }
  function make(tag, text, className) {
    const element = document.createElement(tag);
    if (text !== undefined) element.textContent = text;
    if (className) element.className = className;
    return element;
  }
  function fillTable(name) {
    const table = $(`table-${name}`);
    const { columns, rows, format } = tables[name]();
    const head = make("tr");
    columns.forEach((column, i) => {
      const th = make("th", column, i === 0 ? "text" : "");
      th.scope = "col";
      head.append(th);
    });
    table.tHead.replaceChildren(head);
    table.tBodies[0].replaceChildren(...rows.slice(0, 500).map((row) => {
      const tr = make("tr");
      row.forEach((value, i) => {
        const td = make(i === 0 ? "th" : "td", format(value, i), i === 0 ? "text" : "");
        if (i === 0) td.scope = "row";
        tr.append(td);
      });
      return tr;
    }));
  }

  // ------------------------------------------------------------ the table of groups

  const COLUMNS = [
    { key: "drawn", title: "Draw", kind: "middle" },
    { key: "name", title: "Group", kind: "text" },
    { key: "applies", title: "Applies", kind: "middle" },
    { key: "n", title: "People", text: (g) => count(g.n) },
    { key: "base_rate", title: "Qualified", text: (g) => percent(g.base_rate) },
    { key: "selected", title: "Pass", text: (g) => count(g.selected) },
    { key: "precision", title: "Precision", text: (g) => percent(g.precision) },
    { key: "precision_low", title: "95% interval",
      text: (g) => (g.selected ? `${percent(g.precision_low)} to ${percent(g.precision_high)}` : UNDEFINED) },
    { key: "accuracy", title: "Accuracy", text: (g) => percent(g.accuracy) },
    { key: "cost", title: "Cost", text: (g) => fixed(Math.floor(g.cost * 1000 + 0.5)) },
    { key: "subsidy", title: data.kind === "proportional" ? "Subsidy (share)" : "Subsidy" },
    { key: "subsidy_needed", title: "Still needed",
      text: (g) => (g.applies ? "0.000" : g.selected ? fixed(Math.ceil(g.subsidy_needed * 1000 - 1e-6)) : "none helps") },
    { key: "utility", title: "Utility", text: (g) => fixed(Math.floor(g.utility * 1000 + 0.5)) },
  ];
  const view = { sort: "n", down: true, search: "", most: 50 };
  let result = null;

  function shownGroups() {
    const wanted = view.search.trim().toLowerCase();
    const found = result.groups.filter((g) => g.name.toLowerCase().includes(wanted));
    const value = (g) => (view.sort === "drawn" ? Number(state.drawn.includes(g.z)) : g[view.sort]);
    found.sort((a, b) => {
      const [x, y] = [value(a), value(b)];
      let order;
      if (typeof x === "string") order = x.localeCompare(y);
      else if (Number.isNaN(x) || Number.isNaN(y)) return Number.isNaN(x) - Number.isNaN(y);
      else order = x - y;
      return (view.down ? -order : order) || a.z - b.z;
    });
    return found;
  }
  function drawHead() {
    const row = $("groups").tHead.rows[0];
    row.replaceChildren(...COLUMNS.map((column) => {
      const th = make("th", undefined, column.kind || "");
      th.scope = "col";
      const active = view.sort === column.key;
      th.setAttribute("aria-sort", active ? (view.down ? "descending" : "ascending") : "none");
      const button = make("button", column.title + (active ? (view.down ? " \u25be" : " \u25b4") : ""));
      button.type = "button";
      button.addEventListener("click", () => {
        view.down = active ? !view.down : column.kind !== "text";
        view.sort = column.key;
        drawHead();
        drawGroups();
        $("groups").tHead.rows[0].cells[COLUMNS.indexOf(column)].firstChild.focus();
      });
      th.append(button);
      return th;
    }));
  }
  const rowsByGroup = new Map();
  function groupRow(z) {
    if (rowsByGroup.has(z)) return rowsByGroup.get(z);
    const row = make("tr");
    const cells = {};
    for (const column of COLUMNS) {
      const cell = make(column.key === "name" ? "th" : "td", undefined, column.kind || "");
      cells[column.key] = cell;
      row.append(cell);
    }
    cells.name.scope = "row";
    const drawn = make("input");
    drawn.type = "checkbox";
    drawn.setAttribute("aria-label", `Draw ${data.names[z]} in the charts`);
    drawn.addEventListener("change", () => {
      state.drawn = state.drawn.filter((other) => other !== z);
      if (drawn.checked) state.drawn = [...state.drawn, z].slice(-MOST_DRAWN);
      update();
    });
    cells.drawn.append(drawn);
    const subsidy = make("input");
    subsidy.type = "number";
    subsidy.min = "0";
    subsidy.max = "1";
    subsidy.step = "0.005";
    subsidy.setAttribute("aria-label", `Subsidy for ${data.names[z]}`);
    subsidy.addEventListener("input", () => {
      const value = Number(subsidy.value);
      if (value >= 0 && value <= 1) { state.subsidies[z] = value; update(); }
    });
    const slider = make("input");
    slider.type = "range";
    slider.min = "0";
    slider.max = "1000";
    slider.step = "5";
    slider.setAttribute("aria-label", `Slider of the subsidy for ${data.names[z]}`);
    slider.addEventListener("input", () => { state.subsidies[z] = Number(slider.value) / 1000; update(); });
    cells.subsidy.append(subsidy, slider);
    const made = { row, cells, drawn, subsidy, slider };
    rowsByGroup.set(z, made);
    return made;
  }
  function drawGroups() {
    const found = shownGroups();
    const shown = found.slice(0, view.most);
    const rows = shown.map((g) => {
      const { row, cells, drawn, subsidy, slider } = groupRow(g.z);
      drawn.checked = state.drawn.includes(g.z);
      if (document.activeElement !== subsidy) subsidy.value = String(g.subsidy);
      if (document.activeElement !== slider) slider.value = String(Math.round(g.subsidy * 1000));
      slider.setAttribute("aria-valuetext", amount(g.subsidy));
      const name = make("bdi", g.name);
      const warn = warning(g);
      cells.name.replaceChildren(name);
      if (warn) {
        const mark = make("span", " \u26a0", "warn");
        mark.title = warn;
        mark.setAttribute("role", "img");
        mark.setAttribute("aria-label", `Take care: ${warn}`);
        cells.name.append(mark);
      }
      cells.applies.replaceChildren(make("span", g.applies ? "yes" : "no", `pill ${g.applies ? "in" : "out"}`));
      for (const column of COLUMNS) if (column.text) cells[column.key].textContent = column.text(g);
      return row;
    });
    const body = $("groups").tBodies[0];
    if (rows.length !== body.rows.length || rows.some((row, i) => row !== body.rows[i])) body.replaceChildren(...rows);
    $("matches").textContent = view.search ? `${count(found.length)} of ${count(K)} groups` : `${count(K)} groups`;
    $("more").hidden = found.length <= view.most;
    const told = found.slice(0, 12);
    const items = told.map((g) => {
      const warn = warning(g);
      return make("li", sentence(g) + (warn ? ` (Take care: ${warn}.)` : ""));
    });
    if (found.length > told.length) items.push(make("li", `and ${count(found.length - told.length)} more in the table.`));
    $("sentences").replaceChildren(...items);
  }
  tables.groups = () => ({
    columns: ["group", "n", "base_rate", "selected", "true_positives", "precision", "precision_low", "precision_high",
      "accuracy", "cost", "subsidy", "applies", "subsidy_needed", "utility"],
    rows: shownGroups().map((g) => [g.name, g.n, g.base_rate, g.selected, g.true_positives, g.precision, g.precision_low,
      g.precision_high, g.accuracy, g.cost, g.subsidy, g.applies, g.subsidy_needed, g.utility]),
  });

  // ------------------------------------------------------------ charts

  const LIGHT = ["#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#3a3a3a", "#8c7a00"];
  const DARK = ["#56b4e9", "#e69f00", "#1fbf92", "#e39bc4", "#f0e442", "#d55e00", "#e6eaee", "#4d9de0"];
  const DASHES = [[], [7, 4], [2, 3], [10, 3, 2, 3], [], [7, 4], [2, 3], [10, 3, 2, 3]];
  const POINTS = ["circle", "rect", "triangle", "rectRot", "star", "crossRot", "rectRounded", "cross"];
  const isDark = () => document.documentElement.dataset.theme === "dark";
  const palette = () => (isDark() ? DARK : LIGHT);
  const style = (name) => getComputedStyle(document.documentElement).getPropertyValue(name).trim();
  const short = (name, most = 22) => (name.length > most ? `${name.slice(0, most - 1)}\u2026` : name);

  // a straight axis where numbers allow it, the slider's steps where they are too far apart to draw
  const finite = data.thresholds === null ? [] : data.thresholds.slice(1);
  const realAxis = finite.length > 1 && finite.every((t) => Math.abs(t) < 1e9);
  const pad = realAxis ? (finite[finite.length - 1] - finite[0]) * 0.02 : 1;
  const place = (t) => (realAxis ? (t === 0 ? finite[0] - pad : data.thresholds[t]) : t);

  const charts = {};
  function legendItems(chart) {
    return Chart.defaults.plugins.legend.labels.generateLabels(chart)
      .filter((item) => !item.text.startsWith("\u0000"))
      .map((item) => {
        const dataset = chart.data.datasets[item.datasetIndex];
        const points = dataset.showLine === false;
        return { ...item, strokeStyle: dataset.borderColor, lineWidth: points ? 2 : 2.5, fontColor: style("--ink"),
          lineDash: points ? [] : dataset.borderDash || [], pointStyle: dataset.pointStyle };
      });
  }
  function options(x, y, tooltip, extra = {}) {
    const ink = style("--ink");
    const quiet = style("--quiet");
    const line = style("--line");
    const axis = (settings) => ({
      ...settings,
      title: { display: true, text: settings.label, color: quiet },
      ticks: { color: quiet, maxRotation: 0, autoSkipPadding: 12, includeBounds: false, ...settings.ticks },
      grid: { color: line },
      border: { color: line },
    });
    return {
      responsive: true,
      maintainAspectRatio: false,
      animation: false,
      parsing: false,
      normalized: true,
      interaction: { mode: "nearest", axis: "x", intersect: false },
      scales: { x: axis({ type: "linear", ...x }), y: axis({ type: "linear", ...y }) },
      plugins: {
        legend: {
          position: "bottom",
          labels: { color: ink, usePointStyle: true, pointStyleWidth: 30, boxHeight: 7, generateLabels: legendItems },
        },
        tooltip: { ...tooltip },
      },
      ...extra,
    };
  }
  const percentTicks = { includeBounds: true, callback: (value) => `${Math.round(value * 100)}%` };
  const thresholdTicks = { callback: (value) => (realAxis ? String(Number(value.toPrecision(3)))
    : data.thresholds[Math.round(value)] === undefined ? "" : thresholdText(Math.round(value))) };
  function show(name, type, datasets, settings, label) {
    const canvas = $(`chart-${name}`);
    canvas.setAttribute("aria-label", label);
    if (charts[name] && charts[name].config.type === type) {
      charts[name].data = { datasets, ...(settings.labels ? { labels: settings.labels } : {}) };
      charts[name].options = settings.options;
      charts[name].update("none");
    } else {
      charts[name] = new Chart(canvas, {
        type, data: { datasets, ...(settings.labels ? { labels: settings.labels } : {}) }, options: settings.options,
      });
    }
    if ($(`table-${name}`).closest("details").open) fillTable(name);
  }
  const lineOf = (label, points, color, more = {}) => ({
    label, data: points, borderColor: color, backgroundColor: color, borderWidth: 2, pointRadius: 0, pointHitRadius: 8,
    pointStyle: "line", ...more,
  });
  const marker = (label, points) => lineOf(label, points, style("--ink"), {
    borderWidth: 1.5, borderDash: [4, 4], pointHitRadius: 0,
  });

  function drawCurves() {
    const colors = palette();
    const chosen = state.drawn;
    const datasets = chosen.map((z, i) => lineOf(short(data.names[z]), finite.map((_, j) => {
      const t = j + 1;
      return { x: place(t), y: ratio(data.published.true_positives[t][z], data.published.selected[t][z]), t, z };
    }).filter((p) => !Number.isNaN(p.y)), colors[i], { borderDash: DASHES[i], stepped: "before" }));
    const ends = [place(Math.min(1, T - 1)), place(T - 1)];
    const costLabel = state.cost === null ? "cost" : `cost ${amount(state.cost)}`;
    if (state.cost !== null) {
      datasets.push(marker(costLabel, ends.map((x) => ({ x, y: state.cost }))));
    }
    if (state.threshold > 0) {
      const x = place(state.threshold);
      datasets.push(marker("\u0000threshold", [{ x, y: 0 }, { x, y: 1 }]));
    }
    const tooltip = {
      filter: (item) => item.raw.z !== undefined,
      callbacks: {
        title: (items) => (items.length ? `threshold ${thresholdText(items[0].raw.t)}` : ""),
        label: (item) => {
          const { z, t } = item.raw;
          return `${short(data.names[z])}: ${percent(item.raw.y)} of ${count(data.published.selected[t][z])} who pass`;
        },
      },
    };
    show("curves", "line", datasets, {
      options: options({ label: `threshold on ${short(data.score)}`, ticks: thresholdTicks, min: ends[0], max: ends[1] },
        { label: "precision", min: 0, max: 1, ticks: percentTicks }, tooltip),
    }, `Line chart: precision of ${chosen.length} groups over the threshold. The numbers are in the table below.`);
  }
  tables.curves = () => ({
    columns: ["threshold", ...state.drawn.map((z) => data.names[z])],
    rows: data.thresholds.map((_, t) => [thresholdText(t),
      ...state.drawn.map((z) => ratio(data.published.true_positives[t][z], data.published.selected[t][z]))]),
    format: (value, i) => (i === 0 ? value : percent(value)),
  });

  function runs(z) {
    const found = [];
    let from = -1;
    const cost = groupCost(state, z);
    for (let t = 0; t <= T; t += 1) {
      const applies = t < T && appliesAt(data.published.true_positives[t][z], data.published.selected[t][z], cost);
      if (applies && from < 0) from = t;
      if (!applies && from >= 0) { found.push([from, t]); from = -1; }
    }
    return found;
  }
  const edge = (t) => place(Math.min(t, T - 1));
  const edgeText = (t) => (t >= T ? "the end" : thresholdText(t));
  function drawBars() {
    const chosen = state.drawn;
    const colors = palette();
    const all = chosen.map(runs);
    const pieces = Math.max(1, ...all.map((r) => r.length));
    const empty = [edge(0), edge(0)];
    const datasets = Array.from({ length: pieces }, (_, piece) => ({
      label: "applies",
      data: chosen.map((_, i) => (all[i][piece] ? all[i][piece].map(edge) : empty)),
      runs: chosen.map((_, i) => all[i][piece]),
      backgroundColor: chosen.map((_, i) => colors[i]),
      borderColor: style("--ink"),
      grouped: false,
      barPercentage: 0.65,
      categoryPercentage: 1,
      order: 1,
    }));
    if (state.threshold > 0) {
      const x = place(state.threshold);
      const half = (edge(T - 1) - edge(0)) / 500;
      datasets.push({
        label: "threshold", data: chosen.map(() => [x - half, x + half]), backgroundColor: style("--ink"), grouped: false,
        barPercentage: 1, categoryPercentage: 1, order: 0,
      });
    }
    const settings = options(
      { label: `threshold on ${short(data.score)}`, ticks: thresholdTicks, min: edge(0), max: edge(T - 1) },
      { type: "category", label: "", ticks: { autoSkip: false } },
      {
        filter: (item) => Boolean(item.dataset.runs && item.dataset.runs[item.dataIndex]),
        callbacks: {
          title: (items) => (items.length ? short(data.names[chosen[items[0].dataIndex]], 40) : ""),
          label: (item) => {
            const run = item.dataset.runs[item.dataIndex];
            return `applies from threshold ${edgeText(run[0])} to ${edgeText(run[1])}`;
          },
        },
      },
      { indexAxis: "y", parsing: true, normalized: false, interaction: { mode: "nearest", intersect: true } },
    );
    settings.scales.y.title.display = false;
    settings.scales.y.grid = { display: false };
    settings.plugins.legend.display = false;
    show("bars", "bar", datasets, { options: settings, labels: chosen.map((z) => short(data.names[z], 16)) },
      `Bar chart: thresholds at which ${chosen.length} groups apply. The numbers are in the table below.`);
  }
  tables.bars = () => ({
    columns: ["group", "applies from threshold", "until threshold"],
    rows: state.drawn.flatMap((z) => {
      const found = runs(z);
      return found.length ? found.map(([a, b]) => [data.names[z], edgeText(a), edgeText(b)]) : [[data.names[z], "never", ""]];
    }),
    format: (value) => value,
  });

  function overCosts() {
    return Array.from({ length: 101 }, (_, i) => {
      const cost = i / 100;
      return { cost, ...outcome(state, decisions({ ...state, cost })) };
    });
  }
  let costRows = [];
  function drawCosts() {
    costRows = overCosts();
    const colors = palette();
    const of = (key) => costRows.map((row) => ({ x: row.cost, y: row[key] }));
    const datasets = [
      lineOf("induced accuracy", of("induced_accuracy"), colors[0], { stepped: "middle" }),
      lineOf("assumed accuracy", of("assumed_accuracy"), colors[2], { borderDash: DASHES[1], stepped: "middle" }),
      lineOf("social cost", of("social_cost"), colors[1], { borderDash: DASHES[2], stepped: "middle" }),
    ];
    if (state.cost !== null) datasets.push(marker("\u0000cost", [{ x: state.cost, y: 0 }, { x: state.cost, y: 1 }]));
    const settings = options({ label: "cost of being tested", min: 0, max: 1, ticks: { includeBounds: true } },
      { label: "", min: 0, max: 1, ticks: percentTicks }, {
        mode: "index",
        filter: (item) => item.datasetIndex < 3,
        callbacks: {
          title: (items) => (items.length ? `cost ${amount(items[0].raw.x)}` : ""),
          label: (item) => `${item.dataset.label}: ${percent(item.raw.y)}`,
        },
      }, { interaction: { mode: "index", intersect: false }, spanGaps: false });
    settings.scales.y.title.display = false;
    show("costs", "line", datasets, { options: settings },
      "Line chart: assumed accuracy, induced accuracy and social cost over the cost. The numbers are in the table below.");
  }
  tables.costs = () => ({
    columns: ["cost", "induced accuracy", "assumed accuracy", "social cost", "application rate", "applying groups"],
    rows: costRows.map((r) => [r.cost, r.induced_accuracy, r.assumed_accuracy, r.social_cost, r.application_rate,
      r.applying_groups]),
    format: (value, i) => (i === 0 ? amount(value) : i === 5 ? count(value) : percent(value)),
  });

  function drawScatter() {
    const colors = palette();
    const chosen = state.drawn.map((z) => result.groups[z]);
    const datasets = [];
    chosen.forEach((g, i) => {
      if (Number.isNaN(g.precision)) return;
      datasets.push({
        label: short(g.name), data: [{ x: g.accuracy, y: g.precision, z: g.z }], showLine: false, borderColor: colors[i],
        backgroundColor: g.applies ? colors[i] : "transparent", pointStyle: POINTS[i], pointRadius: 6, borderWidth: 2,
        pointHitRadius: 10, pointHoverRadius: 8,
      });
      datasets.push(lineOf("\u0000interval", [{ x: g.accuracy, y: g.precision_low }, { x: g.accuracy, y: g.precision_high }],
        colors[i], { borderWidth: 1.5, pointHitRadius: 0 }));
    });
    const xs = chosen.map((g) => g.accuracy);
    const low = Math.max(0, Math.min(...xs, 1) - 0.03);
    const high = Math.min(1, Math.max(...xs, 0) + 0.03);
    if (state.cost !== null) {
      datasets.push(marker(`cost ${amount(state.cost)}`, [{ x: low, y: state.cost }, { x: high, y: state.cost }]));
    }
    const ys = chosen.flatMap((g) => (Number.isNaN(g.precision) ? [] : [g.precision_low, g.precision_high]));
    if (state.cost !== null) ys.push(state.cost);
    const bottom = Math.max(0, Math.floor((Math.min(...ys, 1) - 0.02) * 20) / 20);
    const top = Math.min(1, Math.ceil((Math.max(...ys, 0) + 0.02) * 20) / 20);
    const settings = options({ label: "accuracy", min: low, max: high, ticks: { callback: (v) => percent(v) } },
        { label: "precision", min: Math.min(bottom, top - 0.05), max: top, ticks: { ...percentTicks, includeBounds: true } }, {
          filter: (item) => item.raw.z !== undefined,
          callbacks: {
            title: () => "",
            label: (item) => {
              const g = result.groups[item.raw.z];
              return [`${short(g.name)} ${g.applies ? "applies" : "stays away"} (n = ${count(g.n)})`,
                `precision ${percent(g.precision)} (${percent(g.precision_low)} to ${percent(g.precision_high)})`,
                `accuracy ${percent(g.accuracy)}`];
            },
          },
        }, { interaction: { mode: "nearest", axis: "xy", intersect: false } });
    settings.plugins.legend.labels.pointStyleWidth = 14;
    show("scatter", "line", datasets, { options: settings }, `Scatter chart: precision against accuracy of ${chosen.length} groups. The numbers are in the table below.`);
  }
  tables.scatter = () => ({
    columns: ["group", "n", "accuracy", "precision", "precision low", "precision high", "applies"],
    rows: state.drawn.map((z) => result.groups[z]).map((g) => [g.name, g.n, g.accuracy, g.precision, g.precision_low,
      g.precision_high, g.applies ? "yes" : "no"]),
    format: (value, i) => (i === 0 || i === 6 ? value : i === 1 ? count(value) : percent(value)),
  });

  // ------------------------------------------------------------ everything together

  let waiting = false;
  function drawCharts() {
    waiting = false;
    if (data.thresholds !== null) { drawCurves(); drawBars(); }
    drawCosts();
    drawScatter();
  }
  function setText(id, text) {
    const element = $(id);
    if (element.textContent !== text) element.textContent = text;
  }
  function update(keepAddress = false) {
    result = compute(state);
    setText("verdict", result.verdict);
    for (const key of ["assumed_accuracy", "induced_accuracy", "social_cost", "application_rate"]) {
      setText(key, percent(result[key]));
    }
    setText("applying_groups", `${count(result.applying_groups)} of ${count(K)} groups`);
    setText("utility", amount(result.utility));
    setText("paid", amount(result.paid));
    setText("recipients", `to ${count(result.recipients)} people`);
    if (document.activeElement !== $("cost-exact")) {
      $("cost-exact").value = state.cost === null ? "" : String(state.cost);
    }
    $("cost").value = String(Math.round((state.cost === null ? 0.5 : state.cost) * 1000));
    $("cost").setAttribute("aria-valuetext", state.cost === null ? "as given for each group" : amount(state.cost));
    if (data.thresholds !== null) {
      $("threshold").value = String(state.threshold);
      const text = data.thresholds[state.threshold] === null ? "none: all pass" : thresholdText(state.threshold);
      setText("threshold-shown", text);
      $("threshold").setAttribute("aria-valuetext", text);
    }
    drawGroups();
    if (!keepAddress) remember();
    if (!waiting) {
      waiting = true;
      requestAnimationFrame(drawCharts);
    }
  }

  const saved = { theme: null };
  function setTheme(dark) {
    document.documentElement.dataset.theme = dark ? "dark" : "light";
    $("theme").textContent = dark ? "Light" : "Dark";
    $("theme").setAttribute("aria-pressed", String(dark));
    $("theme").setAttribute("aria-label", dark ? "Switch to light colours" : "Switch to dark colours");
  }
  const preference = matchMedia("(prefers-color-scheme: dark)");
  preference.addEventListener("change", () => {
    if (saved.theme === null) { setTheme(preference.matches); drawCharts(); }
  });

  setTheme(preference.matches);
  $("theme").addEventListener("click", () => {
    saved.theme = !isDark();
    setTheme(saved.theme);
    drawCharts();
  });
  $("skip").addEventListener("click", (event) => { event.preventDefault(); $("main").focus(); });
  $("cost").addEventListener("input", () => { state.cost = Number($("cost").value) / 1000; update(); });
  $("cost-exact").addEventListener("input", () => {
    const value = Number($("cost-exact").value);
    if ($("cost-exact").value !== "" && value >= 0 && value <= 1) { state.cost = value; update(); }
  });
  if (data.thresholds !== null) {
    $("threshold").addEventListener("input", () => { state.threshold = Number($("threshold").value); update(); });
  }
  $("reset").addEventListener("click", () => { state = startState(); update(); });
  $("no-subsidies").addEventListener("click", () => { state.subsidies.fill(0); update(); });
  $("least").addEventListener("click", () => {
    state.subsidies = result.groups.map((g) => {
      if (g.applies || !g.selected) return g.subsidy;
      const base = listedCost(state, g.z);
      const needed = data.kind === "proportional" ? 1 - g.precision / base : base - g.precision;
      return Math.min(Math.ceil(needed * 1000 - 1e-6) / 1000, 1);
    });
    update();
  });
  $("search").addEventListener("input", () => { view.search = $("search").value; view.most = 50; drawGroups(); });
  $("more").addEventListener("click", () => { view.most += 200; drawGroups(); });
  document.querySelectorAll("[data-csv]").forEach((button) => {
    button.addEventListener("click", () => download(button.dataset.csv));
  });
  document.querySelectorAll(".chart details").forEach((details) => {
    details.addEventListener("toggle", () => {
      if (details.open) fillTable(details.querySelector("table").id.replace("table-", ""));
    });
  });
  addEventListener("hashchange", () => {
    if (location.hash.replace(/^#/, "") === ownHash) return;
    state = fromHash(location.hash);
    update(true);
  });
  // paper is white, whatever the screen
  let darkOnScreen = null;
  addEventListener("beforeprint", () => {
    if (darkOnScreen === null) darkOnScreen = isDark();
    setTheme(false);
    drawCharts();
    Object.values(charts).forEach((chart) => chart.resize());
  });
  addEventListener("afterprint", () => {
    if (darkOnScreen === null) return;
    setTheme(darkOnScreen);
    darkOnScreen = null;
    drawCharts();
    Object.values(charts).forEach((chart) => chart.resize());
  });

  Chart.defaults.font.family = getComputedStyle(document.body).fontFamily;
  state = fromHash(location.hash);
  drawHead();
  update(true);
  window.selfselect = Object.freeze({ compute: () => compute(state), csv: (name) => csvText(tables[name]().columns, tables[name]().rows) });
})();
