"use strict";
// The arm and the ellipsoids of its links, seen from any side: parallel projection, far things first.
// An ellipsoid with matrix A of squared semi-axes is seen as the ellipse with matrix P A P'.
dynid.arm = (() => {
  const svg = document.getElementById("arm");
  const links = dynid.content.arm;
  if (!svg || !links.length) return { draw() {} };
  let azimuth = -0.9, elevation = 0.35, zoom = 1;

  const sum = (a, b) => a.reduce((s, x, k) => s + x * b[k], 0);
  const reach = (p, axis, length) => p.map((x, k) => x + length * axis[k]);
  const widths = (link, sign) => link.com.map((x, k) => x + sign * Math.sqrt(Math.max(link.spread[k][k], 0)));
  const points = links.flatMap((link) =>
    [link.joint, ...(link.spread ? [widths(link, 1), widths(link, -1)] : [link.com])]).concat([[0, 0, 0]]);
  const low = [0, 1, 2].map((k) => Math.min(...points.map((p) => p[k])));
  const high = [0, 1, 2].map((k) => Math.max(...points.map((p) => p[k])));
  const middle = low.map((x, k) => (x + high[k]) / 2);
  const size = Math.max(0.05, Math.hypot(...high.map((x, k) => x - low[k])));

  function camera(wide, tall) {
    const [ca, sa, ce, se] = [Math.cos(azimuth), Math.sin(azimuth), Math.cos(elevation), Math.sin(elevation)];
    const right = [-sa, ca, 0], up = [-se * ca, -se * sa, ce], towards = [ce * ca, ce * sa, se];
    const scale = (zoom * 0.9 * Math.min(wide, tall)) / size;
    const see = (p) => {
      const d = p.map((x, k) => x - middle[k]);
      return [wide / 2 + scale * sum(right, d), tall / 2 - scale * sum(up, d), sum(towards, d)];
    };
    return { right, up, scale, see };
  }

  function put(parent, tag, attributes, text) {
    const node = document.createElementNS("http://www.w3.org/2000/svg", tag);
    for (const [name, value] of Object.entries(attributes)) node.setAttribute(name, value);
    if (text !== undefined) node.textContent = text;
    parent.append(node);
    return node;
  }

  function line(from, to, colour, width, more = {}) {
    const attributes = { x1: from[0], y1: from[1], x2: to[0], y2: to[1], stroke: colour, "stroke-width": width };
    put(svg, "line", { ...attributes, "stroke-linecap": "round", ...more });
  }

  function ground(view, colours) {
    const step = 10 ** Math.floor(Math.log10(size)) / (size / 10 ** Math.floor(Math.log10(size)) < 3 ? 4 : 2), count = 5;
    for (let k = -count; k <= count; k++) {
      const [a, b] = [k * step, count * step];
      line(view.see([a, -b, 0]), view.see([a, b, 0]), colours.line, 0.7);
      line(view.see([-b, a, 0]), view.see([b, a, 0]), colours.line, 0.7);
    }
    for (const [k, name] of ["x", "y", "z"].entries()) {
      const end = view.see([0, 1, 2].map((i) => (i === k ? 0.16 * size : 0)));
      line(view.see([0, 0, 0]), end, colours.muted, 1.5);
      put(svg, "text", { x: end[0] + 4, y: end[1] }, name);
    }
  }

  function ellipsoid(view, link, colour) {
    const rows = [view.right, view.up].map((row) => link.spread.map((column) => sum(column, row)));
    const [a, b, c] = [sum(rows[0], view.right), -sum(rows[0], view.up), sum(rows[1], view.up)]; // y points down
    const mean = (a + c) / 2, half = Math.hypot((a - c) / 2, b);
    const turn = (Math.atan2(2 * b, a - c) / 2) * (180 / Math.PI);
    const at = view.see(link.com);
    const radius = (x) => Math.max(2, view.scale * Math.sqrt(Math.max(x, 0)));
    put(svg, "ellipse", {
      cx: at[0], cy: at[1], rx: radius(mean + half), ry: radius(mean - half),
      transform: `rotate(${turn} ${at[0]} ${at[1]})`,
      fill: colour, "fill-opacity": 0.3, stroke: colour, "stroke-width": 1.5,
    });
  }

  function impossible(view, link, colours) {
    const [x, y] = view.see(link.com);
    line([x - 6, y - 6], [x + 6, y + 6], colours.bad, 3);
    line([x - 6, y + 6], [x + 6, y - 6], colours.bad, 3);
  }

  function draw(colours = dynid.theme()) {
    const { width: wide, height: tall } = svg.getBoundingClientRect();
    const view = camera(wide, tall);
    svg.replaceChildren();
    svg.setAttribute("viewBox", `0 0 ${wide} ${tall}`);
    ground(view, colours);
    const parts = links.map((link, k) => {
      const colour = colours["s" + ((k % 8) + 1)];
      const before = link.parent < 0 ? [0, 0, 0] : links[link.parent].joint;
      const length = 0.045 * size;
      return { depth: view.see(link.joint)[2], paint() {
        line(view.see(before), view.see(link.joint), colours.muted, 7, { "stroke-opacity": 0.55 });
        const end = [-length, length].map((x) => view.see(reach(link.joint, link.axis, x)));
        line(...end, colour, link.prismatic ? 5 : 11, link.prismatic ? { "stroke-dasharray": "7 6" } : {});
      } };
    }).concat(links.map((link, k) => ({ depth: view.see(link.com)[2], paint() {
      line(view.see(link.joint), view.see(link.com), colours.muted, 1, { "stroke-dasharray": "3 3" });
      if (link.spread) ellipsoid(view, link, colours["s" + ((k % 8) + 1)]);
      else if (!link.physical) impossible(view, link, colours);
    } })));
    for (const part of parts.sort((a, b) => a.depth - b.depth)) part.paint();
    names(view);
    svg.dataset.drawn = links.length;
  }

  // Names beside the ellipsoids, moved apart where they would lie on each other.
  function names(view) {
    const placed = [];
    const wanted = links.map((link) => ({ link, at: view.see(link.com) })).sort((a, b) => a.at[1] - b.at[1]);
    for (const { link, at } of wanted) {
      let y = at[1] - 6;
      while (placed.some((p) => Math.abs(p.y - y) < 15 && Math.abs(p.x - at[0]) < 150)) y += 15;
      placed.push({ x: at[0], y });
      put(svg, "text", { x: at[0] + 10, y }, `${link.name}  ${link.mass} kg`);
    }
  }

  function turn(right, up) {
    azimuth -= right;
    elevation = Math.min(1.5, Math.max(-1.5, elevation + up));
    draw();
  }

  const KEYS = {
    ArrowLeft: () => turn(-0.12, 0), ArrowRight: () => turn(0.12, 0),
    ArrowUp: () => turn(0, 0.12), ArrowDown: () => turn(0, -0.12),
    "+": () => scaled(1.2), "=": () => scaled(1.2), "-": () => scaled(1 / 1.2), 0: () => { zoom = 1; draw(); },
  };
  const scaled = (factor) => { zoom = Math.min(20, Math.max(0.2, zoom * factor)); draw(); };
  svg.addEventListener("keydown", (event) => {
    if (!KEYS[event.key] || event.ctrlKey || event.metaKey || event.altKey) return;
    KEYS[event.key]();
    event.preventDefault();
  });
  svg.addEventListener("pointerdown", (event) => svg.setPointerCapture(event.pointerId));
  svg.addEventListener("pointermove", (event) => {
    if (event.buttons & 1) turn(event.movementX / 120, event.movementY / 120);
  });
  return { draw };
})();
