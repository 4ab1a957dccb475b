'use strict';
// Parallelism over time, as two curves with one time axis: that of the timeline, which they follow.

const CHART = {width: 1000, height: 110, left: 52, bottom: 20, top: 8};

function chart(values, most, area, name) {
  const {width, height, left, bottom, top} = CHART, plot = height - bottom - top;
  const y = v => top + (1 - Math.min(v, most) / most) * plot;
  const svg = svgElement('svg', {viewBox: `0 0 ${width} ${height}`, role: 'img', 'aria-label': name});
  const ticks = most <= 2 ? [0, 1, most] : [0, Math.round(most / 2), Math.round(most)];
  for (const tick of [...new Set(ticks)]) {
    svg.append(svgElement('line', {x1: left, x2: width, y1: y(tick), y2: y(tick), class: 'axis-line'}));
    svg.append(svgElement('text', {x: left - 6, y: y(tick) + 4, class: 'axis', 'text-anchor': 'end'}, countText(tick)));
  }
  let path = `M0,${y(0)}`;
  values.forEach((v, i) => { path += `L${i},${y(v).toFixed(1)}L${i + 1},${y(v).toFixed(1)}`; });
  path += `L${values.length},${y(0)}`;
  const curve = svgElement('svg', {x: left, y: 0, width: width - left, height, preserveAspectRatio: 'none'});
  curve.append(svgElement('path', {d: path, class: area}));
  const axis = svgElement('g', {});
  svg.append(curve, axis);
  FOLLOWERS.push(({from, to}) => {
    const parts = values.length / LENGTH, step = niceStep(to - from, 8);
    curve.setAttribute('viewBox', `${from * parts} 0 ${(to - from) * parts} ${height}`);
    axis.replaceChildren();
    for (let t = Math.ceil(from / step) * step; t <= to; t += step) {
      const part = (t - from) / (to - from);
      if (part < 0.96) axis.append(svgElement('text', {x: left + part * (width - left), y: height - 5, class: 'axis'}, axisText(t, step)));
    }
  });
  FOLLOWERS[FOLLOWERS.length - 1]({from: 0, to: LENGTH});
  return svg;
}
const FOLLOWERS = [];  // what shows the time that the timeline shows
let followed = null;
function followTimeline(view) {
  if (view === followed) return;
  followed = view;
  for (const follow of FOLLOWERS) follow(view);
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
