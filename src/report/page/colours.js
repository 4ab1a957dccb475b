'use strict';
// How the timeline is coloured. A mode gives each piece of work a number into its palette, or -1: not drawn. Waiting is always
// a thin grey strip, so that it differs in form as well.

// Okabe and Ito's colours, told apart by colour-blind people, and a grey for all constructs after the first eight.
const CATEGORIES = [[0, 114, 178], [230, 159, 0], [0, 158, 115], [204, 121, 167], [86, 180, 233], [213, 94, 0], [240, 228, 66],
                    [148, 103, 60]];
const REST = [140, 140, 140], UNKNOWN = [165, 165, 160];
const RAMPS = {  // from little to much
  light: [[253, 231, 176], [244, 165, 96], [214, 84, 92], [128, 37, 110], [45, 16, 70]],
  paper: [[120, 220, 110], [20, 140, 90], [15, 85, 130], [15, 30, 160]],
};
const STEPS = 64;

/** On a dark ground the far end is the bright one: what is far has to stand out. */
function ramp(name) {
  const dark = matchMedia('(prefers-color-scheme: dark)').matches && !matchMedia('print').matches;
  const stops = name === 'light' && dark ? RAMPS.light.slice().reverse() : RAMPS[name], all = [];
  for (let i = 0; i < STEPS; ++i) {
    const at = i / (STEPS - 1) * (stops.length - 1), low = Math.min(Math.floor(at), stops.length - 2), part = at - low;
    all.push([0, 1, 2].map(c => Math.round(stops[low][c] * (1 - part) + stops[low + 1][c] * part)));
  }
  return all;
}
/** 0 to STEPS - 1, by the logarithm between two borders. */
function logStep(value, least, most) {
  if (value <= least) return 0;
  return Math.min(STEPS - 1, Math.round(Math.log(value / least) / Math.log(Math.max(most / least, 2)) * (STEPS - 1)));
}
function css(colour) { return 'rgb(' + colour.join(',') + ')'; }

function constructMode(tasks) {
  const order = new Map(REPORT.constructs.map((c, i) => [c.id, i]));
  const palette = CATEGORIES.concat([REST]);
  const number = c => Math.min(order.has(c) ? order.get(c) : CATEGORIES.length, CATEGORIES.length);
  return {
    palette, index: (pieces, i) => number(tasks.construct[pieces.task[i]]), ofConstruct: number,
    legend: REPORT.constructs.slice(0, CATEGORIES.length).map((c, i) => ({
      colour: palette[i], text: constructLabel(c), construct: c.id}))
      .concat(REPORT.constructs.length > CATEGORIES.length
        ? [{colour: REST, text: counted(REPORT.constructs.length - CATEGORIES.length, 'other construct')}] : []),
  };
}
function constructLabel(c) {
  if (c.kind === 'initial') return 'serial parts';
  if (c.kind === 'implicit') return c.name === 'implicit' ? 'parallel regions' : 'region ' + c.name;
  return c.name;
}
/** A ramp, and behind it the colour of work about which nothing is known. */
function rampOf(name, value, step, ends) {
  return {palette: ramp(name).concat([UNKNOWN]), index: (pieces, i) => {
    const v = value(pieces, i);
    return v < 0 ? STEPS : step(v);
  }, ends};
}
function rampMode(name, value, least, most, text) {
  return rampOf(name, value, v => logStep(v, least, most), [text(least), text(most)]);
}

function linearMode(name, value, least, most, text) {
  return rampOf(name, value, v => Math.max(0, Math.min(STEPS - 1, Math.round((v - least) / (most - least) * (STEPS - 1)))),
                [text(least), text(most)]);
}

/** What there is to choose from: {id, name, ramp, make(tasks, ramp)}. */
function modes(tasks) {
  const all = [];
  const farthest = Math.max(20, ...REPORT.locality.distance);
  if (tasks.distance && REPORT.locality.known && REPORT.locality.distance.some(d => d > 0)) {
    all.push({id: 'distance', name: 'distance of its data', ramp: true, make: (_, name) =>
      linearMode(name, (p, i) => tasks.distance[p.task[i]] || -1, 10, farthest, d => d === 10 ? 'local (10)' : 'distance ' + d)});
  }
  if (tasks.misses) {
    const most = Math.max(10, tasks.misses.reduce((a, b) => Math.max(a, b), 0));
    all.push({id: 'misses', name: 'last-level cache misses', ramp: true, make: (_, name) =>
      rampMode(name, (p, i) => tasks.misses[p.task[i]], 1, most, v => countText(v) + ' in 10⁶ cycles')});
  }
  all.push({id: 'construct', name: 'construct', make: () => constructMode(tasks)});
  const longest = Math.max(1000, ...REPORT.constructs.filter(c => c.kind !== 'initial').map(c => c.most_ns));
  all.push({id: 'length', name: 'length of the piece', ramp: true, make: (_, name) =>
    rampMode(name, (p, i) => p.end[i] - p.begin[i], 100, longest, timeText)});
  if (tasks.delay && RUN.explicit_tasks > 0) {
    all.push({id: 'delay', name: 'delay from ready to begin', ramp: true, make: (_, name) =>
      rampMode(name, (p, i) => tasks.delay[p.task[i]], 1000, Math.max(2000, tasks.longestDelay), timeText)});
  }
  if (tasks.declared && RUN.declares) {
    all.push({id: 'bytes', name: 'bytes that the task declares', ramp: true, make: (_, name) =>
      rampMode(name, (p, i) => tasks.declared[p.task[i]] || -1, 64, Math.max(4096, tasks.mostDeclared), bytesText)});
  }
  if (tasks.remote && REPORT.locality.known) {
    all.push({id: 'remote', name: 'remote share of its data', ramp: true, make: (_, name) =>
      linearMode(name, (p, i) => tasks.remote[p.task[i]], 0, 1, shareText)});
  }
  if (tasks.location && REPORT.locality.locations > 1) {
    const locations = [...Array(REPORT.locality.locations).keys()];
    all.push({id: 'location', name: 'location where it ran', make: () => ({
      palette: locations.map(n => CATEGORIES[n % CATEGORIES.length]), index: (p, i) => tasks.location[p.task[i]],
      legend: locations.slice(0, 16).map(n => ({colour: CATEGORIES[n % CATEGORIES.length], text: 'location ' + n}))})});
  } else if (RUN.nodes > 1) {
    const nodes = [...new Set(REPORT.threads.map(t => t.node))].sort((a, b) => a - b);
    all.push({id: 'node', name: 'node where it ran', make: () => ({
      palette: nodes.map((_, i) => CATEGORIES[i % CATEGORIES.length]), index: (p) => nodes.indexOf(REPORT.threads[p.thread].node),
      legend: nodes.map((n, i) => ({colour: CATEGORIES[i % CATEGORIES.length], text: n < 0 ? 'not known' : 'node ' + n}))})});
  }
  return all;
}
