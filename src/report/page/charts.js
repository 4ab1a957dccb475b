'use strict';
// Parallelism over time, as two curves with one time axis.

const CHART = {width: 1000, height: 110, left: 52, bottom: 20, top: 8};

function chart(values, most, area, name) {
  const {width, height, left, bottom, top} = CHART, plot = height - bottom - top;
  const x = i => left + i / values.length * (width - left), y = v => top + (1 - Math.min(v, most) / most) * plot;
  const svg = svgElement('svg', {viewBox: `0 0 ${width} ${height}`, role: 'img', 'aria-label': name});
  const ticks = most <= 2 ? [0, 1, most] : [0, Math.round(most / 2), Math.round(most)];
  for (const tick of [...new Set(ticks)]) {
    svg.append(svgElement('line', {x1: left, x2: width, y1: y(tick), y2: y(tick), class: 'axis-line'}));
    svg.append(svgElement('text', {x: left - 6, y: y(tick) + 4, class: 'axis', 'text-anchor': 'end'}, countText(tick)));
  }
  let path = `M${left},${y(0)}`;
  values.forEach((v, i) => { path += `L${x(i).toFixed(1)},${y(v).toFixed(1)}L${x(i + 1).toFixed(1)},${y(v).toFixed(1)}`; });
  path += `L${width},${y(0)}`;
  svg.append(svgElement('path', {d: path, class: area}));
  const step = niceStep(LENGTH, 8);
  for (let t = 0; t <= LENGTH; t += step)
    if (t / LENGTH < 0.96) svg.append(svgElement('text', {x: left + t / LENGTH * (width - left), y: height - 5, class: 'axis'}, axisText(t, step)));
  return svg;
}

function fillParallelism() {
  const {running, available} = REPORT.parallelism, threads = REPORT.threads.length;
  if (running.length === 0) { byId('parallelism-sentence').textContent = 'Nothing ran.'; return; }
  const few = running.filter(v => v < threads / 2).length / running.length;
  byId('parallelism-sentence').textContent = 'For ' + shareText(few) + ' of the run, fewer than half of the ' + counted(threads, 'thread') + ' were in bodies of tasks.' + starved(running, available, threads);
  const box = byId('parallelism-chart');
  box.className = 'pair';
  box.append(element('figure', {}, element('figcaption', {}, 'Threads in bodies of tasks, of ' + threads), chart(running, Math.max(threads, 1), 'running', 'Threads in bodies of tasks over time')));
  if (available.length > 0) {
    const most = Math.max(1, ...available);
    box.append(element('figure', {}, element('figcaption', {}, 'Explicit tasks that are ready or run: at most ' + threeDigits(most)), chart(available, most, 'available', 'Ready or running tasks over time')));
  }
}
/** Why threads were idle: too few tasks, or tasks that nobody had taken. */
function starved(running, available, threads) {
  if (available.length === 0) return '';
  let lacking = 0, idle = 0;
  running.forEach((v, i) => {
    if (v >= threads - 0.5) return;
    ++idle;
    lacking += available[i] < threads ? 1 : 0;
  });
  return idle === 0 ? '' : ' While some thread was not, there were fewer ready or running tasks than threads for ' + shareText(lacking / idle) + ' of the time.';
}
