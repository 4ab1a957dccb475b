'use strict';
// Fills the page, loads the timeline, and listens.

// What parts of the page do to each other; filled when the timeline is there.
const PAGE = {only: () => {}, show: () => {}};

function fillFirstScreen() {
  byId('facts').textContent = REPORT.facts;
  byId('warning').textContent = REPORT.warning;
  byId('warning').hidden = REPORT.warning === '';
  const share = key => shareOfTime(RUN[key]);
  const bars = [
    () => null,
    () => bar([['work', RUN.parallelism / Math.max(REPORT.threads.length, 1)]]),
    () => bar([['work', share('work_ns')], ['creating', share('creating_ns')], ['waiting', share('waiting_ns')], ['outside', share('outside_ns')]]),
    () => REPORT.locality.known ? bar([['remote', REPORT.locality.remote_bytes / (REPORT.locality.bytes - REPORT.locality.unknown_bytes || 1)]]) : null,
  ];
  byId('answers').append(...REPORT.answers.map((answer, i) => element('div', {class: 'answer'}, element('h2', {}, answer.question),
    element('p', {class: 'figure'}, answer.figure), bars[i](), element('p', {class: 'words'}, answer.sentence))));
  byId('cost-list').append(...REPORT.costs.map(cost => element('li', {}, element('span', {class: 'share'}, shareText(cost.share)),
    element('a', {class: 'what', href: '#' + cost.part}, cost.what), bar([['', cost.share]]), element('span', {class: 'detail'}, cost.detail))));
  if (REPORT.costs.length === 0) byId('cost-list').append(element('li', {}, element('span'), 'Nothing was recorded that took time.'));
  byId('change-list').append(...REPORT.changes.map(change => element('li', {},
    element('p', {class: 'what'}, change.where ? [element('code', {}, change.where), ': '] : null, change.what),
    element('p', {class: 'how'}, 'Use: ' + change.how + '.'), element('p', {class: 'gain'}, change.gain))));
  if (REPORT.changes.length === 0)
    byId('change-list').append(element('li', {}, REPORT.no_change));
  byId('lack-list').append(...REPORT.lacks.map(text => element('li', {}, text)));
  if (REPORT.lacks.length === 0) byId('lacks').hidden = true;
  byId('parts').append(...[...document.querySelectorAll('main > section[id] > h2')].filter(h => !h.parentElement.hidden)
    .map(h => element('a', {href: '#' + h.parentElement.id}, h.textContent)));
  byId('made').textContent = 'Made by hearth report from a recording of Hearth ' + RUN.hearth + ' (schema ' + RUN.schema + '). This file needs no network, and may use none.';
}

/** What is known of the task of a piece, as [word, text]. */
function taskFacts(timeline, found) {
  const pieces = timeline.threads[found.thread], i = found.piece, task = pieces.task[i], tasks = timeline.tasks;
  const construct = CONSTRUCTS.get(tasks.construct[task]), facts = [];
  facts.push(['Task', '#' + task + (construct ? ', ' + constructLabel(construct) : '')]);
  if (construct && construct.function) facts.push(['In', construct.function]);
  facts.push(['Thread', threadLabel(REPORT.threads[found.thread]) + (REPORT.threads[found.thread].node >= 0 ? ', node ' + REPORT.threads[found.thread].node : '')]);
  if (pieces.wait[i] >= 0) {
    const wait = WAITS.get(pieces.wait[i]);
    facts.push(['Waits', wait ? wait.words : 'yes']);
  }
  facts.push([pieces.wait[i] >= 0 ? 'For' : 'This piece', timeText(pieces.end[i] - pieces.begin[i])], ['Begins at', timeText(pieces.begin[i])]);
  if (tasks.delay && tasks.delay[task] >= 0) facts.push(['Delay from ready to begin', timeText(tasks.delay[task])]);
  if (tasks.declared && tasks.declared[task] > 0) facts.push(['Declares', bytesText(tasks.declared[task])]);
  if (tasks.location && tasks.location[task] >= 0) facts.push(['Ran on', 'location ' + tasks.location[task]]);
  if (tasks.remote && tasks.remote[task] >= 0)
    facts.push(['Its data', shareText(tasks.remote[task]) + ' remote' + (tasks.distance[task] > 0 ? ', mean distance ' + threeDigits(tasks.distance[task]) + ' (10 is local)' : '')]);
  if (tasks.chosen && tasks.chosen[task] > -2)
    facts.push(['Decision', (tasks.chosen[task] < 0 ? 'stays where it was asked' : 'dealt to location ' + tasks.chosen[task]) + ': ' + REPORT.locality.whys[tasks.why[task]].text]);
  if (tasks.misses && tasks.misses[task] >= 0) facts.push(['Last-level cache misses', countText(tasks.misses[task]) + ' in 10⁶ cycles']);
  if (tasks.parent[task] >= 0) facts.push(['Created by', '#' + tasks.parent[task]]);
  return facts;
}

function listen(timeline, modeList) {
  const canvas = timeline.canvas, tip = byId('tip'), chosen = byId('chosen');
  const place = event => { const box = canvas.getBoundingClientRect(); return [event.clientX - box.left, event.clientY - box.top]; };
  const choose = found => {
    timeline.choose(found);
    chosen.replaceChildren();
    if (!found) return;
    const facts = taskFacts(timeline, found), list = element('dl');
    for (const [word, text] of facts) list.append(element('div', {}, element('dt', {}, word), element('dd', {}, text)));
    chosen.append(list);
    const parent = timeline.tasks.parent[timeline.threads[found.thread].task[found.piece]];
    if (parent >= 0) {
      const up = element('button', {type: 'button'}, 'Go to task #' + parent);
      up.addEventListener('click', () => { const there = timeline.find(parent); if (there) choose(there); canvas.focus(); });
      chosen.append(up);
    }
  };
  let drag = null;
  canvas.addEventListener('pointerdown', event => { drag = {x: event.clientX, view: timeline.view, moved: false}; canvas.setPointerCapture(event.pointerId); });
  canvas.addEventListener('pointermove', event => {
    const [x, y] = place(event);
    if (drag && (drag.moved || Math.abs(event.clientX - drag.x) > 3)) {
      drag.moved = true;
      tip.hidden = true;
      const shift = (drag.x - event.clientX) / timeline.plot * (drag.view.to - drag.view.from);
      timeline.show(drag.view.from + shift, drag.view.to + shift);
      return;
    }
    const found = timeline.pieceAt(x, y);
    tip.hidden = !found;
    if (!found) return;
    const [first, ...rest] = taskFacts(timeline, found);
    tip.replaceChildren(element('b', {}, first[1]), ...rest.map(([word, text]) => element('div', {}, word + ': ' + text)));
    tip.style.left = Math.max(0, Math.min(event.clientX + 14, window.innerWidth - tip.offsetWidth - 16)) + 'px';
    tip.style.top = tipTop(timeline, found.thread, tip.offsetHeight) + 'px';
  });
  canvas.addEventListener('pointerup', event => {
    const clicked = drag && !drag.moved;
    drag = null;
    if (clicked) choose(timeline.pieceAt(...place(event)));
  });
  canvas.addEventListener('pointerleave', () => { tip.hidden = true; });
  window.addEventListener('scroll', () => { tip.hidden = true; }, {capture: true, passive: true});
  canvas.addEventListener('dblclick', event => timeline.zoom(4, timeline.time(place(event)[0])));
  canvas.addEventListener('wheel', event => {
    if (!event.ctrlKey && !event.metaKey) return;
    event.preventDefault();
    timeline.zoom(Math.exp(-event.deltaY / 300), timeline.time(place(event)[0]));
  }, {passive: false});
  canvas.addEventListener('keydown', event => {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const keys = {
      ArrowLeft: () => timeline.pan(-0.15), ArrowRight: () => timeline.pan(0.15), '+': () => timeline.zoom(1.6), '=': () => timeline.zoom(1.6), '-': () => timeline.zoom(1 / 1.6),
      Home: () => timeline.show(0, LENGTH),
      ArrowUp: () => { timeline.row = Math.max(0, timeline.row - 1); choose(timeline.next(1)); },
      ArrowDown: () => { timeline.row = Math.min(timeline.threads.length - 1, timeline.row + 1); choose(timeline.next(1)); },
      Enter: () => choose(timeline.next(event.shiftKey ? -1 : 1) || timeline.chosen), Escape: () => choose(null),
      t: () => { if (timeline.chosen) timeline.zoomTo(timeline.chosen); }, T: () => { if (timeline.chosen) timeline.zoomTo(timeline.chosen); },
    };
    if (!keys[event.key]) return;
    event.preventDefault();
    keys[event.key]();
  });
  canvas.addEventListener('focus', () => timeline.ask());
  canvas.addEventListener('blur', () => timeline.ask());
  byId('zoom-in').addEventListener('click', () => timeline.zoom(2));
  byId('zoom-out').addEventListener('click', () => timeline.zoom(0.5));
  byId('zoom-all').addEventListener('click', () => timeline.show(0, LENGTH));
  byId('search-form').addEventListener('submit', event => { event.preventDefault(); search(timeline, choose); });
  byId('search').addEventListener('change', () => search(timeline, choose));
  listenToColours(timeline, modeList);
}

/** Below the row that is pointed at or, where the window ends, above it; never over it. */
function tipTop(timeline, row, height) {
  const top = timeline.canvas.getBoundingClientRect().top;
  const below = top + timeline.y(row + 1) + 6, above = top + timeline.y(row) - height - 6;
  return below + height > window.innerHeight && above >= 0 ? above : below;
}

function search(timeline, choose) {
  const text = byId('search').value.trim(), number = /^#?(\d+)$/.exec(text);
  if (text === '') { PAGE.show(null); return; }
  if (number) {
    const found = timeline.find(Number(number[1]));
    if (found) { choose(found); timeline.zoomTo(found); } else byId('chosen').replaceChildren('No task has the number ' + number[1] + '.');
    return;
  }
  const construct = REPORT.constructs.find(c => constructLabel(c).toLowerCase().includes(text.toLowerCase()) || c.function.toLowerCase().includes(text.toLowerCase()));
  if (construct) PAGE.show(construct.id);
  byId('chosen').replaceChildren(construct ? 'Shown: ' + constructLabel(construct) + ', ' + counted(construct.tasks, 'task') + '.' : 'No construct has that in its name.');
}

function listenToColours(timeline, modeList) {
  const mode = byId('mode'), rampBox = byId('ramp');
  let only = null;
  mode.append(...modeList.map(m => element('option', {value: m.id}, m.name)));
  const apply = () => {
    const chosen = modeList.find(m => m.id === mode.value) || modeList[0];
    byId('ramp-label').hidden = !chosen.ramp;
    const made = chosen.make(timeline.tasks, rampBox.value);
    timeline.setMode(made, only);
    fillLegend(made, only);
  };
  PAGE.show = construct => { only = construct; apply(); };
  PAGE.only = construct => PAGE.show(only === construct ? null : construct);
  PAGE.state = () => ({mode: mode.value, only});
  mode.addEventListener('change', apply);
  rampBox.addEventListener('change', apply);
  for (const query of ['(prefers-color-scheme: dark)', 'print']) matchMedia(query).addEventListener('change', apply);
  apply();
}
function fillLegend(mode, only) {
  const box = byId('legend'), items = [];
  if (mode.ends) {
    const bar = element('span', {class: 'ramp'});
    bar.style.background = 'linear-gradient(to right,' + mode.palette.slice(0, STEPS).filter((_, i) => i % 9 === 0 || i === STEPS - 1).map(css).join(',') + ')';
    items.push(element('span', {role: 'listitem'}, mode.ends[0], bar, mode.ends[1]),
               element('span', {role: 'listitem'}, element('span', {class: 'swatch', style: {background: css(UNKNOWN)}}), 'not known'));
  }
  for (const item of mode.legend || []) {
    const swatch = element('span', {class: 'swatch', style: {background: css(item.colour)}});
    if (item.construct === undefined) { items.push(element('span', {role: 'listitem'}, swatch, item.text)); continue; }
    const button = element('button', {type: 'button', 'aria-pressed': only === item.construct ? 'true' : 'false'}, swatch, item.text);
    button.addEventListener('click', () => PAGE.only(item.construct));
    items.push(element('span', {role: 'listitem'}, button));
  }
  items.push(element('span', {role: 'listitem'}, element('span', {class: 'swatch thin', style: {background: 'var(--waiting)'}}), 'waiting'));
  box.replaceChildren(...items);
}

async function start() {
  fillComparison();
  fillFirstScreen();
  const timeline = new Timeline(byId('canvas'));
  timeline.onChange = () => followTimeline(timeline.view);
  timeline.setOverview(await loadOverview());
  fillConstructs();
  fillWaiting();
  fillThreads();
  fillParallelism();
  fillLocality();
  fillDecisions();
  fillAllocations();
  fillMoves();
  const tasks = await loadTasks(), threads = [];
  for (let i = 0; i < REPORT.threads.length; ++i) threads.push(Object.assign(await loadThread(i), {thread: i}));
  tasks.longestDelay = tasks.delay ? tasks.delay.reduce((a, b) => Math.max(a, b), 0) : 0;
  tasks.mostDeclared = tasks.declared ? tasks.declared.reduce((a, b) => Math.max(a, b), 0) : 0;
  timeline.setPieces(threads, tasks);
  byId('search-names').append(...REPORT.constructs.slice(0, 100).map(c => element('option', {value: constructLabel(c)})));
  byId('timeline-sentence').textContent = counted(REPORT.threads.length, 'thread') + ', ' + counted(REPORT.timeline.pieces, 'piece') + ' of time' +
    (REPORT.timeline.step > 1 ? ', rounded to ' + timeText(REPORT.timeline.step) + ' so that this file stays small' : '') + '.' +
    (REPORT.timeline.tells_delays ? '' : ' There was no room for the delays and footprints of single tasks.');
  listen(timeline, modes(tasks));
  window.addEventListener('resize', () => timeline.resize());
  for (const query of ['(prefers-color-scheme: dark)', 'print']) matchMedia(query).addEventListener('change', () => timeline.resize());
  window.addEventListener('beforeprint', () => { timeline.printing = true; timeline.resize(); });
  window.addEventListener('afterprint', () => { timeline.printing = false; timeline.resize(); });
  timeline.resize();
  window.hearth.state = () => ({view: timeline.view, row: timeline.row, chosen: timeline.chosen && timeline.threads[timeline.chosen.thread].task[timeline.chosen.piece],
                                pieces: timeline.threads.reduce((sum, t) => sum + t.count, 0), lastDraw: timeline.lastDraw, ...PAGE.state()});
  window.hearth.timeline = timeline;
  return performance.now();
}

// For tests: when all is there, and what is shown.
window.hearth = {data: REPORT};
window.hearth.ready = start();
