'use strict';
// What the command has put into the page: figures as JSON, and the timeline's packed columns (src/report/timeline.h).

const REPORT = JSON.parse(byId('report-data').textContent);
const RUN = REPORT.run, LENGTH = Math.max(RUN.length_ns, 1);
const CONSTRUCTS = new Map(REPORT.constructs.map(c => [c.id, c]));  // by the number that tasks have
const WAITS = new Map(REPORT.waits.map(w => [w.id, w]));

async function unpacked(id) {
  const text = byId(id).textContent;
  let bytes;
  if (Uint8Array.fromBase64) bytes = Uint8Array.fromBase64(text);
  else {
    const letters = atob(text);
    bytes = new Uint8Array(letters.length);
    for (let i = 0; i < letters.length; ++i) bytes[i] = letters.charCodeAt(i);
  }
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream('deflate'));
  return new Uint8Array(await new Response(stream).arrayBuffer());
}

/** Reads numbers of seven bits a byte, lowest first. */
class Reader {
  constructor(bytes) { this.bytes = bytes; this.at = 0; }
  next() {
    let byte = this.bytes[this.at++];
    if (byte < 128) return byte;
    let value = byte & 127, factor = 128;
    do {
      byte = this.bytes[this.at++];
      value += (byte & 127) * factor;
      factor *= 128;
    } while (byte >= 128);
    return value;
  }
  /** The columns that stand here one behind the other, each behind its length. */
  columns(count) {
    const all = [];
    for (let i = 0; i < count; ++i) {
      const length = this.next();
      all.push(this.bytes.subarray(this.at, this.at + length));
      this.at += length;
    }
    return all;
  }
}
function signed(number) { return number % 2 ? -(number + 1) / 2 : number / 2; }
function numbersIn(column) {
  let count = 0;
  for (let i = 0; i < column.length; ++i) count += column[i] < 128 ? 1 : 0;
  return count;
}

/** A thread's pieces: begin, end (ns since the run's begin), task, wait (the place, or -1). */
async function loadThread(index) {
  const [gaps, lengths, tasks, waits] = new Reader(await unpacked('thread-' + index)).columns(4);
  const count = numbersIn(gaps), step = REPORT.timeline.step;
  const pieces = {count, begin: new Float64Array(count), end: new Float64Array(count), task: new Int32Array(count),
                  wait: new Int16Array(count)};
  const gap = new Reader(gaps), length = new Reader(lengths), difference = new Reader(tasks), place = new Reader(waits);
  let at = 0, task = 0;
  for (let i = 0; i < count; ++i) {
    at += gap.next();
    pieces.begin[i] = at * step;
    at += length.next();
    pieces.end[i] = at * step;
    const both = difference.next(), waiting = both % 2;
    task += signed((both - waiting) / 2);
    pieces.task[i] = task;
    pieces.wait[i] = waiting ? place.next() : -1;
  }
  return pieces;
}

/** What tasks are, by id. */
async function loadTasks() {
  const [constructs, parents, delays, declared, distances, remotes, locations, chosen, whys, misses] =
    new Reader(await unpacked('tasks')).columns(10);
  const count = numbersIn(constructs);
  const tasks = {count, construct: new Int32Array(count), parent: new Int32Array(count), delay: null, declared: null};
  const construct = new Reader(constructs), parent = new Reader(parents);
  for (let i = 0; i < count; ++i) {
    tasks.construct[i] = construct.next();
    const up = signed(parent.next());
    tasks.parent[i] = up === 0 ? -1 : i - up;
  }
  if (REPORT.timeline.tells_delays) {
    const delay = new Reader(delays), bytes = new Reader(declared), step = REPORT.timeline.step;
    tasks.delay = new Float64Array(count);
    tasks.declared = new Float64Array(count);
    for (let i = 0; i < count; ++i) {
      tasks.delay[i] = (delay.next() - 1) * step;  // below 0: not known
      tasks.declared[i] = bytes.next();
    }
  }
  // Columns of tasks about which nothing is known are empty.
  const column = (bytes, change) => {
    if (bytes.length === 0) return null;
    const reader = new Reader(bytes), all = new Float32Array(count);
    for (let i = 0; i < count; ++i) all[i] = change(reader.next());
    return all;
  };
  tasks.distance = column(distances, v => v / 10);          // 0: not known
  tasks.remote = column(remotes, v => (v - 1) / 200);       // below 0: not known
  tasks.location = column(locations, v => v - 1);           // below 0: not known
  tasks.chosen = column(chosen, v => v - 2);                // -1: it stays; -2: no decision
  tasks.why = column(whys, v => v);
  tasks.misses = column(misses, v => v - 1);                // per 10^6 cycles; below 0: not known
  return tasks;
}

/** For the first picture: [thread][part] → construct (or -1), and how full. */
async function loadOverview() {
  const [column] = new Reader(await unpacked('overview')).columns(1);
  const reader = new Reader(column), parts = REPORT.timeline.overview, threads = REPORT.threads.length;
  const overview = {construct: new Int32Array(parts * threads), full: new Uint8Array(parts * threads), parts};
  for (let i = 0; i < parts * threads; ++i) {
    overview.construct[i] = reader.next() - 1;
    overview.full[i] = reader.next();
  }
  return overview;
}
