// SPDX-License-Identifier: MIT
// The boat hull and its timeline on docs/background/pipeline-explorer.md; the closed form is that of
// docs/background/pipeline-model.md, "The boat hull". No network, no library.
(function () {
  'use strict';

  const N = 64; // instructions of a chain

  // t(M): core cycles of M interleaved chains of n dependent instructions.
  function cycles(lambda, latency, m, n) {
    return m * lambda <= latency ? n * latency + (m - 1) * lambda : latency + (n * m - 1) * lambda;
  }
  function perInstruction(lambda, latency, m) {
    return cycles(lambda, latency, m, N) / (N * m);
  }
  function issueTime(lambda, latency, m, step, chain) {
    return step * Math.max(latency, m * lambda) + chain * lambda;
  }

  const sliders = [
    {key: 'warps', label: 'warps W', min: 1, max: 64, step: 1, value: 8},
    {key: 'lambda', label: 'λ [cycles]', min: 0.25, max: 20, step: 0.25, value: 1},
    {key: 'latency', label: 'Λ [cycles]', min: 1, max: 500, step: 1, value: 20},
    {key: 'chains', label: 'chains per warp c', min: 1, max: 8, step: 1, value: 1},
  ];

  function svg(name, attributes, text) {
    const made = document.createElementNS('http://www.w3.org/2000/svg', name);
    for (const key in attributes) made.setAttribute(key, attributes[key]);
    if (text !== undefined) made.textContent = text;
    return made;
  }
  function number(x) {
    return String(Number(x.toPrecision(6)));
  }

  function ticks(least, most) {
    const found = [];
    for (let decade = Math.floor(Math.log10(least)); decade <= Math.ceil(Math.log10(most)); ++decade)
      for (const digit of [1, 2, 5]) {
        const value = digit * Math.pow(10, decade);
        if (value >= least * 0.999 && value <= most * 1.001) found.push(value);
      }
    return found;
  }

  function drawCurve(place, s) {
    const width = 640, height = 300, left = 52, right = 12, top = 14, bottom = 40;
    const m = s.warps * s.chains;
    const yLeast = s.lambda * 0.8;
    const yMost = Math.max(perInstruction(s.lambda, s.latency, s.chains), s.lambda * 2) * 1.3;
    const x = (w) => left + (width - left - right) * Math.log(w) / Math.log(64);
    const y = (v) =>
      top + (height - top - bottom) * (1 - Math.log(v / yLeast) / Math.log(yMost / yLeast));
    place.replaceChildren();
    const picture = svg('svg', {viewBox: `0 0 ${width} ${height}`, role: 'img'});
    picture.append(svg('title', {}, 'Cycles per warp-instruction against warps'));
    for (const w of [1, 2, 4, 8, 16, 32, 64]) {
      picture.append(svg('line', {class: 'grid', x1: x(w), x2: x(w), y1: top, y2: height - bottom}));
      picture.append(svg('text', {x: x(w), y: height - bottom + 15, 'text-anchor': 'middle'}, w));
    }
    for (const v of ticks(yLeast, yMost)) {
      picture.append(svg('line', {class: 'grid', x1: left, x2: width - right, y1: y(v), y2: y(v)}));
      picture.append(svg('text', {x: left - 6, y: y(v) + 4, 'text-anchor': 'end'}, number(v)));
    }
    picture.append(svg('text', {x: (left + width) / 2, y: height - 6, 'text-anchor': 'middle'},
      'warps (logarithmic)'));
    picture.append(svg('text', {x: 12, y: (top + height - bottom) / 2, 'text-anchor': 'middle',
      transform: `rotate(-90 12 ${(top + height - bottom) / 2})`}, 'cycles per instruction'));
    picture.append(svg('line',
      {class: 'bound', x1: left, x2: width - right, y1: y(s.lambda), y2: y(s.lambda)}));
    picture.append(svg('text',
      {x: width - right - 2, y: y(s.lambda) + 13, 'text-anchor': 'end'}, 'λ'));
    const ridge = s.latency / s.lambda / s.chains;
    if (ridge >= 1 && ridge <= 64) {
      picture.append(svg('line',
        {class: 'bound', x1: x(ridge), x2: x(ridge), y1: top, y2: height - bottom}));
      picture.append(svg('text', {x: x(ridge) + 4, y: top + 10}, 'M = Λ/λ'));
    }
    let path = '';
    for (let w = 1; w <= 64; ++w)
      path += `${w === 1 ? 'M' : 'L'}${x(w)},${y(perInstruction(s.lambda, s.latency, w * s.chains))}`;
    picture.append(svg('path', {class: 'curve', d: path}));
    picture.append(svg('circle', {class: 'here', r: 5, cx: x(s.warps),
      cy: y(perInstruction(s.lambda, s.latency, m))}));
    place.append(picture);
  }

  function drawTimeline(place, s) {
    const m = s.warps * s.chains, rows = Math.min(m, 16), steps = 3;
    const period = Math.max(s.latency, m * s.lambda);
    const last = steps * period;
    const width = 640, left = 52, right = 12, row = 15, top = 4;
    const height = top + (rows + 1) * row + 30;
    const x = (t) => left + (width - left - right) * t / last;
    place.replaceChildren();
    const picture = svg('svg', {viewBox: `0 0 ${width} ${height}`, role: 'img'});
    picture.append(svg('title', {}, 'When each instruction issues'));
    const bar = (kind, at, length, line) => {
      if (at >= last) return;
      picture.append(svg('rect', {class: kind, x: x(at), y: top + line * row + 2,
        width: Math.max(0.6, x(Math.min(at + length, last)) - x(at)), height: row - 4}));
    };
    for (let chain = 0; chain < m; ++chain)
      for (let step = 0; step < steps; ++step) {
        const at = issueTime(s.lambda, s.latency, m, step, chain);
        if (chain < rows) {
          bar('waiting', at, s.latency, chain);
          bar('busy', at, s.lambda, chain);
        }
        bar('busy', at, s.lambda, rows);
      }
    for (let chain = 0; chain < rows; ++chain)
      picture.append(svg('text', {x: left - 6, y: top + chain * row + 11, 'text-anchor': 'end'},
        `w${Math.floor(chain / s.chains)}` + (s.chains > 1 ? ` c${chain % s.chains}` : '')));
    picture.append(svg('text',
      {x: left - 6, y: top + rows * row + 11, 'text-anchor': 'end'}, 'unit'));
    const axis = top + (rows + 1) * row;
    for (let step = 0; step <= steps; ++step)
      picture.append(svg('text', {x: x(step * period), y: axis + 13,
        'text-anchor': step === steps ? 'end' : 'middle'}, number(step * period)));
    picture.append(svg('text', {x: (left + width) / 2, y: axis + 27, 'text-anchor': 'middle'},
      m > rows ? `cycles (16 of ${m} chains)` : 'cycles'));
    place.append(picture);
  }

  function start(root) {
    const state = {};
    const given = new URLSearchParams(location.hash.slice(1));
    const table = document.createElement('div');
    table.className = 'pe-sliders';
    const results = document.createElement('p');
    results.className = 'pe-results';
    const curve = document.createElement('div'), timeline = document.createElement('div');
    curve.className = timeline.className = 'pe-picture';

    function show() {
      const m = state.warps * state.chains;
      const values = {
        inflight: m,
        ridge: state.latency / state.lambda,
        cycles: cycles(state.lambda, state.latency, m, N),
        per: perInstruction(state.lambda, state.latency, m),
        busy: 100 * N * m * state.lambda / cycles(state.lambda, state.latency, m, N),
        limit: m * state.lambda < state.latency ? 'latency' : 'throughput',
      };
      results.replaceChildren();
      const words = [
        ['M = ', 'inflight', ' in flight; ridge at '], ['', 'ridge', '; '],
        ['', 'per', ' cycles per instruction; '], ['', 'cycles', ' cycles in all; unit busy '],
        ['', 'busy', ' %; limited by '], ['', 'limit', '.'],
      ];
      for (const [before, key, after] of words) {
        const value = document.createElement('output');
        value.id = `pe-${key}`;
        value.textContent = typeof values[key] === 'number' ? number(values[key]) : values[key];
        results.append(before, value, after);
      }
      drawCurve(curve, state);
      drawTimeline(timeline, state);
    }

    for (const slider of sliders) {
      const wanted = Number(given.get(slider.key));
      state[slider.key] = wanted >= slider.min && wanted <= slider.max ? wanted : slider.value;
      const label = document.createElement('label'), input = document.createElement('input');
      const name = document.createElement('span'), value = document.createElement('output');
      name.textContent = slider.label;
      Object.assign(input, {type: 'range', min: slider.min, max: slider.max, step: slider.step});
      input.value = state[slider.key];
      value.textContent = state[slider.key];
      input.addEventListener('input', () => {
        state[slider.key] = Number(input.value);
        value.textContent = input.value;
        show();
      });
      label.append(name, input, value);
      table.append(label);
    }
    root.append(table, results, curve, timeline);
    show();
  }

  const root = document.getElementById('explorer');
  if (root) start(root);
})();
