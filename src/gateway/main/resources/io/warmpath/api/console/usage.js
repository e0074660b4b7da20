// Who uses how much, what caching has saved, and how much of their limits clients have used.

import {html, nothing, render} from './vendor/lit-html/lit-html.js';
import {get, query} from './api.js';
import {bar, cell, count, DASH, duration, millis, note, percent, short, since, table, tile} from './format.js';

export const title = 'Tenants';

const WINDOWS = {'5m': 'the last 5 minutes', '1h': 'the last hour', '24h': 'the last 24 hours', total: 'all since the start'};
const BY = {'tenant': 'tenant', 'model': 'model', 'tenant,model': 'tenant and model'};
const C = {
    tenant: {name: 'Tenant'},
    model: {name: 'Model'},
    computed: {name: 'Computed tokens', number: true},
    requests: {name: 'Requests', number: true},
    wrong: {name: 'Errors, refused', number: true},
    prompt: {name: 'Prompt tokens', number: true},
    cached: {name: 'of them cached', number: true},
    output: {name: 'Output tokens', number: true},
    saved: {name: 'Prefill saved', number: true},
    money: {name: 'Money saved', number: true},
};
const L = {
    client: {name: 'Key'},
    tenant: {name: 'Tenant'},
    requests: {name: 'Requests a minute, used'},
    tokens: {name: 'Tokens a minute, used'},
};
const KEPT = {window: '1h', by: 'tenant'};

export function start(root, context) {
    const refresh = async signal => {
        const seen = await get(query('/usage', KEPT), signal);
        context.well();
        show(seen);
    };
    const stop = context.poll(refresh, 5000);

    function choose(key, value) {
        KEPT[key] = value;
        refresh().catch(context.failed);
    }

    function show(seen) {
        const heaviest = [...seen.rows].sort((a, b) => weight(b) - weight(a));
        const all = seen.total ?? {};
        const columns = Object.entries(C).filter(([key]) => (key !== 'tenant' || KEPT.by.includes('tenant')) && (key !== 'model' || KEPT.by.includes('model'))
            && (key !== 'money' || seen.price_per_million_prompt_tokens !== undefined)).map(([, c]) => c);
        render(html`<h1>Tenants and models</h1>
            <form class="filters">
                <label>Show <select name="window" @change=${e => choose('window', e.target.value)}>${Object.entries(WINDOWS).map(([key, name]) =>
                    html`<option value=${key} ?selected=${key === KEPT.window}>${name}</option>`)}</select></label>
                <label>by <select name="by" @change=${e => choose('by', e.target.value)}>${Object.entries(BY).map(([key, name]) =>
                    html`<option value=${key} ?selected=${key === KEPT.by}>${name}</option>`)}</select></label>
                <span class="muted">since ${since(seen.since)}</span>
            </form>
            <dl class="tiles">
                ${tile('Requests', short(all.requests))}
                ${tile('Prompt tokens', short(all.prompt_tokens))}
                ${tile('Cached', all.prompt_tokens ? percent(all.cached_tokens / all.prompt_tokens) : DASH)}
                ${tile('Output tokens', short(all.output_tokens))}
                ${tile('Prefill saved', saved(all.saved_prefill_ms))}
                ${seen.price_per_million_prompt_tokens === undefined ? nothing : tile('Money saved', money(all.saved_money, seen.currency))}
            </dl>
            ${heaviest.length ? html`${table(`Heaviest first, by prompt tokens that were not cached and output tokens`, columns, heaviest.map(r => line(r, columns, weight(heaviest[0]), seen.currency)))}`
                : note('off', `No request has ended in ${WINDOWS[KEPT.window]}.`)}
            ${seen.price_per_million_prompt_tokens === undefined ? html`<p class="muted">Set warmpath.usage.price-per-million-prompt-tokens to see what caching saves in money.</p>` : nothing}
            ${(seen.limits ?? []).length ? html`<h2>Limits</h2>${table('Budgets of the minute that runs', Object.values(L), seen.limits.map(limit))}` : nothing}`, root);
    }
    return stop;
}

const weight = r => (r.prompt_tokens ?? 0) - (r.cached_tokens ?? 0) + (r.output_tokens ?? 0);
const saved = ms => ms === undefined ? DASH : ms < 1000 ? millis(ms) : duration(ms / 1000);
const money = (amount, currency) => amount === undefined ? DASH : `${amount.toFixed(amount < 10 ? 4 : 2)} ${currency ?? ''}`;

function line(r, columns, most, currency) {
    const content = new Map([
        [C.tenant, r.tenant ?? html`<span class="muted">without a tenant</span>`],
        [C.model, r.model ?? DASH],
        [C.computed, bar(weight(r), most, short(weight(r)))],
        [C.requests, short(r.requests)],
        [C.wrong, `${count(r.errors)}, ${count(r.refused)}`],
        [C.prompt, short(r.prompt_tokens)],
        [C.cached, html`${r.prompt_tokens ? percent(r.cached_tokens / r.prompt_tokens) : DASH} <span class="muted">${short(r.cached_tokens)}</span>`],
        [C.output, short(r.output_tokens)],
        [C.saved, saved(r.saved_prefill_ms)],
        [C.money, money(r.saved_money, currency)],
    ]);
    return html`<tr>${columns.map(c => cell(c, content.get(c)))}</tr>`;
}

function limit(l) {
    const used = (perMinute, left) => perMinute === undefined ? 'no limit' : bar(perMinute - left, perMinute, `${short(perMinute - left)} of ${short(perMinute)}`);
    return html`<tr>${cell(L.client, l.client)}${cell(L.tenant, l.tenant ?? DASH)}${cell(L.requests, used(l.requests_per_minute, l.requests_left))}
        ${cell(L.tokens, used(l.tokens_per_minute, l.tokens_left))}</tr>`;
}
