// Numbers, times and small pieces of a page. What is not known is shown as a dash.

import {html, svg, nothing} from './vendor/lit-html/lit-html.js';

export const DASH = '–';
const COUNT = new Intl.NumberFormat('en', {maximumFractionDigits: 1});
const SHORT = new Intl.NumberFormat('en', {notation: 'compact', maximumFractionDigits: 1});

const known = value => value !== undefined && value !== null && !Number.isNaN(value);

export const count = value => known(value) ? COUNT.format(value) : DASH;
export const short = value => known(value) ? SHORT.format(value) : DASH;
export const percent = value => known(value) ? `${(100 * value).toFixed(value < 0.1 && value > 0 ? 1 : 0)} %` : DASH;

/** Milliseconds, as long as one likes to read them. */
export function millis(value) {
    if (!known(value)) return DASH;
    if (Math.abs(value) < 10) return `${value.toFixed(2)} ms`;
    if (Math.abs(value) < 1000) return `${Math.round(value)} ms`;
    return duration(value / 1000);
}

/** Seconds. */
export function duration(seconds) {
    if (!known(seconds)) return DASH;
    if (seconds < 60) return `${seconds.toFixed(seconds < 10 ? 1 : 0)} s`;
    const minutes = Math.floor(seconds / 60);
    if (minutes < 60) return `${minutes} min`;
    const hours = Math.floor(minutes / 60);
    return hours < 48 ? `${hours} h ${minutes % 60} min` : `${Math.floor(hours / 24)} days`;
}

export const since = time => known(time) ? duration((Date.now() - Date.parse(time)) / 1000) : DASH;

/** The clock of an ISO time, in the reader's zone. */
export function clock(time) {
    const date = new Date(time);
    return Number.isNaN(date.getTime()) ? DASH : date.toLocaleTimeString('en-GB') + '.' + String(date.getMilliseconds()).padStart(3, '0');
}

const MARKS = {good: '●', busy: '◐', bad: '▲', off: '○'};

/** A state by its word, its mark and its colour. */
export const badge = (kind, word) => html`<span class="badge ${kind}"><span aria-hidden="true">${MARKS[kind]}</span> ${word}</span>`;

/** A part of a whole, drawn; the text beside it says the same. */
export function bar(part, whole, label, kind = '') {
    if (!known(part) || !whole) return html`<span>${label}</span>`;
    const width = Math.max(0, Math.min(100, 100 * part / whole));
    return html`<span class="meter"><svg class="bar ${kind}" viewBox="0 0 100 8" preserveAspectRatio="none" aria-hidden="true">
        <rect class="track" width="100" height="8"></rect>${svg`<rect class="fill" width=${width} height="8"></rect>`}</svg> ${label}</span>`;
}

/** Values over time as a small line, with its last and greatest value in words. */
export function sparkline(values, what, say = short) {
    const seen = (values ?? []).filter(known);
    if (seen.length < 2) return html`<span class="muted">${DASH}</span>`;
    const most = Math.max(...seen, 1e-9);
    const step = 100 / Math.max(1, values.length - 1);
    let path = '';
    let open = false;
    values.forEach((value, i) => {
        if (known(value)) path += `${open ? 'L' : 'M'}${(i * step).toFixed(1)} ${(19 - 18 * value / most).toFixed(1)}`;
        open = known(value);
    });
    const text = `${what}: now ${say(seen.at(-1))}, most ${say(most)}`;
    return html`<svg class="spark" viewBox="0 0 100 20" preserveAspectRatio="none" role="img" aria-label=${text}><title>${text}</title>
        ${svg`<path d=${path}></path>`}</svg>`;
}

/** A number with its name, large. */
export const tile = (name, value, note = '') => html`<div class="tile"><dt>${name}</dt><dd>${value}${note ? html`<small>${note}</small>` : nothing}</dd></div>`;

/** A table that becomes cards on narrow screens: every cell knows its column. */
export const table = (caption, columns, rows) => html`<table><caption>${caption}</caption>
    <thead><tr>${columns.map(c => html`<th scope="col" class=${c.number ? 'number' : ''}>${c.name}</th>`)}</tr></thead>
    <tbody>${rows}</tbody></table>`;

export const cell = (column, content) => html`<td data-name=${column.name} class=${column.number ? 'number' : ''}>${content}</td>`;

export const note = (kind, text) => html`<p class="note ${kind}" role=${kind === 'bad' ? 'alert' : 'note'}>${text}</p>`;
