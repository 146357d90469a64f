"use strict";
(() => {
  const data = JSON.parse(document.getElementById("data").textContent);
  const $ = (id) => document.getElementById(id);
  const DAY = 86400e6;
  const LABELS = 70; // so many names and relations are drawn at most: more could not be read
  const PALETTE = ["#4c78a8", "#f58518", "#54a24b", "#b279a2", "#e45756", "#72b7b2", "#c9a227", "#9d755d", "#6b7fd7", "#d67195"];
  const CURVE = 0.14;

  // ---------------------------------------------------------------- the data, in arrays
  const nodes = data.nodes, facts = data.facts;
  const open = (span) => [span[0] ?? -Infinity, span[1] ?? Infinity];
  for (const node of nodes) { node.believed = node.believed.map(open); node.facts = []; }
  facts.forEach((fact, n) => {
    [fact.v0, fact.v1] = open(fact.valid);
    [fact.s0, fact.s1] = open(fact.system);
    nodes[fact.source].facts.push(n);
    if (fact.target !== fact.source) nodes[fact.target].facts.push(n);
  });
  const between = new Map();
  facts.forEach((fact) => {
    const pair = fact.source < fact.target ? `${fact.source} ${fact.target}` : `${fact.target} ${fact.source}`;
    const same = between.get(pair) ?? new Map();
    between.set(pair, same);
    const what = `${fact.source} ${fact.relation}`;
    if (!same.has(what)) same.set(what, same.size);
    const [a, b] = [nodes[fact.source], nodes[fact.target]];
    const nth = same.get(what), side = (nth % 2 ? 1 : -1) * Math.ceil(nth / 2) * CURVE * (fact.source < fact.target ? 1 : -1);
    fact.cx = (a.x + b.x) / 2 - (b.y - a.y) * side;
    fact.cy = (a.y + b.y) / 2 + (b.x - a.x) * side;
  });

  // ---------------------------------------------------------------- time
  const finite = (values) => [...new Set(values.filter(Number.isFinite))].sort((a, b) => a - b);
  const last = Math.max(data.system, ...facts.flatMap((f) => [f.s0, f.s1]).filter(Number.isFinite), ...nodes.flatMap((n) => n.believed.flat()).filter(Number.isFinite));
  const stops = {
    valid: finite([...facts.flatMap((f) => [f.v0, f.v1]), data.now]),
    system: finite([...facts.flatMap((f) => [f.s0, f.s1]), ...nodes.flatMap((n) => n.believed.flat()), last]),
  };
  const state = { valid: data.now, system: last, types: new Set(), relations: new Set(), selected: null, query: "", playing: null };
  const day = (micros) => new Date(micros / 1000).toISOString().slice(0, 10);
  const told = (micros) => {
    const moment = new Date(micros / 1000).toISOString();
    return micros % DAY === 0 ? moment.slice(0, 10) : `${moment.slice(0, 10)} ${moment.slice(11, 16)}`;
  };

  const believed = (node) => node.believed.some(([from, to]) => from <= state.system && state.system < to);
  const holds = (f) => f.v0 <= state.valid && state.valid < f.v1 && f.s0 <= state.system && state.system < f.s1;
  const passes = (f) => !state.relations.has(f.relation) && !state.types.has(nodes[f.source].type) && !state.types.has(nodes[f.target].type);

  // ---------------------------------------------------------------- drawing
  const { Plotting, ColumnDataSource } = Bokeh;
  const plot = Plotting.figure({
    tools: "pan,wheel_zoom,box_zoom,reset,save", active_scroll: "wheel_zoom", sizing_mode: "stretch_both", match_aspect: true,
    x_axis_type: null, y_axis_type: null, toolbar_location: "above", min_border: 0, output_backend: "canvas",
    x_range: [-1.15, 1.15], y_range: [-1.15, 1.15],
  });
  for (const grid of [plot.xgrid, plot.ygrid].flat()) grid.visible = false;
  plot.outline_line_color = null;
  plot.toolbar.logo = null;
  const source = (names) => new ColumnDataSource({ data: Object.fromEntries(names.map((n) => [n, []])) });
  const edgeSource = source(["x0", "y0", "x1", "y1", "cx", "cy", "colour", "width", "alpha"]);
  const arrowSource = source(["x", "y", "angle", "colour", "alpha"]);
  const nodeSource = source(["x", "y", "size", "colour", "alpha", "line"]);
  const nameSource = source(["x", "y", "text", "alpha"]);
  const relationSource = source(["x", "y", "text"]);
  const field = (name) => ({ field: name });
  plot.quadratic({ x0: field("x0"), y0: field("y0"), x1: field("x1"), y1: field("y1"), cx: field("cx"), cy: field("cy"),
    line_color: field("colour"), line_width: field("width"), line_alpha: field("alpha"), source: edgeSource });
  plot.scatter({ x: field("x"), y: field("y"), marker: "triangle", size: 7, angle: field("angle"), fill_color: field("colour"),
    line_color: null, fill_alpha: field("alpha"), source: arrowSource });
  plot.scatter({ x: field("x"), y: field("y"), size: field("size"), fill_color: field("colour"), fill_alpha: field("alpha"),
    line_color: field("line"), line_width: 2, line_alpha: field("alpha"), source: nodeSource });
  const names = plot.text({ x: field("x"), y: field("y"), text: field("text"), text_alpha: field("alpha"), text_font_size: "12px",
    text_align: "center", text_baseline: "top", y_offset: 9, source: nameSource });
  const relations = plot.text({ x: field("x"), y: field("y"), text: field("text"), text_font_size: "10px", text_align: "center",
    text_baseline: "middle", source: relationSource });

  const css = (name) => getComputedStyle(document.documentElement).getPropertyValue(name).trim();
  const size = (node) => 9 + 3 * Math.sqrt(Math.min(node.facts.length, 40));
  const cut = (text) => (text.length > 28 ? `${text.slice(0, 27)}…` : text);
  // The library reads "$$…$$" and the like as formulas: a word joiner in front of each mark keeps them what they are.
  const plain = (text) => cut(text).replace(/[$\\]/g, "\u2060$&\u2060").replace(/\s+/g, " ");

  /** What a pixel is across and up, in the plot's own measure: the two differ, for the plot fills its place. */
  const units = () => [[plot.x_range, plot.inner_width || 900], [plot.y_range, plot.inner_height || 600]].map(([range, pixels]) => (range.end - range.start) / pixels);

  let shown = new Set();
  let label = () => {}; // names and relations that fit beside each other at the present zoom
  function draw(step) {
    const began = performance.now();
    const before = shown;
    const wanted = state.query.toLowerCase();
    const found = (text) => wanted !== "" && text.toLowerCase().includes(wanted);
    const all = [];
    facts.forEach((f, n) => { if (holds(f)) all.push(n); });
    const visible = all.filter((n) => passes(facts[n]));
    shown = new Set(visible);
    const added = new Set(step ? visible.filter((n) => !before.has(n)) : []);
    const ended = step ? [...before].filter((n) => !shown.has(n) && passes(facts[n])) : [];
    const near = state.selected === null ? null : new Set([state.selected, ...nodes[state.selected].facts.filter((n) => shown.has(n)).flatMap((n) => [facts[n].source, facts[n].target])]);
    const [edge, paper] = [css("--edge"), css("--paper")];
    const rows = { x0: [], y0: [], x1: [], y1: [], cx: [], cy: [], colour: [], width: [], alpha: [] };
    const arrows = { x: [], y: [], angle: [], colour: [], alpha: [] };
    const put = (n, colour, width, changed) => {
      const f = facts[n], a = nodes[f.source], b = nodes[f.target];
      const alpha = changed || near === null || f.source === state.selected || f.target === state.selected ? 0.9 : 0.12;
      rows.x0.push(a.x); rows.y0.push(a.y); rows.x1.push(b.x); rows.y1.push(b.y); rows.cx.push(f.cx); rows.cy.push(f.cy);
      rows.colour.push(colour); rows.width.push(width); rows.alpha.push(alpha);
      const t = 0.72, u = 1 - t;
      arrows.x.push(u * u * a.x + 2 * u * t * f.cx + t * t * b.x);
      arrows.y.push(u * u * a.y + 2 * u * t * f.cy + t * t * b.y);
      arrows.angle.push(Math.atan2(u * (f.cy - a.y) + t * (b.y - f.cy), u * (f.cx - a.x) + t * (b.x - f.cx)) - Math.PI / 2);
      arrows.colour.push(colour); arrows.alpha.push(alpha);
    };
    for (const n of visible) {
      const match = found(facts[n].text) || found(facts[n].relation);
      put(n, added.has(n) ? css("--added") : match ? css("--accent") : edge, added.has(n) || match ? 3 : 1.3, added.has(n));
    }
    for (const n of ended) put(n, css("--ended"), 2.4, true);
    const points = { x: [], y: [], size: [], colour: [], alpha: [], line: [] };
    const linked = new Set(visible.flatMap((n) => [facts[n].source, facts[n].target]));
    let count = 0;
    const alive = [];
    nodes.forEach((node, n) => {
      if (!believed(node)) return;
      count += 1;
      if (state.types.has(node.type)) return;
      alive.push(n);
      const match = found(node.name) || node.aliases.some(found);
      const strong = match || n === state.selected;
      const alpha = near !== null && !near.has(n) ? 0.2 : linked.has(n) || strong ? 1 : 0.35;
      points.x.push(node.x); points.y.push(node.y); points.size.push(size(node)); points.alpha.push(alpha);
      points.colour.push(node.community < 0 ? css("--faint") : PALETTE[node.community % PALETTE.length]);
      points.line.push(strong ? css("--accent") : paper);
      node.rank = (strong ? 1e6 : 0) + (near?.has(n) ? 1e5 : 0) + (linked.has(n) ? 1e3 : 0) + node.facts.length;
      node.alpha = alpha;
    });
    alive.sort((a, b) => nodes[b].rank - nodes[a].rank);
    const told_of = near === null ? [...added, ...visible] : visible.filter((n) => facts[n].source === state.selected || facts[n].target === state.selected);
    label = () => {
      const [across, up] = units();
      const taken = [];
      const fits = (x, y, text, height, down) => {
        const half = text.length * height * 0.28 + 3;
        const box = [x / across - half, y / up - down - height - 3, x / across + half, y / up - down + 3];
        if (taken.some((t) => t[0] < box[2] && box[0] < t[2] && t[1] < box[3] && box[1] < t[3])) return false;
        taken.push(box);
        return true;
      };
      const seen = (x, y) => x >= plot.x_range.start && x <= plot.x_range.end && y >= plot.y_range.start && y <= plot.y_range.end;
      const labels = { x: [], y: [], text: [], alpha: [] }, words = { x: [], y: [], text: [] };
      for (const n of alive) {
        if (labels.x.length >= LABELS) break;
        const node = nodes[n], text = plain(node.name);
        if (!seen(node.x, node.y) || !fits(node.x, node.y, text, 14, 9)) continue;
        labels.x.push(node.x); labels.y.push(node.y); labels.text.push(text); labels.alpha.push(Math.max(node.alpha, 0.45));
      }
      for (const n of told_of) {
        if (words.x.length >= LABELS) break;
        const f = facts[n], a = nodes[f.source], b = nodes[f.target], x = (a.x + 2 * f.cx + b.x) / 4, y = (a.y + 2 * f.cy + b.y) / 4;
        const text = plain(f.relation.toLowerCase().replaceAll("_", " "));
        if (!seen(x, y) || !fits(x, y, text, 12, -6)) continue;
        words.x.push(x); words.y.push(y); words.text.push(text);
      }
      nameSource.data = labels; relationSource.data = words;
    };
    edgeSource.data = rows; arrowSource.data = arrows; nodeSource.data = points;
    label();
    names.glyph.text_color = css("--ink"); relations.glyph.text_color = css("--faint");
    for (const axis of ["valid", "system"]) {
      $(axis).value = String(nearest(axis));
      $(`${axis}-shown`).textContent = axis === "system" && state.system === last ? `${told(state.system)} (now)` : told(state.valid === data.now && axis === "valid" ? data.now : state[axis]);
      $(`${axis}-date`).value = day(state[axis]);
    }
    const change = step ? ` · +${added.size} −${ended.length}` : "";
    $("counts").textContent = `${count} entities, ${all.length} facts${visible.length < all.length ? ` (${visible.length} shown)` : ""}${change}`;
    document.body.dataset.entities = String(count);
    document.body.dataset.facts = String(all.length);
    document.body.dataset.visible = String(visible.length);
    document.body.dataset.scripting = (performance.now() - began).toFixed(1);
  }

  /** The last stop that is not after the point. */
  function nearest(axis) {
    const list = stops[axis];
    let low = 0, high = list.length - 1;
    while (low < high) { const middle = (low + high + 1) >> 1; if (list[middle] <= state[axis]) low = middle; else high = middle - 1; }
    return low;
  }

  function move(axis, micros) { state[axis] = micros; draw(true); if (state.selected !== null) showNode(state.selected); }
  function step(axis, by) {
    const to = Math.max(0, Math.min(stops[axis].length - 1, nearest(axis) + by));
    move(axis, stops[axis][to]);
    return to < stops[axis].length - 1;
  }
  function play(axis) {
    if (state.playing !== null) { clearInterval(state.playing.timer); const was = state.playing.axis; state.playing = null; marks(); if (was === axis) return; }
    if (nearest(axis) === stops[axis].length - 1) move(axis, stops[axis][0]);
    state.playing = { axis, timer: setInterval(() => { if (!step(axis, 1)) play(axis); }, 900) };
    marks();
  }
  function marks() {
    $("play").textContent = state.playing?.axis === "valid" ? "❚❚" : "▶";
    $("play-system").textContent = state.playing?.axis === "system" ? "❚❚" : "▶";
  }

  // ---------------------------------------------------------------- the panel
  const make = (tag, text, className) => { const made = document.createElement(tag); if (text !== undefined) made.textContent = text; if (className) made.className = className; return made; };
  function factLine(n, from) {
    const f = facts[n], line = make("li", undefined, holds(f) ? "holds" : "former");
    line.append(make("div", f.text), make("div", `${f.period}${f.s1 < Infinity ? `; believed ${told(f.s0)} to ${told(f.s1)}` : `; believed since ${told(f.s0)}`}`, "when"));
    for (const end of new Set([f.source, f.target])) {
      if (end !== from) { const other = make("button", nodes[end].name, "link"); other.type = "button"; other.onclick = () => select(end); line.append(other, " "); }
    }
    for (const id of f.episodes) {
      const said = data.episodes[id];
      if (!said) continue;
      const quote = make("button", `[${told(said.when)}${said.who ? ` ${said.who}` : ""}]`, "link");
      quote.type = "button";
      quote.onclick = () => { const next = line.querySelector("blockquote"); if (next) { next.remove(); } else { line.append(make("blockquote", said.text)); } };
      line.append(quote, " ");
    }
    return line;
  }
  function showNode(n) {
    const node = nodes[n], panel = $("panel");
    const known = node.facts.filter((i) => facts[i].s0 <= state.system && state.system < facts[i].s1);
    const order = (i, j) => facts[i].v0 - facts[j].v0 || i - j;
    const parts = [make("h2", node.name), make("div", [node.type, ...node.aliases.map((a) => `also ${a}`), ...(data.communities[node.community] ? [`of ${data.communities[node.community]}`] : [])].join(" · "), "sub")];
    const lists = [["Holds", known.filter((i) => holds(facts[i]))], ["Before and after", known.filter((i) => !holds(facts[i]))],
      ["Believed at other times", node.facts.filter((i) => !known.includes(i))]];
    for (const [heading, listed] of lists) {
      if (!listed.length) continue;
      const list = make("ol");
      list.append(...listed.sort(order).map((i) => factLine(i, n)));
      parts.push(make("h3", heading), list);
    }
    panel.replaceChildren(...parts);
  }
  function showFact(n) {
    const list = make("ol");
    list.append(factLine(n, null));
    $("panel").replaceChildren(make("h2", facts[n].relation.toLowerCase().replaceAll("_", " ")), list);
    list.querySelectorAll("button.link").forEach((b) => { if (b.textContent.startsWith("[")) b.click(); });
  }
  function select(n) { state.selected = n; draw(false); showNode(n); }
  function clear() { state.selected = null; $("panel").replaceChildren(); draw(false); }

  // ---------------------------------------------------------------- hands
  plot.on_event("tap", (event) => {
    const [across, up] = units();
    const far = (x, y) => Math.hypot((event.x - x) / across, (event.y - y) / up);
    let best = [Infinity, null];
    nodes.forEach((node, n) => { const d = far(node.x, node.y); if (believed(node) && d <= size(node) / 2 + 5 && d < best[0]) best = [d, n]; });
    if (best[1] !== null) { select(best[1]); return; }
    for (const n of shown) {
      const f = facts[n], a = nodes[f.source], b = nodes[f.target];
      for (let t = 0.05; t < 1; t += 0.05) {
        const u = 1 - t, d = far(u * u * a.x + 2 * u * t * f.cx + t * t * b.x, u * u * a.y + 2 * u * t * f.cy + t * t * b.y);
        if (d < 8 && d < best[0]) best = [d, n];
      }
    }
    if (best[1] === null) { clear(); } else { state.selected = null; draw(false); showFact(best[1]); }
  });
  for (const axis of ["valid", "system"]) {
    $(axis).max = String(Math.max(stops[axis].length - 1, 0));
    $(axis).oninput = () => move(axis, stops[axis][Number($(axis).value)]);
    $(`${axis}-date`).onchange = () => { const value = Date.parse(`${$(`${axis}-date`).value}T00:00:00Z`); if (!Number.isNaN(value)) move(axis, value * 1000); };
  }
  $("play").onclick = () => play("valid");
  $("play-system").onclick = () => play("system");
  $("search").oninput = () => { state.query = $("search").value.trim(); draw(false); };
  $("search").onkeydown = (event) => {
    if (event.key !== "Enter") return;
    const wanted = state.query.toLowerCase();
    const found = nodes.findIndex((n) => n.name.toLowerCase() === wanted) , near = nodes.findIndex((n) => [n.name, ...n.aliases].some((x) => x.toLowerCase().includes(wanted)));
    if (wanted && (found >= 0 || near >= 0)) select(found >= 0 ? found : near);
  };
  const tally = (values) => [...values.reduce((m, v) => m.set(v, (m.get(v) ?? 0) + 1), new Map())].sort((a, b) => b[1] - a[1] || (a[0] < b[0] ? -1 : 1));
  function choices(box, values, left) {
    for (const [value, count] of tally(values)) {
      const label = make("label"), tick = make("input");
      tick.type = "checkbox"; tick.checked = true; tick.value = value;
      tick.onchange = () => { if (tick.checked) left.delete(value); else left.add(value); draw(false); };
      label.append(tick, ` ${cut(value)} (${count})`);
      $(box).append(label);
    }
  }
  choices("types", nodes.map((n) => n.type), state.types);
  choices("relations", facts.map((f) => f.relation), state.relations);

  function theme(name) {
    document.documentElement.dataset.theme = name;
    plot.background_fill_color = css("--paper");
    plot.border_fill_color = css("--paper");
    draw(false);
  }
  const other = () => theme(document.documentElement.dataset.theme === "dark" ? "light" : "dark");
  $("theme").onclick = other;
  document.addEventListener("keydown", (event) => {
    if (event.target instanceof HTMLInputElement && event.target.type !== "range" && event.key !== "Escape") return;
    if (event.ctrlKey || event.metaKey || event.altKey) return; // the browser's own
    const axis = event.shiftKey || event.target === $("system") ? "system" : "valid";
    switch (event.key) {
      case "ArrowLeft": step(axis, -1); break;
      case "ArrowRight": step(axis, 1); break;
      case "Home": move(axis, stops[axis][0]); break;
      case "End": move(axis, stops[axis][stops[axis].length - 1]); break;
      case " ": if (event.target.closest("button, summary")) return; play(axis); break;
      case "/": $("search").focus(); break;
      case "d": other(); break;
      case "Escape": $("search").value = ""; state.query = ""; $("search").blur(); clear(); break;
      default: return;
    }
    event.preventDefault();
  });

  let zooming = null;
  const zoomed = () => { if (zooming === null) zooming = setTimeout(() => { zooming = null; label(); }, 80); };
  for (const range of [plot.x_range, plot.y_range]) range.connect(range.change, zoomed);

  const notes = [];
  if (nodes.length < data.totals.nodes) notes.push(`Showing the ${nodes.length} entities with most facts of ${data.totals.nodes}.`);
  if (facts.length < data.totals.facts) notes.push(`Showing ${facts.length} of ${data.totals.facts} fact versions.`);
  if (!nodes.length) notes.push("This memory holds nothing yet.");
  $("note").textContent = notes.join(" ");
  Plotting.show(plot, $("graph")).then(() => {
    theme(matchMedia("(prefers-color-scheme: dark)").matches ? "dark" : "light");
    document.body.dataset.ready = "true";
  });
})();
