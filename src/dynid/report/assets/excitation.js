"use strict";
// The figure, and the arm in parallel projection: lines from every joint to the one that carries it.
(() => {
  const { figure, arm } = JSON.parse(document.getElementById("content").textContent);
  Plotly.newPlot("figure", figure.data, figure.layout, { displaylogo: false, responsive: true })
    .then(() => { document.documentElement.dataset.figures = "drawn"; });

  const canvas = document.getElementById("arm"), time = document.getElementById("time");
  const play = document.getElementById("play"), now = document.getElementById("now");
  const all = arm.frames.flat().concat([[0, 0, 0]]);
  const low = [0, 1, 2].map((k) => Math.min(...all.map((p) => p[k])));
  const high = [0, 1, 2].map((k) => Math.max(...all.map((p) => p[k])));
  const size = Math.max(50, Math.hypot(...high.map((x, k) => x - low[k])));
  let azimuth = -0.9, elevation = 0.35, running = 0;
  time.max = arm.frames.length - 1;

  function draw() {
    const ratio = window.devicePixelRatio || 1, wide = canvas.clientWidth, tall = canvas.clientHeight;
    [canvas.width, canvas.height] = [wide * ratio, tall * ratio];
    const pen = canvas.getContext("2d");
    pen.scale(ratio, ratio);
    const [ca, sa, ce, se] = [Math.cos(azimuth), Math.sin(azimuth), Math.cos(elevation), Math.sin(elevation)];
    const scale = (0.9 * Math.min(wide, tall)) / size;
    const see = (p) => {
      const [x, y, z] = p.map((v, k) => v - (low[k] + high[k]) / 2);
      return [wide / 2 + scale * (-sa * x + ca * y), tall / 2 - scale * (-se * ca * x - se * sa * y + ce * z)];
    };
    const line = (a, b, colour, width) => {
      pen.strokeStyle = colour; pen.lineWidth = width; pen.lineCap = "round";
      pen.beginPath(); pen.moveTo(...see(a)); pen.lineTo(...see(b)); pen.stroke();
    };
    for (let k = -4; k <= 4; k++) {
      const at = (k * size) / 8, end = size / 2;
      line([at, -end, 0], [at, end, 0], "#e8ecf0", 1);
      line([-end, at, 0], [end, at, 0], "#e8ecf0", 1);
    }
    const tip = arm.parents.length - 1, frame = arm.frames[+time.value];
    for (let k = 1; k < arm.frames.length; k++) line(arm.frames[k - 1][tip], arm.frames[k][tip], "#c9dcf0", 1);
    frame.forEach((p, k) => line(arm.parents[k] < 0 ? [0, 0, 0] : frame[arm.parents[k]], p, "#0a5cad", 5));
    pen.fillStyle = "#15202b";
    for (const p of frame) { pen.beginPath(); pen.arc(...see(p), 4, 0, 2 * Math.PI); pen.fill(); }
    now.textContent = arm.times[+time.value].toFixed(2) + " s";
  }

  function step(stamp) {
    if (!running) return;
    const span = arm.times[arm.times.length - 1] - arm.times[0], at = ((stamp - running) / 1000) % span;
    time.value = arm.times.findIndex((t) => t - arm.times[0] >= at);
    draw();
    requestAnimationFrame(step);
  }

  play.addEventListener("click", () => {
    const shown = arm.times[+time.value] - arm.times[0];
    running = running ? 0 : performance.now() - 1000 * shown;
    play.textContent = running ? "Stop" : "Play";
    if (running) requestAnimationFrame(step);
  });
  time.addEventListener("input", draw);
  canvas.addEventListener("pointermove", (event) => {
    if (!event.buttons) return;
    azimuth -= event.movementX * 0.01;
    elevation = Math.min(1.5, Math.max(-1.5, elevation + event.movementY * 0.01));
    draw();
  });
  window.addEventListener("resize", draw);
  draw();
})();
