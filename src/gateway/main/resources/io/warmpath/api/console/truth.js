// Is the index right? What was predicted beside what engines reported, where their events stand, and whose tokens differ.

import {html, render} from './vendor/lit-html/lit-html.js';
import {get} from './api.js';
import {badge, cell, count, DASH, millis, note, percent, short, table, tile} from './format.js';
import {Chart} from './chart.js';

export const title = 'Truth';

const P = {
    worker: {name: 'Worker'},
    exact: {name: 'Exactly as predicted', number: true},
    over: {name: 'Less cached than predicted', number: true},
    under: {name: 'More cached than predicted', number: true},
    tokens: {name: 'Cached tokens, 15 min: predicted, reported', number: true},
};
const N = {reason: {name: 'Reason'}, answers: {name: 'Answers', number: true}};
const E = {
    source: {name: 'Source'},
    state: {name: 'State'},
    trust: {name: 'Trust', number: true},
    last: {name: 'Last event', number: true},
    batches: {name: 'Batches', number: true},
    gaps: {name: 'Gaps, repaired', number: true},
    lost: {name: 'Lost', number: true},
    replays: {name: 'Replays', number: true},
};
const T = {model: {name: 'Model'}, from: {name: 'Tokens come from'}, drift: {name: 'Self-check'}};
const GOOD = new Set(['exact', 'following']);

export function start(root, context) {
    const frame = document.createElement('div');
    const canvas = document.createElement('div');
    const rest = document.createElement('div');
    canvas.className = 'chart';
    root.append(frame, canvas, rest);
    const chart = new Chart(canvas, short);
    const stop = context.poll(async signal => {
        const [fleet, sources, workers] = await Promise.all([get('/fleet', signal), get('/events/sources', signal), get('/workers', signal)]);
        context.gateway(fleet.gateway);
        show(fleet, sources.data, workers.data);
    }, 5000);

    function show(fleet, sources, workers) {
        const all = {equal: 0, over: 0, under: 0};
        for (const w of fleet.workers) for (const key of Object.keys(all)) all[key] += w.prediction?.[key] ?? 0;
        const compared = all.equal + all.over + all.under;
        const past = sums(fleet.workers);
        const wrong = sources.filter(s => !GOOD.has(s.state));
        render(html`<h1>Truth</h1>
            ${verdict(compared, all, wrong)}
            <dl class="tiles">
                ${tile('Compared', short(compared), ' answers')}
                ${tile('Exactly as predicted', compared ? percent(all.equal / compared) : DASH)}
                ${tile('Less cached', compared ? percent(all.over / compared) : DASH)}
                ${tile('More cached', compared ? percent(all.under / compared) : DASH)}
                ${tile('Sources not exact', count(wrong.length))}
            </dl>
            <h2>Cached tokens, the last 15 minutes</h2>
            <p class="muted">Predicted ${short(past.predicted.reduce(add, 0))}, reported ${short(past.reported.reduce(add, 0))} tokens.</p>`, frame);
        const now = Math.floor(Date.now() / 1000);
        chart.draw(past.predicted.map((_, i) => now - (past.predicted.length - 1 - i) * past.step), [
            {name: 'predicted', values: past.predicted}, {name: 'reported', values: past.reported}]);
        render(html`
            ${table('Predictions by engine', Object.values(P), fleet.workers.map(predictions))}
            <h2>Not predicted, or not exactly</h2>
            ${fleet.gateway.not_exact.length ? table('Why, by answers since the start', Object.values(N), fleet.gateway.not_exact.map(reason)) : note('good', 'Nothing has stood against an exact prediction of any answer so far, and every engine has said what was cached.')}
            <h2>Event sources</h2>
            ${sources.length ? table('What each rank tells of its cache', Object.values(E), sources.map(source)) : note('busy', 'No engine tells of its cache here: hit rates are guesses.')}
            <h2>Tokens</h2>
            ${table('Where prompts become token ids', Object.values(T), tokens(workers))}`, rest);
    }
    return () => {
        stop();
        chart.stop();
    };
}

const add = (a, b) => a + (b ?? 0);

function sums(workers) {
    const step = workers[0]?.history?.step_s ?? 10;
    const length = Math.max(0, ...workers.map(w => w.history?.predicted_tokens?.length ?? 0));
    const sum = key => Array.from({length}, (_, i) => workers.reduce((s, w) => s + (w.history?.[key]?.[i] ?? 0), 0));
    return {step, predicted: sum('predicted_tokens'), reported: sum('reported_tokens')};
}

function verdict(compared, all, wrong) {
    if (!compared) return note('off', 'No engine has reported cached tokens yet; SGLang does with --enable-cache-report, vLLM with --enable-prompt-tokens-details.');
    const right = all.equal / compared;
    const sources = wrong.length ? ` ${wrong.map(s => `${s.worker} rank ${s.dp_rank} is ${s.state}: ${s.why}`).join('; ')}.` : '';
    return right > 0.95 && !wrong.length ? note('good', `The index is right: ${percent(right)} of ${short(compared)} answers were cached exactly as predicted, and every event source is exact.`)
        : note('busy', `${percent(right)} of ${short(compared)} answers were cached exactly as predicted.${sources}`);
}

function predictions(w) {
    const p = w.prediction ?? {equal: 0, over: 0, under: 0};
    const all = p.equal + p.over + p.under;
    const part = n => all ? html`${percent(n / all)} <span class="muted">${short(n)}</span>` : DASH;
    const sum = values => short((values ?? []).reduce(add, 0));
    return html`<tr>${cell(P.worker, html`${w.name} <span class="muted">${w.kind} ${w.version}</span>`)}${cell(P.exact, part(p.equal))}${cell(P.over, part(p.over))}
        ${cell(P.under, part(p.under))}${cell(P.tokens, `${sum(w.history?.predicted_tokens)}, ${sum(w.history?.reported_tokens)}`)}</tr>`;
}

const reason = r => html`<tr>${cell(N.reason, html`${r.words}<br><span class="muted">${r.more}</span>`)}${cell(N.answers, short(r.answers))}</tr>`;

function source(s) {
    return html`<tr>${cell(E.source, html`${s.worker} <span class="muted">rank ${s.dp_rank}</span><br><span class="muted">${s.endpoint ?? 'no source'}</span>`)}
        ${cell(E.state, html`${badge(GOOD.has(s.state) ? 'good' : s.endpoint ? 'bad' : 'off', s.state)}<br><span class="muted">${s.why}</span>`)}
        ${cell(E.trust, percent(s.credit))}
        ${cell(E.last, s.last_event_age_ms === undefined ? DASH : html`${millis(s.last_event_age_ms)} ago`)}
        ${cell(E.batches, short(s.batches))}${cell(E.gaps, s.gaps === undefined ? DASH : `${count(s.gaps)}, ${count(s.repaired)}`)}
        ${cell(E.lost, count(s.lost))}${cell(E.replays, count(s.replays))}</tr>`;
}

function tokens(workers) {
    const rows = new Map();
    for (const w of workers) {
        for (const [model, from] of Object.entries(w.tokens)) {
            const row = rows.get(model) ?? {from: new Set(), drift: new Set()};
            row.from.add(from);
            w.tokens_drifted.forEach(d => row.drift.add(`${w.kind}: ${d}`));
            rows.set(model, row);
        }
    }
    return [...rows].map(([model, row]) => html`<tr>${cell(T.model, model)}${cell(T.from, [...row.from].join(', '))}
        ${cell(T.drift, row.drift.size ? badge('bad', html`other ids than the engine: ${[...row.drift].join(', ')}`) : badge('good', 'the same ids as the engines'))}</tr>`);
}
