'use strict';
// Numbers as people read them, as src/report/words.cpp has them, and the few helpers that all parts of the page use.

function threeDigits(value) {
  const size = Math.abs(value);
  return value.toFixed(size < 9.995 ? 2 : size < 99.95 ? 1 : 0);
}
function timeText(ns) {
  const units = ['ns', 'µs', 'ms', 's'];
  let value = ns, unit = 0;
  while (unit + 1 < units.length && Math.abs(value) >= 999.5) { value /= 1000; ++unit; }
  return unit === 0 ? Math.round(ns) + ' ns' : threeDigits(value) + ' ' + units[unit];
}
function shareText(share) {
  const percent = 100 * share;
  if (percent > 0 && percent < 0.1) return '< 0.1 %';
  return percent === 0 ? '0 %' : percent.toFixed(percent < 9.95 ? 1 : 0) + ' %';
}
function countText(count) { return Math.round(count).toString().replace(/\B(?=(\d{3})+$)/g, ','); }
function counted(count, one, many) { return count === 1 ? '1 ' + one : countText(count) + ' ' + (many || one + 's'); }
function bytesText(bytes) {
  const units = ['bytes', 'KiB', 'MiB', 'GiB', 'TiB'];
  let value = bytes, unit = 0;
  while (unit + 1 < units.length && value >= 1000) { value /= 1024; ++unit; }
  return unit === 0 ? counted(bytes, 'byte') : threeDigits(value) + ' ' + units[unit];
}

function byId(id) { return document.getElementById(id); }
/** An element. Text goes in as text only: names come from programs. */
function element(tag, attributes, ...children) {
  const made = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes || {})) {
    if (value === undefined || value === null || value === false) continue;
    if (name === 'style') Object.assign(made.style, value);
    else made.setAttribute(name, value === true ? '' : value);
  }
  for (const child of children.flat()) if (child !== undefined && child !== null) made.append(child);
  return made;
}
function svgElement(tag, attributes, text) {
  const made = document.createElementNS('http://www.w3.org/2000/svg', tag);
  for (const [name, value] of Object.entries(attributes)) made.setAttribute(name, value);
  if (text !== undefined) made.textContent = text;
  return made;
}
/** A bar of parts: [class, share]. What it says stands beside it in words. */
function bar(parts) {
  return element('div', {class: 'bar', 'aria-hidden': 'true'},
                 parts.map(([name, share]) => element('span', {class: name, style: {width: Math.max(0, Math.min(1, share)) * 100 + '%'}})));
}
function variable(name) { return getComputedStyle(document.documentElement).getPropertyValue(name).trim(); }
/** Round distances between marks of an axis: about `most` of them over `length`. */
function niceStep(length, most) {
  const rough = length / Math.max(1, most), power = Math.pow(10, Math.floor(Math.log10(rough)));
  return [1, 2, 5, 10].map(f => f * power).find(step => step >= rough) || rough;
}
