// Every worker and rank: is it well and why not, how busy, what its caches hold, and the verbs for it.

import {html, nothing, render} from './vendor/lit-html/lit-html.js';
import {repeat} from './vendor/lit-html/directives/repeat.js';
import {get, post, remove} from './api.js';
import {badge, bar, cell, count, DASH, millis, note, percent, short, sparkline, table, tile} from './format.js';

export const title = 'Fleet';

const PAST_MS = 10000; // a step of the past: it does not change before
const MOST_ROWS = 200; // of a larger fleet a name finds the others, and the past is not asked for

const C = {
    worker: {name: 'Worker'},
    health: {name: 'Health'},
    load: {name: 'Load'},
    tiers: {name: 'Blocks by tier'},
    hits: {name: 'Hit rate', number: true},
    ttft: {name: 'TTFT', number: true},
    events: {name: 'KV events'},
    past: {name: '15 minutes'},
    verbs: {name: 'Actions'},
};
const TIERS = [['gpu_blocks', 'GPU'], ['host_blocks', 'host'], ['disk_blocks', 'disk'], ['external_blocks', 'pool']];

export function start(root, context) {
    let seen = null;
    let wanted = '';
    let pastSeen = -Infinity;
    const refresh = async signal => {
        const few = !seen || seen.workers.length <= MOST_ROWS;
        const past = few && performance.now() - pastSeen >= PAST_MS;
        const now = await get(past ? '/fleet' : '/fleet?history=false', signal);
        if (past) {
            pastSeen = performance.now();
        } else if (few) {
            const known = new Map(seen.workers.map(w => [w.id, w.history]));
            now.workers.forEach(w => { w.history = known.get(w.id); });
        }
        seen = now;
        context.gateway(seen.gateway);
        show();
    };
    const stop = context.poll(refresh, 2000);

    async function act(worker, verb) {
        const said = {
            drain: [`Drain ${worker.name}?`, `It gets no new requests; the ${count(running(worker))} that run there end as they are. It stays in the fleet, drained, until it is resumed.`, 'Drain'],
            resume: [`Resume ${worker.name}?`, 'It gets requests again as soon as it is healthy.', 'Resume'],
            remove: [`Remove ${worker.name}?`, `It leaves the fleet once its ${count(running(worker))} running requests have ended. A source that names it (the configuration, discovery) can bring it back.`, 'Remove'],
        }[verb];
        if (!await context.confirm(...said)) return;
        const path = `/workers/${encodeURIComponent(worker.name)}`;
        try {
            await (verb === 'remove' ? remove(path) : post(`${path}/${verb}`));
            await refresh();
        } catch (e) {
            context.failed(e);
        }
    }

    function show() {
        const g = seen.gateway;
        const ready = seen.workers.filter(w => kindOf(w) === 'good').length;
        const found = seen.workers.filter(w => `${w.name} ${w.kind} ${w.state} ${w.role} ${w.models.join(' ')} ${w.url}`.toLowerCase().includes(wanted));
        const rows = [...found].sort((a, b) => ORDER[kindOf(a)] - ORDER[kindOf(b)]).slice(0, MOST_ROWS);
        render(html`<h1>Fleet</h1>
            <dl class="tiles">
                ${tile('Workers ready', `${ready} of ${seen.workers.length}`)}
                ${tile('Requests', count(g.requests_per_s), ' / s')}
                ${tile('Hit rate', percent(g.hit_rate))}
                ${tile('TTFT', millis(g.ttft_ms))}
                ${tile('Running', count(g.active))}
                ${tile('Waiting here', count(g.queued))}
            </dl>
            ${(g.degraded ?? []).map(sentence => note('busy', sentence))}
            ${ill(seen.workers)}
            ${found.length > MOST_ROWS ? note('off', `The first ${MOST_ROWS} of ${found.length} workers; type a part of a name to find others.`) : nothing}
            <label class="filter">Show workers with <input type="search" .value=${wanted} placeholder="name, model, state, role"
                @input=${e => { wanted = e.target.value.toLowerCase(); show(); }}></label>
            ${table(`${rows.length} of ${seen.workers.length} workers; hit rate and TTFT of the last 5 minutes`, Object.values(C), repeat(rows, w => w.id, w => row(w, act)))}`, root);
    }
    return stop;
}

const ORDER = {bad: 0, busy: 1, off: 2, good: 3}; // who is ill stands first

/** The sentence an operator has come for. */
function ill(workers) {
    const bad = workers.filter(w => kindOf(w) === 'bad');
    return bad.length ? note('bad', html`${bad.map(w => html`<strong>${w.name}</strong> is ${w.state}${w.problem ? `: ${w.problem}` : ''}. `)}`) : nothing;
}

const running = worker => (worker.ranks ?? []).reduce((sum, r) => sum + (r.running ?? 0), 0);

function kindOf(worker) {
    if (worker.drained) return 'off';
    return {ready: 'good', trial: 'busy', starting: 'busy', paused: 'busy', draining: 'off'}[worker.state] ?? 'bad';
}

function row(w, act) {
    return html`<tr>
        ${cell(C.worker, html`<strong>${w.name}</strong><br><span class="muted">${w.kind} ${w.version || 'version unknown'}</span>
            ${w.models.length ? html`<br><span class="muted">${w.models.join(', ')}</span>` : nothing}<br><span class="muted">${w.url}</span>${role(w)}`)}
        ${cell(C.health, html`${badge(kindOf(w), w.drained ? 'drained' : w.state)}${w.problem ? html`<br>${w.problem}` : nothing}
            ${(w.taints ?? []).map(t => html`<br><span class="muted">taint ${t}</span>`)}`)}
        ${cell(C.load, ranks(w, r => html`${count(r.running)} running, ${short(r.prefill_tokens)} prefill tokens booked<br>
            ${bar(r.kv_blocks_used, r.kv_blocks_total, `${short(r.kv_blocks_used)} of ${short(r.kv_blocks_total)} KV blocks booked`)}
            ${r.engine ? html`<br><span class="muted">engine: ${count(r.engine.running)} running, ${count(r.engine.waiting)} waiting</span>` : nothing}`))}
        ${cell(C.tiers, ranks(w, r => tiers(r)))}
        ${cell(C.hits, html`${percent(w.hit_rate)}${prediction(w.prediction)}`)}
        ${cell(C.ttft, html`${millis(w.ttft_ms)}<br><span class="muted">${short(w.requests)} requests</span>`)}
        ${cell(C.events, ranks(w, r => source(r.events)))}
        ${cell(C.past, html`${past('requests', w.history?.requests, count)}${past('TTFT', w.history?.ttft_ms, millis)}${past('hit rate', w.history?.hit_rate, percent)}`)}
        ${cell(C.verbs, html`<span class="verbs">
            ${w.drained
                ? html`<button type="button" @click=${() => act(w, 'resume')} aria-label=${`Resume ${w.name}`}>Resume</button>`
                : html`<button type="button" @click=${() => act(w, 'drain')} aria-label=${`Drain ${w.name}`}>Drain</button>`}
            <button type="button" class="danger" @click=${() => act(w, 'remove')} aria-label=${`Remove ${w.name}`}>Remove</button></span>`)}
    </tr>`;
}

const ROLES = {
    prefill: ['computes prompts', 'for'],
    decode: ['writes answers', 'from'],
    encode: ['encodes media, gets no requests'],
};

/** What it does in a fleet that splits requests, and with whom. */
function role(w) {
    const [does, way] = ROLES[w.role] ?? [];
    if (!does) return nothing;
    return html`<br><span>${w.role}: ${does}</span>
        ${w.pairs.length ? html`<details><summary>prompts ${way} others, by worker</summary>
            <ul class="peers">${w.pairs.map(p => html`<li>${way} <strong>${p.worker}</strong>: ${count(p.splits)} prompts, ${short(p.tokens)} tokens</li>`)}</ul></details>` : nothing}`;
}

const past = (what, values, say) => html`<span class="past"><span class="muted">${what}</span>${sparkline(values, `${what}, last 15 minutes`, say)}</span>`;

const ranks = (w, show) => (w.ranks ?? []).map(r => html`<div>${w.ranks.length > 1 ? html`<span class="muted">rank ${r.dp_rank}: </span>` : nothing}${show(r)}</div>`);

function tiers(rank) {
    const held = TIERS.filter(([key]) => rank.tiers && (key === 'gpu_blocks' || rank.tiers[key]));
    if (!held.length) return rank.engine && rank.kv_blocks_total ? bar(rank.engine.kv_blocks, rank.kv_blocks_total, `GPU ${short(rank.engine.kv_blocks)} in use, says the engine`) : DASH;
    return held.map(([key, name]) => key === 'gpu_blocks' && rank.kv_blocks_total
        ? bar(rank.tiers[key], rank.kv_blocks_total, `${name} ${short(rank.tiers[key])}`)
        : html`<span class="pair">${name} ${short(rank.tiers[key])}</span> `);
}

function prediction(p) {
    const all = p ? p.equal + p.over + p.under : 0;
    return all ? html`<br><span class="muted">${percent(p.equal / all)} predicted exactly</span>` : nothing;
}

const EVENTS = {following: 'good', exact: 'good', none: 'off', unknown: 'off'};

function source(events) {
    if (!events) return DASH;
    const trust = events.trust === undefined || events.trust === 1 ? '' : `, trust ${percent(events.trust)}`;
    return html`${badge(EVENTS[events.state] ?? 'busy', events.state)}${trust}
        ${events.last_event_age_ms === undefined ? nothing : html`<br><span class="muted">last ${millis(events.last_event_age_ms)} ago</span>`}
        ${events.gaps ? html`<br><span class="muted">${count(events.gaps)} gaps, ${count(events.replays)} replays</span>` : nothing}`;
}
