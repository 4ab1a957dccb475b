'use strict';
// The timeline: a row for each thread, on a canvas. Whole runs are drawn from sums over equal parts of the time, halved
// upwards (Levels); where a part would be wider than a pixel, from the pieces themselves.

const AXIS = 26, LABELS = 74, LEAST_VIEW = 20;  // px, px, ns

/** Of one thread and one mode: average colour and fullness of each of 2^n parts, and the same of 2^(n-1) … */
class Levels {
  constructor(pieces, mode, dim, parts) {
    const sums = new Float32Array(parts * 4), waits = new Float32Array(parts), width = LENGTH / parts;
    for (let i = 0; i < pieces.count; ++i) {
      const waiting = pieces.wait[i] >= 0, index = waiting ? -1 : mode.index(pieces, i);
      if (!waiting && index < 0) continue;
      const colour = waiting ? null : mode.palette[index];
      const strength = waiting || !dim || dim(pieces, i) ? 1 : 0.12;
      const from = pieces.begin[i] / width, to = Math.min(pieces.end[i] / width, parts);
      for (let part = Math.floor(from); part < to; ++part) {
        const cover = Math.min(to, part + 1) - Math.max(from, part);
        if (waiting) { waits[part] += cover; continue; }
        const at = part * 4, weight = cover * strength;
        sums[at] += colour[0] * weight; sums[at + 1] += colour[1] * weight; sums[at + 2] += colour[2] * weight;
        sums[at + 3] += weight;
      }
    }
    this.levels = [];
    for (let count = parts, s = sums, w = waits; ; ) {
      this.levels.push(Levels.pixels(s, w, count, parts / count));
      if (count <= 256) break;
      count /= 2;
      const s2 = new Float32Array(count * 4), w2 = new Float32Array(count);
      for (let i = 0; i < count; ++i) {
        for (let c = 0; c < 4; ++c) s2[i * 4 + c] = s[i * 8 + c] + s[i * 8 + 4 + c];
        w2[i] = w[i * 2] + w[i * 2 + 1];
      }
      s = s2; w = w2;
    }
  }
  static pixels(sums, waits, count, width) {
    const work = new Uint32Array(count), wait = new Uint8Array(count);
    for (let i = 0; i < count; ++i) {
      const full = sums[i * 4 + 3];
      if (full > 0)
        work[i] = rgba(sums[i * 4] / full, sums[i * 4 + 1] / full, sums[i * 4 + 2] / full, Math.min(1, full / width));
      wait[i] = Math.min(255, waits[i] / width * 255);
    }
    return {work, wait, count};
  }
}
/** A pixel; what is there at all stays visible. */
function rgba(r, g, b, alpha) {
  return ((Math.round(255 * (alpha > 0 ? 0.15 + 0.85 * alpha : 0)) << 24) | (b << 16) | (g << 8) | r) >>> 0;
}
/** The first piece that ends behind a time. */
function firstPiece(pieces, time) {
  let low = 0, high = pieces.count;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (pieces.end[middle] <= time) low = middle + 1; else high = middle;
  }
  return low;
}

class Timeline {
  constructor(canvas) {
    this.canvas = canvas;
    this.context = canvas.getContext('2d');
    this.image = document.createElement('canvas');
    this.view = {from: 0, to: LENGTH};
    this.threads = [];     // pieces, when they are there
    this.levels = [];
    this.row = 0;
    this.chosen = null;    // {thread, piece}
    this.onChange = () => {};
    this.asked = false;
  }

  // ---- what it shows

  setOverview(overview) { this.overview = overview; this.resize(); }
  setPieces(threads, tasks) {
    this.threads = threads;
    this.tasks = tasks;
    const most = Math.pow(2, Math.floor(Math.log2((1 << 20) / Math.max(threads.length, 1))));  // 2^20 parts together
    this.parts = Math.max(1024, Math.min(65536, most));
  }
  setMode(mode, only) {
    this.mode = mode;
    this.only = only;
    const dim = only === null || only === undefined ? null : (p, i) => this.tasks.construct[p.task[i]] === only;
    this.levels = this.threads.map(pieces => new Levels(pieces, mode, dim, this.parts));
    this.draw();
  }
  show(from, to) {
    const length = Math.max(LEAST_VIEW, Math.min(to - from, LENGTH));
    const begin = Math.max(0, Math.min(from, LENGTH - length));
    this.view = {from: begin, to: begin + length};
    this.ask();
  }
  zoom(factor, around) {
    const {from, to} = this.view, at = around === undefined ? (from + to) / 2 : around;
    this.show(at - (at - from) / factor, at + (to - at) / factor);
  }
  pan(part) { const d = (this.view.to - this.view.from) * part; this.show(this.view.from + d, this.view.to + d); }

  // ---- drawing

  ask() {
    if (this.asked) return;
    this.asked = true;
    requestAnimationFrame(() => { this.asked = false; this.draw(); });
  }
  resize() {
    const rows = Math.max(REPORT.threads.length, 1);
    this.rowHeight = Math.max(7, Math.min(26, Math.floor(440 / rows)));
    this.width = Math.max(200, this.canvas.parentElement.clientWidth);
    this.height = AXIS + rows * this.rowHeight + 4;
    this.scale = this.printing ? 2 : Math.min(2, window.devicePixelRatio || 1);
    this.canvas.style.height = this.height + 'px';
    this.canvas.width = Math.round(this.width * this.scale);
    this.canvas.height = Math.round(this.height * this.scale);
    this.draw();
  }
  get plot() { return this.width - LABELS; }
  x(time) { return LABELS + (time - this.view.from) / (this.view.to - this.view.from) * this.plot; }
  time(x) { return this.view.from + (x - LABELS) / this.plot * (this.view.to - this.view.from); }
  y(row) { return AXIS + row * this.rowHeight; }

  draw() {
    const begin = performance.now(), c = this.context;
    c.setTransform(this.scale, 0, 0, this.scale, 0, 0);
    c.fillStyle = variable('--ground');
    c.fillRect(0, 0, this.width, this.height);
    this.drawRows(c);
    if (this.levels.length > 0) this.drawPieces(c);
    else if (this.overview) this.drawOverview(c);
    this.drawAxis(c);
    this.drawChoice(c);
    this.lastDraw = performance.now() - begin;
    this.onChange();
  }
  drawRows(c) {
    const idle = variable('--idle'), soft = variable('--soft');
    c.font = '11px system-ui, "Liberation Sans", sans-serif';
    c.textBaseline = 'middle';
    REPORT.threads.forEach((thread, row) => {
      const y = this.y(row);
      c.fillStyle = idle;
      c.fillRect(LABELS, y + 1, this.plot, this.rowHeight - 2);
      if (this.rowHeight < 11 && row % Math.ceil(11 / this.rowHeight) !== 0) return;
      c.fillStyle = soft;
      c.fillText(threadLabel(thread), 4, y + this.rowHeight / 2, LABELS - 8);
    });
  }
  drawAxis(c) {
    const {from, to} = this.view, step = niceStep(to - from, this.plot / 110);
    c.fillStyle = variable('--soft');
    c.strokeStyle = variable('--line');
    c.lineWidth = 1;
    c.textBaseline = 'alphabetic';
    for (let t = Math.ceil(from / step) * step; t <= to; t += step) {
      const x = Math.round(this.x(t)) + 0.5;
      c.beginPath(); c.moveTo(x, AXIS - 6); c.lineTo(x, this.height); c.globalAlpha = 0.35; c.stroke(); c.globalAlpha = 1;
      if (x < this.width - 50) c.fillText(axisText(t, step), x + 3, AXIS - 10);
    }
  }
  drawOverview(c) {
    const {construct, full, parts} = this.overview, mode = constructMode({construct: []});
    REPORT.threads.forEach((_, row) => {
      for (let i = 0; i < parts; ++i) {
        const at = row * parts + i;
        if (construct[at] < 0) continue;
        const x = Math.round(this.x(i / parts * LENGTH)), next = Math.round(this.x((i + 1) / parts * LENGTH));
        c.globalAlpha = 0.15 + 0.85 * full[at] / 255;
        c.fillStyle = css(mode.palette[mode.ofConstruct(construct[at])]);
        c.fillRect(x, this.y(row) + 1, next - x, this.rowHeight - 2);
      }
    });
    c.globalAlpha = 1;
  }
  drawPieces(c) {
    const width = Math.max(1, Math.round(this.plot * this.scale)), rows = this.threads.length;
    if (this.image.width !== width || this.image.height !== rows * 2) {
      this.image.width = width;
      this.image.height = Math.max(1, rows * 2);
      this.data = null;
    }
    const to = this.image.getContext('2d');
    if (!this.data) this.data = to.createImageData(width, Math.max(1, rows * 2));
    const pixels = new Uint32Array(this.data.data.buffer);
    pixels.fill(0);
    const grey = variable('--waiting');
    const waitColour = [1, 3, 5].map(i => parseInt(grey.slice(i, i + 2), 16));
    for (let row = 0; row < rows; ++row) this.fillRow(row, pixels, width, waitColour);
    to.putImageData(this.data, 0, 0);
    c.imageSmoothingEnabled = false;
    for (let row = 0; row < rows; ++row) {
      const y = this.y(row), h = this.rowHeight;
      c.drawImage(this.image, 0, row * 2, width, 1, LABELS, y + 1, this.plot, h - 2);
      c.drawImage(this.image, 0, row * 2 + 1, width, 1, LABELS, y + h * 0.4, this.plot, Math.max(1.5, h * 0.2));
    }
    if (this.rowHeight >= 14) for (let row = 0; row < rows; ++row) this.labelPieces(c, row);
  }
  fillRow(row, pixels, width, waitColour) {
    const {from, to} = this.view, perPixel = (to - from) / width, base = row * 2 * width;
    const levels = this.levels[row].levels;
    if (perPixel >= LENGTH / levels[0].count) {
      let level = levels[0];
      for (const l of levels) if (LENGTH / l.count <= perPixel) level = l;
      const factor = level.count / LENGTH;
      for (let x = 0; x < width; ++x) {
        const part = Math.min(level.count - 1, Math.floor((from + (x + 0.5) * perPixel) * factor));
        pixels[base + x] = level.work[part];
        const wait = level.wait[part];
        if (wait > 0) pixels[base + width + x] = ((wait << 24) | (waitColour[2] << 16) | (waitColour[1] << 8) | waitColour[0]) >>> 0;
      }
      return;
    }
    this.fillFromPieces(row, pixels, width, waitColour);
  }
  fillFromPieces(row, pixels, width, waitColour) {
    const {from, to} = this.view, perPixel = (to - from) / width, base = row * 2 * width, pieces = this.threads[row];
    if (!this.sums || this.sums.length !== width * 5) this.sums = new Float32Array(width * 5);
    const sums = this.sums.fill(0);
    for (let i = firstPiece(pieces, from); i < pieces.count && pieces.begin[i] < to; ++i) {
      const waiting = pieces.wait[i] >= 0, index = waiting ? -1 : this.mode.index(pieces, i);
      if (!waiting && index < 0) continue;
      const strength = this.isDim(pieces, i) ? 0.12 : 1, colour = waiting ? null : this.mode.palette[index];
      const begin = Math.max(0, (pieces.begin[i] - from) / perPixel), end = Math.min(width, (pieces.end[i] - from) / perPixel);
      for (let x = Math.floor(begin); x < end; ++x) {
        const cover = Math.min(end, x + 1) - Math.max(begin, x), at = x * 5;
        if (waiting) { sums[at + 4] += cover; continue; }
        const weight = cover * strength;
        sums[at] += colour[0] * weight; sums[at + 1] += colour[1] * weight; sums[at + 2] += colour[2] * weight;
        sums[at + 3] += weight;
      }
    }
    for (let x = 0; x < width; ++x) {
      const at = x * 5, full = sums[at + 3];
      if (full > 0) pixels[base + x] = rgba(sums[at] / full, sums[at + 1] / full, sums[at + 2] / full, Math.min(1, full));
      const wait = Math.min(255, sums[at + 4] * 255);
      if (wait > 0) pixels[base + width + x] = ((wait << 24) | (waitColour[2] << 16) | (waitColour[1] << 8) | waitColour[0]) >>> 0;
    }
  }
  isDim(pieces, i) {
    return this.only !== null && this.only !== undefined && this.tasks.construct[pieces.task[i]] !== this.only;
  }
  labelPieces(c, row) {
    const pieces = this.threads[row], {from, to} = this.view, first = firstPiece(pieces, from);
    const most = 300, least = 60;
    if (first + most < pieces.count && pieces.begin[first + most] < to) return;
    c.textBaseline = 'middle';
    for (let i = first; i < pieces.count && pieces.begin[i] < to; ++i) {
      const x = Math.max(this.x(pieces.begin[i]), LABELS), end = Math.min(this.x(pieces.end[i]), this.width);
      if (end - x > 2 && pieces.wait[i] < 0) {  // where one ends and the next begins
        c.fillStyle = variable('--ground');
        c.fillRect(end - 0.5, this.y(row) + 1, 1, this.rowHeight - 2);
      }
      if (end - x < least || pieces.wait[i] >= 0 || this.isDim(pieces, i)) continue;
      const label = pieceLabel(this.tasks, pieces.task[i]);
      if (c.measureText(label).width > end - x - 7) continue;  // half a number would be another task's
      const index = this.mode.index(pieces, i), colour = index < 0 ? [255, 255, 255] : this.mode.palette[index];
      c.fillStyle = colour[0] * 0.3 + colour[1] * 0.59 + colour[2] * 0.11 > 140 ? '#111' : '#fff';
      c.save();
      c.beginPath(); c.rect(x, this.y(row), end - x - 3, this.rowHeight); c.clip();
      c.fillText(label, x + 4, this.y(row) + this.rowHeight / 2 + 0.5);
      c.restore();
    }
  }
  drawChoice(c) {
    c.strokeStyle = variable('--choice');
    if (document.activeElement === this.canvas && REPORT.threads.length > 0) {
      c.lineWidth = 1;
      c.strokeRect(1.5, this.y(this.row) + 0.5, LABELS - 5, this.rowHeight - 1);
    }
    if (!this.chosen || !this.threads[this.chosen.thread]) return;
    const pieces = this.threads[this.chosen.thread], task = pieces.task[this.chosen.piece];
    c.lineWidth = 2;
    this.threads.forEach((other, row) => {  // all of its pieces that are in view, up to a limit
      let drawn = 0;
      for (let i = firstPiece(other, this.view.from); i < other.count && other.begin[i] < this.view.to && drawn < 5000; ++i, ++drawn) {
        if (other.task[i] !== task || other.wait[i] >= 0) continue;
        const x = Math.max(this.x(other.begin[i]), LABELS), end = Math.min(this.x(other.end[i]), this.width);
        c.strokeRect(x - 1, this.y(row), Math.max(end - x, 1) + 2, this.rowHeight);
      }
    });
  }

  // ---- what is where

  pieceAt(x, y) {
    const row = Math.floor((y - AXIS) / this.rowHeight), pieces = this.threads[row];
    if (!pieces || x < LABELS) return null;
    const slack = (this.view.to - this.view.from) / this.plot, time = this.time(x);
    let i = firstPiece(pieces, time);
    if (i < pieces.count && pieces.begin[i] <= time + slack) return {thread: row, piece: i};
    return i > 0 && pieces.end[i - 1] >= time - slack ? {thread: row, piece: i - 1} : null;
  }
  /** The next piece of work of the row, behind the chosen one or from the middle of what is in view. */
  next(step) {
    const pieces = this.threads[this.row];
    if (!pieces) return null;
    let i = this.chosen && this.chosen.thread === this.row ? this.chosen.piece + step
                                                           : firstPiece(pieces, (this.view.from + this.view.to) / 2);
    while (i >= 0 && i < pieces.count && pieces.wait[i] >= 0) i += step;
    return i >= 0 && i < pieces.count ? {thread: this.row, piece: i} : null;
  }
  choose(found) {
    this.chosen = found;
    if (found) {
      this.row = found.thread;
      const pieces = this.threads[found.thread], {from, to} = this.view;
      if (pieces.begin[found.piece] > to || pieces.end[found.piece] < from) {
        const middle = (pieces.begin[found.piece] + pieces.end[found.piece]) / 2;
        this.show(middle - (to - from) / 2, middle + (to - from) / 2);
      }
    }
    this.ask();
  }
  find(task) {
    for (let thread = 0; thread < this.threads.length; ++thread) {
      const piece = this.threads[thread].task.indexOf(task);
      if (piece >= 0) return {thread, piece};
    }
    return null;
  }
  zoomTo(found) {
    const pieces = this.threads[found.thread], begin = pieces.begin[found.piece], length = Math.max(pieces.end[found.piece] - begin, LEAST_VIEW);
    this.show(begin - length * 2, begin + length * 3);
  }
}

function threadLabel(thread) {
  return (RUN.processes.length > 1 ? thread.process + '.' : '') + 'thread ' + thread.number;
}
function pieceLabel(tasks, task) {
  const construct = CONSTRUCTS.get(tasks.construct[task]);
  return (construct ? constructLabel(construct) : 'task') + '  #' + task;
}
function axisText(time, step) {
  const [unit, size] = time >= 1e9 && step >= 1e6 ? ['s', 1e9] : step >= 1e5 ? ['ms', 1e6] : step >= 100 ? ['µs', 1e3] : ['ns', 1];
  return (time / size).toFixed(Math.max(0, Math.ceil(-Math.log10(step / size) - 1e-9))) + ' ' + unit;
}
