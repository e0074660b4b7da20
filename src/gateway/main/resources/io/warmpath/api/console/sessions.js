// Which rank sessions are bound to, what is pinned where, and who waits.

import {html, nothing, render} from './vendor/lit-html/lit-html.js';
import {get} from './api.js';
import {cell, clock, count, DASH, millis, note, percent, short, table, tile} from './format.js';

export const title = 'Sessions';

const S = {
    id: {name: 'Session'},
    model: {name: 'Model'},
    worker: {name: 'Worker'},
    turns: {name: 'Turns', number: true},
    kept: {name: 'Kept by'},
    pinned: {name: 'Pinned tokens', number: true},
    idle: {name: 'Idle', number: true},
};
const P = {
    id: {name: 'Pin'},
    model: {name: 'Model'},
    worker: {name: 'Worker'},
    state: {name: 'State'},
    tokens: {name: 'Tokens', number: true},
    hits: {name: 'Hits', number: true},
    ends: {name: 'Ends'},
};
const Q = {
    model: {name: 'Model, class'},
    tenant: {name: 'Tenant'},
    waiting: {name: 'Waiting', number: true},
    oldest: {name: 'Oldest', number: true},
    share: {name: 'Part of the work', number: true},
};

export function start(root, context) {
    return context.poll(async signal => {
        const [sessions, pins, queues] = await Promise.all([
            get('/sessions?limit=200', signal), get('/sessions/pins?limit=200', signal), get('/queues', signal)]);
        context.well();
        const waiting = queues.data.flatMap(q => q.tenants.map(t => ({...t, model: q.model, policy: q.policy_class})));
        render(html`<h1>Sessions and pins</h1>
            <dl class="tiles">
                ${tile('Sessions', count(sessions.total))}
                ${tile('Pins', pins.enabled ? count(pins.total) : 'off')}
                ${tile('Pinned tokens', pins.enabled ? short(pins.total_tokens) : DASH)}
                ${tile('Waiting requests', count(waiting.reduce((sum, t) => sum + t.waiting, 0)))}
            </dl>
            <h2>Sessions</h2>
            ${sessions.data.length ? table(`${sessions.data.length} of ${sessions.total} sessions`, Object.values(S), sessions.data.map(session)) : note('off', 'No session is bound.')}
            <h2>Pins</h2>
            ${!pins.enabled ? note('off', 'Pins are off.') : pins.data.length ? table(`${pins.data.length} of ${pins.total} pins`, Object.values(P), pins.data.map(pin)) : note('off', 'Nothing is pinned.')}
            ${pins.refused.length ? html`<p>Refused lately: ${pins.refused.slice(0, 5).map(r => html`<span class="pair">${clock(r.at)} ${r.worker ?? r.worker_id}: ${r.result} ${r.reason}</span> `)}</p>` : nothing}
            <h2>Who waits</h2>
            ${waiting.length ? table('Tenants in the queue of each model', Object.values(Q), waiting.map(tenant)) : note('off', 'Nobody waits.')}`, root);
    }, 3000);
}

const place = r => r.worker ? `${r.worker}${r.dp_rank ? ` rank ${r.dp_rank}` : ''}` : html`<span class="muted">has left</span>`;

const session = r => html`<tr>${cell(S.id, r.id)}${cell(S.model, r.model)}${cell(S.worker, place(r))}${cell(S.turns, count(r.turns))}
    ${cell(S.kept, r.controlled ? `${r.kept_by ?? 'its client'} (${r.state})` : 'its header')}${cell(S.pinned, count(r.pinned_tokens))}${cell(S.idle, millis(r.idle_ms))}</tr>`;

const pin = r => html`<tr>${cell(P.id, r.id)}${cell(P.model, r.model)}${cell(P.worker, place(r))}${cell(P.state, `${r.state}, ${r.how}`)}${cell(P.tokens, count(r.tokens))}
    ${cell(P.hits, count(r.hits))}${cell(P.ends, clock(r.expires_at))}</tr>`;

const tenant = r => html`<tr>${cell(Q.model, `${r.model}, ${r.policy}`)}${cell(Q.tenant, r.tenant)}${cell(Q.waiting, count(r.waiting))}${cell(Q.oldest, millis(r.oldest_ms))}
    ${cell(Q.share, percent(r.share))}</tr>`;
