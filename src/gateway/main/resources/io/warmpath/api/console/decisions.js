// Requests as they are decided, live; one of them with all that was known when it was decided.

import {html, nothing, render} from './vendor/lit-html/lit-html.js';
import {repeat} from './vendor/lit-html/directives/repeat.js';
import {follow, get, query} from './api.js';
import {badge, cell, clock, count, DASH, millis, note, percent, table} from './format.js';
import {explained} from './decision.js';

export const title = 'Decisions';

const SHOWN = 200;
const REDRAW_MS = 250;
const FILTERS = [['request_id', 'Request id'], ['worker', 'Worker'], ['tenant', 'Tenant'], ['model', 'Model'], ['session', 'Session']];
const C = {
    time: {name: 'Time'},
    request: {name: 'Request'},
    who: {name: 'Model, tenant'},
    prompt: {name: 'Prompt tokens', number: true},
    predicted: {name: 'Cached: predicted', number: true},
    reported: {name: 'Cached: reported', number: true},
    worker: {name: 'Worker'},
    cost: {name: 'Cost', number: true},
    reason: {name: 'Reason'},
    outcome: {name: 'Answer'},
};
const KEPT = {}; // filters outlive a look at one request

export function start(root, context, [requestId]) {
    return requestId ? one(root, context, requestId) : live(root, context);
}

function live(root, context) {
    const rows = new Map(); // by number, the oldest first
    let following = new AbortController();
    let paused = false;
    let connected = false;
    let why = 'Connecting.';
    let skipped = 0;
    let instance = '';
    let drawn = 0;
    let timer;

    const filters = () => Object.fromEntries(FILTERS.map(([key]) => [key, KEPT[key] ?? '']));

    function add(row) {
        const known = rows.get(row.number);
        rows.set(row.number, known ? {...known, ...row} : row);
        if (rows.size > SHOWN) rows.delete(Math.min(...rows.keys()));
    }

    async function begin() {
        following.abort();
        following = new AbortController();
        const {signal} = following;
        rows.clear();
        skipped = 0;
        show();
        try {
            const kept = await get(query('/router/decisions', {...filters(), detail: false, limit: SHOWN}), signal);
            kept.decisions.forEach(add);
            if (!kept.enabled) why = 'Decisions are not kept: warmpath.explain.decisions is 0.';
            show();
        } catch (e) {
            if (!signal.aborted) context.failed(e);
        }
        follow(query('/router/decisions/stream', filters()), {
            signal,
            onState(now, reason, error) {
                connected = now;
                why = reason;
                if (error) context.failed(error);
                else if (!now) context.say(reason);
                else context.well();
                later();
            },
            onEvent(name, data) {
                if (name === 'hello') {
                    if (instance && instance !== data.instance) rows.clear(); // another process counts from 0
                    instance = data.instance;
                } else if (name === 'decisions') {
                    data.rows.forEach(add);
                    skipped += data.skipped ?? 0;
                }
                later();
            },
        });
    }

    function later() {
        if (paused || timer) return;
        timer = setTimeout(() => {
            timer = undefined;
            if (!paused) show();
        }, Math.max(0, drawn + REDRAW_MS - Date.now()));
    }

    function show() {
        drawn = Date.now();
        const newest = [...rows.values()].sort((a, b) => b.number - a.number);
        render(html`<h1>Live decisions</h1>
            <form class="filters" @submit=${e => { e.preventDefault(); begin(); }}>
                ${FILTERS.map(([key, name]) => html`<label>${name} <input name=${key} type="search" .value=${KEPT[key] ?? ''}
                    @change=${e => { KEPT[key] = e.target.value.trim(); begin(); }}></label>`)}
                <button type="button" aria-pressed=${paused} @click=${() => { paused = !paused; show(); }}>${paused ? 'Go on' : 'Pause'}</button>
            </form>
            <p id="stream">${connected ? badge('good', paused ? 'connected, paused' : 'connected') : badge('busy', why)}
                ${skipped ? html`<span class="muted"> ${count(skipped)} rows were left out: more come than can be read. A filter shows all of fewer.</span>` : nothing}</p>
            ${newest.length ? table(`The last ${newest.length} decisions, the latest first`, Object.values(C), repeat(newest, r => r.number, line))
                : note('off', 'No request yet that this filter lets through.')}`, root);
    }

    begin();
    return () => {
        following.abort();
        clearTimeout(timer);
    };
}

function line(r) {
    return html`<tr>
        ${cell(C.time, clock(r.time))}
        ${cell(C.request, html`<a href=${`#/decisions/${encodeURIComponent(r.request_id)}`}>${r.request_id}</a>
            ${r.attempt > 1 ? html`<br><span class="muted">attempt ${r.attempt}, ${r.cause}</span>` : nothing}`)}
        ${cell(C.who, html`${r.model}${r.tenant ? html`<br><span class="muted">${r.tenant}</span>` : nothing}`)}
        ${cell(C.prompt, count(r.prompt_tokens))}
        ${cell(C.predicted, html`${count(r.predicted_cached_tokens)} <span class="muted">${r.prompt_tokens && r.predicted_cached_tokens !== undefined ? percent(r.predicted_cached_tokens / r.prompt_tokens) : ''}</span>`)}
        ${cell(C.reported, reported(r))}
        ${cell(C.worker, html`${r.worker}${r.dp_rank ? html` <span class="muted">rank ${r.dp_rank}</span>` : nothing}`)}
        ${cell(C.cost, html`${cost(r)}`)}
        ${cell(C.reason, r.reason)}
        ${cell(C.outcome, outcome(r))}
    </tr>`;
}

const cost = r => r.cost === undefined ? DASH : r.cost_model === 'latency' ? millis(r.cost) : `${count(r.cost)} blocks`;

function reported(r) {
    if (r.reported_cached_tokens === undefined) return DASH;
    if (r.predicted_cached_tokens === undefined) return count(r.reported_cached_tokens);
    const right = r.reported_cached_tokens === r.predicted_cached_tokens;
    return html`${count(r.reported_cached_tokens)} <span aria-hidden="true">${right ? '=' : '≠'}</span><span class="unseen">${right ? 'as predicted' : 'not as predicted'}</span>`;
}

function outcome(r) {
    if (!r.ended) return badge('busy', 'running');
    const told = html`${r.output_tokens === undefined ? nothing : html`<br><span class="muted">${count(r.output_tokens)} tokens, first after ${millis(r.ttft_ms)}</span>`}`;
    return r.problem || r.status >= 400 ? html`${badge('bad', r.status || 'no answer')}<br>${r.problem ?? ''}${told}` : html`${badge('good', r.status ?? 'ended')}${told}`;
}

function one(root, context, requestId) {
    const ended = new AbortController();
    const back = html`<p><a href="#/decisions">All decisions</a></p>`;
    get(query('/router/decisions', {request_id: requestId}), ended.signal).then(found => {
        const attempts = found.decisions.sort((a, b) => a.number - b.number);
        render(html`${back}<h1>Why did ${requestId} go there?</h1>
            ${attempts.length ? attempts.map(r => explained(r, outcome(r)))
                : note('busy', html`No decision of this request is kept. The last ${count(found.kept?.decisions)} decisions are, since ${found.kept?.since ? clock(found.kept.since) : DASH}.`)}`, root);
        context.well();
    }, e => {
        if (!ended.signal.aborted) context.failed(e);
    });
    return () => ended.abort();
}
