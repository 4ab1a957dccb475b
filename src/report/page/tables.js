'use strict';
// Tables that can be sorted, for everything that has numbers: they are also what a screen reader reads of the pictures.

const ROWS_AT_FIRST = 20;

/** columns: {label, value(row) to sort by, show(row): text or node, number, head}; the first is the row's head. */
function makeTable(caption, columns, rows, sortBy) {
  let sorted = rows.slice(), by = sortBy === undefined ? -1 : sortBy, down = true, all = false;
  const heads = columns.map((column, i) => {
    const button = element('button', {type: 'button'}, column.label);
    const head = element('th', {scope: 'col', class: column.number ? 'number' : null}, button);
    if (column.hint) button.title = column.hint;
    button.addEventListener('click', () => {
      down = by === i ? !down : !!column.number;
      by = i;
      fill();
    });
    return head;
  });
  const body = element('tbody');
  const more = element('button', {type: 'button', class: 'more'});
  more.addEventListener('click', () => { all = !all; fill(); });
  function fill() {
    if (by >= 0) {
      const value = columns[by].value;
      sorted = rows.slice().sort((a, b) => {
        const x = value(a), y = value(b), order = typeof x === 'string' ? x.localeCompare(y) : x - y;
        return down ? -order : order;
      });
    }
    heads.forEach((head, i) => { if (i === by) head.setAttribute('aria-sort', down ? 'descending' : 'ascending'); else head.removeAttribute('aria-sort'); });
    body.replaceChildren(...(all ? sorted : sorted.slice(0, ROWS_AT_FIRST)).map(row => element('tr', {}, columns.map((column, i) => {
      const shown = column.show ? column.show(row) : String(column.value(row));
      return element(i === 0 ? 'th' : 'td', {scope: i === 0 ? 'row' : null, class: column.number ? 'number' : null}, shown);
    }))));
    more.textContent = all ? 'Show the first ' + ROWS_AT_FIRST : 'Show all ' + countText(rows.length);
  }
  fill();
  const table = element('table', {}, element('caption', {}, element('span', {}, caption)), element('thead', {}, element('tr', {}, heads)), body);
  const scroll = element('div', {class: 'scroll', tabindex: '0', role: 'region', 'aria-label': caption}, table);
  return element('div', {}, scroll, rows.length > ROWS_AT_FIRST ? more : null);
}
function shareOfTime(ns) { return RUN.thread_time_ns > 0 ? ns / RUN.thread_time_ns : 0; }

/** A construct's name; chooses it in the timeline. */
function constructLink(construct) {
  const link = element('a', {href: '#timeline'}, construct.kind === 'explicit' ? construct.name : constructLabel(construct));
  link.addEventListener('click', () => PAGE.show(construct.id));
  const place = construct.file && construct.line ? construct.file + ':' + construct.line : '';
  if (place) link.title = place + (construct.function ? ' in ' + construct.function : '');
  return link;
}

function fillConstructs() {
  const rows = REPORT.constructs, total = RUN.thread_time_ns;
  const tasks = rows.filter(c => c.kind !== 'initial' && c.kind !== 'implicit');
  const top = rows[0];
  byId('constructs-sentence').textContent = rows.length === 0 ? 'No construct ran.' :
    counted(tasks.length, 'task construct') + ', ' + counted(rows.length - tasks.length, 'other') + '. Most work is in ' + constructLabel(top) + ': ' +
    shareText(shareOfTime(top.work_ns)) + ' of thread time.';
  if (rows.length === 0) return;
  const mean = (ns, count) => count > 0 ? ns / count : 0;
  byId('constructs-table').append(makeTable('Constructs, by the work of their tasks. A name chooses it in the timeline.', [
    {label: 'Construct', value: c => constructLabel(c), show: constructLink},
    {label: 'Kind', value: c => c.kind},
    {label: 'Tasks', number: true, value: c => c.tasks, show: c => countText(c.tasks)},
    {label: 'Work', number: true, value: c => c.work_ns, show: c => timeText(c.work_ns)},
    {label: 'Share', number: true, value: c => c.work_ns, show: c => shareText(c.work_ns / (total || 1)), hint: 'of thread time'},
    {label: 'A task', number: true, value: c => mean(c.work_ns, c.tasks), show: c => timeText(mean(c.work_ns, c.tasks)), hint: 'work, on the average'},
    {label: 'Longest', number: true, value: c => c.most_ns, show: c => timeText(c.most_ns)},
    {label: 'To create', number: true, value: c => mean(c.creation_ns, c.tasks), show: c => c.creation_ns ? timeText(mean(c.creation_ns, c.tasks)) : '–', hint: 'the runtime’s part of making a task, on the average'},
    {label: 'Delay', number: true, value: c => mean(c.delay_ns, c.delays), show: c => c.delays ? timeText(mean(c.delay_ns, c.delays)) : '–', hint: 'from ready to begin, on the average'},
    {label: 'Imbalance', number: true, value: c => c.imbalance, show: c => c.kind === 'initial' ? '–' : threeDigits(c.imbalance), hint: 'time of its busiest thread / mean of all threads'},
    {label: 'Declares', number: true, value: c => c.declared_bytes, show: c => c.declared_bytes ? bytesText(mean(c.declared_bytes, c.tasks)) : '–', hint: 'bytes of a task’s footprint, on the average'},
  ], rows, 3));
}

function fillWaiting() {
  const rows = REPORT.waits;
  byId('waiting-sentence').textContent = rows.length === 0 ? 'No task has waited.' :
    'Threads ran nothing for ' + timeText(RUN.waiting_ns) + ', ' + shareText(shareOfTime(RUN.waiting_ns)) + ' of thread time, while a task of theirs waited.' + idleReadyText();
  if (rows.length > 0) {
    byId('waiting-table').append(makeTable('Where tasks wait. Idle: the thread had no other task to run.', [
      {label: 'Waiting', value: w => w.words},
      {label: 'Idle', number: true, value: w => w.idle_ns, show: w => timeText(w.idle_ns)},
      {label: 'Share', number: true, value: w => w.idle_ns, show: w => shareText(shareOfTime(w.idle_ns)), hint: 'of thread time'},
      {label: 'Waits', number: true, value: w => w.waits, show: w => countText(w.waits)},
      {label: 'Longest', number: true, value: w => w.longest_ns, show: w => timeText(w.longest_ns), hint: 'idle time of one'},
    ], rows, 1));
  }
  if (REPORT.loops.length > 0) {
    byId('waiting-table').append(makeTable('Worksharing: loops, sections and singles, by the time that threads were in them.', [
      {label: 'Construct', value: l => l.name || 'not known'},
      {label: 'Kind', value: l => l.kind},
      {label: 'Time', number: true, value: l => l.ns, show: l => timeText(l.ns)},
      {label: 'Iterations', number: true, value: l => l.iterations, show: l => countText(l.iterations), hint: 'as the threads report them, each time they take part'},
      {label: 'Imbalance', number: true, value: l => l.imbalance, show: l => l.kind.startsWith('single') ? '–' : threeDigits(l.imbalance), hint: 'most of a thread / mean'},
    ], REPORT.loops, 2));
  }
}

/** Threads that idled beside ready tasks, and why these were not taken. */
function idleReadyText() {
  const all = REPORT.idle_ready, most = all.constructs.reduce((a, b) => b.ns > a.ns ? b : a, {ns: 0});
  if (shareOfTime(all.ns) < 0.001) return REPORT.waits.length > 0 && RUN.explicit_tasks > 0 ? ' Meanwhile hardly any task was ready that they could have taken.' : '';
  const why = most.dealt_ns > most.ns / 2 ? 'most of them dealt to the location of their data, whose threads were busy' : 'until an idle thread had found them';
  return ' For ' + timeText(all.ns) + ', ' + shareText(shareOfTime(all.ns)) + ' of thread time, idle threads could have run tasks that were ready: above all those of ' +
    constructLabel(CONSTRUCTS.get(most.id)) + ' (' + shareText(most.ns / all.ns) + '), which were passed over for ' + timeText(most.passed_over_ns / most.tasks) + ' on the average, ' + why + '.';
}

function fillThreads() {
  const rows = REPORT.threads, time = r => RUN.length_ns || 1;
  if (rows.length === 0) { byId('threads-sentence').textContent = 'No thread ran anything.'; return; }
  const most = rows.reduce((a, b) => b.work_ns > a.work_ns ? b : a), least = rows.reduce((a, b) => b.work_ns < a.work_ns ? b : a);
  byId('threads-sentence').textContent = counted(rows.length, 'thread') + '. The busiest, ' + threadLabel(most) + ', worked for ' + timeText(most.work_ns) +
    '; the least busy, ' + threadLabel(least) + ', for ' + timeText(least.work_ns) + '.';
  const part = (label, key, hint) => ({label, number: true, value: t => t[key], show: t => shareText(t[key] / time(t)), hint});
  byId('threads-table').append(
    element('div', {class: 'legend', role: 'list', 'aria-label': 'Colours of the bars'}, [['work', 'work'], ['creating', 'creating tasks'], ['waiting', 'waiting'], ['outside', 'outside of regions']]
      .map(([name, text]) => element('span', {role: 'listitem'}, element('span', {class: 'swatch ' + name}), text))),
    makeTable('Threads, each over the length of the run.', [
      {label: 'Thread', value: t => t.process * 1e6 + t.number, show: threadLabel},
      {label: 'Node', number: true, value: t => t.node, show: t => t.node < 0 ? '–' : String(t.node), hint: 'where it ran longest'},
      {label: 'Tasks', number: true, value: t => t.tasks, show: t => countText(t.tasks)},
      {label: 'Time', value: t => t.work_ns, show: t => bar([['work', t.work_ns / time(t)], ['creating', t.creating_ns / time(t)], ['waiting', t.waiting_ns / time(t)], ['outside', t.outside_ns / time(t)]])},
      part('Work', 'work_ns'), part('Creating', 'creating_ns'), part('Waiting', 'waiting_ns'), part('Outside', 'outside_ns', 'of parallel regions'),
    ], rows));
}

function fillLocality() {
  const l = REPORT.locality, known = l.bytes - l.unknown_bytes;
  if (!l.known) {
    byId('locality-sentence').textContent = 'It cannot be told how far tasks were from their data: ' + l.why_unknown + '.';
    return;
  }
  byId('locality-sentence').textContent = shareText(l.remote_bytes / (known || 1)) + ' of ' + bytesText(known) + ' that tasks declare to touch lay at another location than the task ran.' +
    (l.unknown_bytes > 0 ? ' Of ' + bytesText(l.unknown_bytes) + ' more it is not known where they lay.' : '');
  const names = [...Array(l.locations).keys()], most = Math.max(1, ...l.matrix);
  const cell = (run, data) => {
    const at = run * l.locations + data, part = l.matrix[at] / most;
    const td = element('td', {}, l.matrix[at] > 0 ? bytesText(l.matrix[at]) : '–', l.distance[at] > 0 ? element('span', {class: 'distance'}, 'distance ' + l.distance[at]) : null);
    td.style.background = 'color-mix(in srgb, var(' + (run === data ? '--work' : '--remote') + ') ' + Math.round(40 * part) + '%, var(--ground))';
    return td;
  };
  const rowSum = run => names.reduce((sum, data) => sum + l.matrix[run * l.locations + data], 0);
  const remote = run => rowSum(run) > 0 ? 1 - l.matrix[run * l.locations + run] / rowSum(run) : 0;
  byId('locality-table').append(element('div', {class: 'scroll', tabindex: '0', role: 'region', 'aria-label': 'Locality matrix'}, element('table', {class: 'matrix'},
    element('caption', {}, element('span', {}, 'Bytes that tasks declare: where the task ran (rows), where the data lay (columns). On the diagonal both are the same. Distance 10 is local.')),
    element('thead', {}, element('tr', {}, element('td', {}, ''), names.map(n => element('th', {scope: 'col', class: 'number'}, 'data at ' + n)), element('th', {scope: 'col', class: 'number'}, 'remote'))),
    element('tbody', {}, names.map(run => element('tr', {}, element('th', {scope: 'row'}, 'ran at ' + run), names.map(data => cell(run, data)), element('td', {}, shareText(remote(run)))))))));
  const rows = l.constructs.filter(c => c.bytes > 0 && CONSTRUCTS.has(c.id));
  byId('locality-table').append(makeTable('The same by construct.', [
    {label: 'Construct', value: c => constructLabel(CONSTRUCTS.get(c.id)), show: c => constructLink(CONSTRUCTS.get(c.id))},
    {label: 'Bytes', number: true, value: c => c.bytes, show: c => bytesText(c.bytes)},
    {label: 'Remote', number: true, value: c => c.remote_bytes, show: c => bytesText(c.remote_bytes)},
    {label: 'Share', number: true, value: c => remoteOf(c), show: c => shareText(remoteOf(c)), hint: 'of the bytes whose place is known'},
    {label: 'Mean distance', number: true, value: c => c.weighted / (c.bytes - c.unknown_bytes || 1), show: c => c.weighted > 0 ? threeDigits(c.weighted / (c.bytes - c.unknown_bytes)) : '–', hint: '10 is local'},
    {label: 'A near task', number: true, value: c => c.near_tasks ? c.near_work_ns / c.near_tasks : 0, show: c => meanOf(c.near_work_ns, c.near_tasks), hint: 'mean work of tasks of whose bytes at least 90 % were local, and how many they are'},
    {label: 'A far task', number: true, value: c => c.far_tasks ? c.far_work_ns / c.far_tasks : 0, show: c => meanOf(c.far_work_ns, c.far_tasks), hint: 'the same of tasks of whose bytes at least 90 % were remote; they may have had other work to do'},
  ], rows, 2));
}
/** A mean that is said only of enough tasks. */
function meanOf(sum, tasks) { return tasks >= 20 ? timeText(sum / tasks) + ' (' + countText(tasks) + ')' : '–'; }
function remoteOf(c) { return c.bytes > c.unknown_bytes ? c.remote_bytes / (c.bytes - c.unknown_bytes) : 0; }

function fillDecisions() {
  const l = REPORT.locality, rows = l.constructs.filter(c => c.decided > 0 && CONSTRUCTS.has(c.id));
  const sum = key => rows.reduce((all, c) => all + c[key], 0);
  byId('decisions-sentence').textContent = rows.length === 0 ? 'No decision of a policy was recorded.' :
    'The policy ' + (l.policy || '') + ' was asked about ' + countText(sum('decided')) + ' of ' + counted(RUN.explicit_tasks, 'task') + ': ' + countText(sum('dealt')) + ' were dealt to another location, ' +
    countText(sum('stayed')) + ' stayed; ' + countText(sum('elsewhere')) + ' ran elsewhere than was decided, since an idle thread took them.';
  if (rows.length === 0) return;
  byId('decisions-table').append(makeTable('Decisions, by construct.', [
    {label: 'Construct', value: c => constructLabel(CONSTRUCTS.get(c.id)), show: c => constructLink(CONSTRUCTS.get(c.id))},
    {label: 'Decided', number: true, value: c => c.decided, show: c => countText(c.decided)},
    {label: 'Dealt', number: true, value: c => c.dealt, show: c => countText(c.dealt), hint: 'to another location than that of the thread that asked'},
    {label: 'Stayed', number: true, value: c => c.stayed, show: c => countText(c.stayed)},
    {label: 'Ran elsewhere', number: true, value: c => c.elsewhere, show: c => countText(c.elsewhere), hint: 'at another location than was decided'},
  ], rows, 1), makeTable('Why.', [
    {label: 'Reason', value: w => w.text}, {label: 'Decisions', number: true, value: w => w.decisions, show: w => countText(w.decisions)},
  ], l.whys.filter(w => w.decisions > 0), 1));
}

function fillAllocations() {
  const rows = REPORT.allocations.filter(a => !a.own), own = REPORT.allocations.length - rows.length;
  byId('allocations-sentence').textContent = RUN.schema < 2 ? 'This recording has no allocations: its schema is too old.' :
    rows.length === 0 ? 'No allocation of 4 KiB or more was recorded.' :
    counted(rows.length, 'allocation') + ' of 4 KiB or more, ' + bytesText(rows.reduce((sum, a) => sum + a.bytes, 0)) + ' together.' +
    (own > 0 ? ' ' + counted(own, 'more is', 'more are') + ' the runtime’s own and not shown.' : '');
  if (rows.length === 0) return;
  byId('allocations-table').append(makeTable('Allocations, largest first.', [
    {label: 'Allocated at', value: a => a.name || 'not known'},
    {label: 'Size', number: true, value: a => a.bytes, show: a => bytesText(a.bytes)},
    {label: 'By thread', number: true, value: a => a.thread, show: a => a.thread < 0 ? '–' : String(a.thread), hint: 'number of the thread in the recording; none: no OpenMP thread'},
    {label: 'When', number: true, value: a => a.allocated_ns, show: a => a.allocated_ns < RUN.begin_ns ? 'before the run' : timeText(a.allocated_ns - RUN.begin_ns)},
    {label: 'Distribution', value: a => a.distribution || 'the system’s'},
    {label: 'Touched first', number: true, value: a => a.first_part, show: a => a.first_toucher < 0 ? '–' : 'thread ' + a.first_toucher + ': ' + shareText(a.first_part), hint: 'the thread that touched most of it first, by samples of page faults, and its part'},
    {label: 'Lies at', number: true, value: a => a.lies.part, show: a => placeText(a.lies), hint: 'the location that has most of it, as it was freed or the program ended, and that part; asked from 128 KiB on'},
    {label: 'Used at', number: true, value: a => a.used.part, show: a => placeText(a.used), hint: 'the location whose tasks read and write most of it'},
    {label: 'Readers', number: true, value: a => a.readers, show: a => countText(a.readers), hint: 'tasks that declare to read it'},
    {label: 'Writers', number: true, value: a => a.writers, show: a => countText(a.writers), hint: 'tasks that declare to write it'},
    {label: 'Remote', number: true, value: a => a.remote_share, show: a => a.remote_share < 0 ? '–' : shareText(a.remote_share), hint: 'of the bytes that tasks declare in it; an estimate, as if all parts were used alike'},
    {label: 'Advised', value: a => a.advised || '–', hint: 'a distribution, by the rules or the simulator'},
  ], rows, 1));
}
/** "2: 75 %", of {location, part}. */
function placeText(most) { return most.location < 0 ? '–' : most.location + ': ' + shareText(most.part); }

function fillMoves() {
  const rows = REPORT.moves, why = {call: 'a call of the program', hint: 'a plan that follows hints', balance: 'a plan of Hearth’s own', touch: 'next touch, announced', trap: 'next touch, closed pages'};
  byId('moves-sentence').textContent = RUN.schema < 3 ? 'This recording has no moves: its schema is too old.' : rows.length === 0 ? 'No threads and no pages were moved to each other.' :
    counted(rows.filter(m => m.what === 'pages').reduce((s, m) => s + m.count, 0), 'page') + ' and ' + counted(rows.filter(m => m.what === 'threads').reduce((s, m) => s + m.count, 0), 'thread') + ' were moved.';
  if (rows.length === 0) return;
  byId('moves-table').append(makeTable('Moves of threads and pages, by time.', [
    {label: 'When', number: true, value: m => m.ns, show: m => timeText(m.ns - RUN.begin_ns)},
    {label: 'What', value: m => m.what},
    {label: 'How many', number: true, value: m => m.count, show: m => countText(m.count)},
    {label: 'Why', value: m => why[m.why] || m.why},
    {label: 'To', number: true, value: m => m.location, show: m => m.location < 0 ? 'several' : String(m.location)},
  ], rows));
}

function fillComparison() {
  const c = REPORT.comparison;
  if (!c) return;
  byId('comparison').hidden = false;
  byId('comparison-sentence').textContent = c.verdict + ' First: ' + c.first + ' (this page). Second: ' + c.second + ', ' + c.second_facts + '.';
  const ratio = (a, b) => a > 0 ? b / a : 0, ratioText = r => r > 0 ? threeDigits(r) : '–';
  byId('comparison-table').append(
    element('div', {class: 'scroll', tabindex: '0', role: 'region', 'aria-label': 'Both runs as a whole'}, element('table', {},
      element('caption', {}, element('span', {}, 'Both runs as a whole.')),
      element('thead', {}, element('tr', {}, ['', 'First', 'Second'].map((t, i) => i === 0 ? element('td', {}) : element('th', {scope: 'col', class: 'number'}, t)))),
      element('tbody', {}, c.runs.map(line => element('tr', {}, element('th', {scope: 'row'}, line.what), element('td', {class: 'number'}, line.first), element('td', {class: 'number'}, line.second)))))),
    makeTable('Constructs, by how much their work differs.', [
      {label: 'Construct', value: r => constructLabel(r)},
      {label: 'First', number: true, value: r => r.first_work_ns, show: r => timeText(r.first_work_ns), hint: 'work'},
      {label: 'Second', number: true, value: r => r.second_work_ns, show: r => timeText(r.second_work_ns), hint: 'work'},
      {label: 'Difference', number: true, value: r => Math.abs(r.second_work_ns - r.first_work_ns), show: r => (r.second_work_ns < r.first_work_ns ? '−' : '+') + timeText(Math.abs(r.second_work_ns - r.first_work_ns))},
      {label: 'Tasks', number: true, value: r => r.second_tasks, show: r => countText(r.first_tasks) + ' / ' + countText(r.second_tasks)},
      {label: 'In both', number: true, value: r => r.same_tasks, show: r => countText(r.same_tasks), hint: 'tasks that both runs have'},
      {label: 'Those took', number: true, value: r => ratio(r.first_same_work_ns, r.second_same_work_ns), show: r => ratioText(ratio(r.first_same_work_ns, r.second_same_work_ns)), hint: 'work in the second run / in the first'},
    ], c.constructs, 3));
}
