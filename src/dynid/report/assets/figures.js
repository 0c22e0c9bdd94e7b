"use strict";
// Draws the figures of the page's JSON in the colours of the day, and lets the keyboard zoom them.
const dynid = (() => {
  const content = JSON.parse(document.getElementById("content").textContent);
  const drawn = new Map(); // element -> figure as plotly wants it, colours still as names

  function unpack(packed) {
    const bytes = Uint8Array.from(atob(packed.packed), (c) => c.charCodeAt(0));
    const view = new DataView(bytes.buffer);
    const values = new Array(bytes.length / 2);
    for (let k = 0; k < values.length; k++) {
      const whole = view.getInt16(2 * k, true);
      values[k] = whole === -32768 ? null : packed.low + packed.step * (whole + 32767);
    }
    return values;
  }

  // Arrays unpacked; colours too if they are given.
  function prepared(part, colours) {
    if (typeof part === "string") return colours && part[0] === "@" ? colours[part.slice(1)] || part : part;
    if (Array.isArray(part)) return part.map((p) => prepared(p, colours));
    if (part === null || typeof part !== "object") return part;
    if (typeof part.packed === "string") return unpack(part);
    return Object.fromEntries(Object.entries(part).map(([key, p]) => [key, prepared(p, colours)]));
  }

  const NARROW = 560; // px
  const theme = () => content.themes[document.documentElement.dataset.theme];
  // Panels that are not shown have no size: the width is that of the section around.
  const width = (element) => Math.floor(element.closest("section").querySelector("h2").getBoundingClientRect().width);
  const config = { displaylogo: false, responsive: false, modeBarButtons: [["zoom2d", "pan2d"], ["zoomIn2d", "zoomOut2d", "resetScale2d"], ["toImage"]] };

  // Where names would lie on each other: the key above the headlines, fewer ticks, a map without names.
  function narrowed(layout, data, wide) {
    Object.assign(layout.margin, { l: 40, r: 6, t: layout.margin.t + 22 });
    layout.height += 22;
    layout.legend.y = 1 + 20 / (layout.height - layout.margin.t - layout.margin.b);
    for (const [name, axis] of Object.entries(layout)) {
      if (/^xaxis/.test(name)) Object.assign(axis, { nticks: 4, tickangle: 0 });
    }
    if (data.some((trace) => trace.type === "heatmap")) {
      layout.height = wide + 40;
      layout.xaxis.showticklabels = layout.yaxis.showticklabels = false;
    }
  }

  function draw(element, wide = width(element), colours = theme()) {
    const figure = drawn.get(element);
    const layout = prepared(figure.layout, colours);
    layout.width = wide;
    if (wide < NARROW) narrowed(layout, figure.data, wide);
    element.style.minHeight = layout.height + "px";
    return Plotly.react(element, prepared(figure.data, colours), layout, config).then(() => {
      // The figure's own keys do what its buttons do: no seven more stops on the way through the page.
      for (const button of element.querySelectorAll(".modebar-btn")) button.tabIndex = -1;
    });
  }

  function redraw(...how) {
    return Promise.all([...drawn.keys()].map((element) => draw(element, ...how)));
  }

  // x-axes of a figure, as [name, range]; logarithmic ones work alike, their ranges are exponents.
  const axes = (element) => Object.entries(element._fullLayout || {}).filter(([name]) => /^xaxis\d*$/.test(name));

  function move(element, factor, shift) {
    const change = {};
    for (const [name, axis] of axes(element)) {
      const [low, high] = axis.range.map(Number);
      const middle = (low + high) / 2 + shift * (high - low), half = (factor * (high - low)) / 2;
      change[name + ".range"] = [middle - half, middle + half];
    }
    return Plotly.relayout(element, change);
  }

  const KEYS = { "+": [0.7, 0], "=": [0.7, 0], "-": [1 / 0.7, 0], ArrowLeft: [1, -0.15], ArrowRight: [1, 0.15] };

  function listen(element) {
    element.addEventListener("keydown", (event) => {
      if (event.ctrlKey || event.metaKey || event.altKey) return;
      if (event.key === "0" || event.key === "Escape") {
        draw(element).then(() =>
          Plotly.relayout(element, Object.fromEntries(axes(element).map(([name]) => [name + ".autorange", true]))));
      } else if (event.key === "s") {
        Plotly.downloadImage(element, { format: "svg", filename: element.id });
      } else if (KEYS[event.key]) {
        move(element, ...KEYS[event.key]);
      } else return;
      event.preventDefault();
    });
  }

  async function start() {
    for (const element of document.querySelectorAll("[data-figure]")) {
      const figure = content.figures[element.dataset.figure];
      drawn.set(element, { data: prepared(figure.data), layout: figure.layout });
      listen(element);
      await draw(element);
      await new Promise((done) => setTimeout(done)); // the page answers in between
    }
    document.documentElement.dataset.figures = "drawn";
  }

  return { content, start, redraw, theme };
})();
