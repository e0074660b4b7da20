// One decision in full: candidates, terms, both costs, what each held of the prompt, what the runner-up lacked.

import {html, nothing, svg} from './vendor/lit-html/lit-html.js';
import {badge, cell, clock, count, DASH, millis, note, percent, table, tile} from './format.js';

// The parts of the cost in milliseconds and in blocks, each with what it means.
const MEANING = {
    wait_ms: 'waits for prefill that is booked there',
    room_ms: 'waits for KV room',
    transfer_ms: 'fetches the KV cache of its prompt',
    prefill_ms: 'computes the new tokens',
    load_ms: 'loads blocks from slower tiers',
    step_ms: 'waits for the step that runs',
    overdue_ms: 'first tokens are overdue there',
    unheard_ms: 'work of other gateways not heard of yet',
    own_decode_ms: 'decodes its answer beside others',
    others_decode_ms: 'slows the answers that run there',
    adapter_ms: 'loads its adapter, or waits for a place for it',
    pin_ms: 'pinned prefixes take room',
    prefill_blocks: 'blocks to compute',
    decode_blocks: 'blocks of running answers',
};
const TIERS = [['gpu_blocks', 'GPU', 'gpu'], ['host_blocks', 'host', 'host'], ['disk_blocks', 'disk', 'disk'], ['external_blocks', 'pool', 'pool'], ['shared_blocks', 'pool', 'pool']];

export function explained(row, outcome) {
    const d = row.decision;
    const ranked = (d?.candidates ?? []).filter(c => c.eligible && c.cost !== undefined).sort((a, b) => a.cost - b.cost);
    return html`<section>
        <h2>${row.attempt > 1 ? `Attempt ${row.attempt} (${row.cause})` : 'Decision'}: ${row.worker}${row.dp_rank ? `, rank ${row.dp_rank}` : ''}</h2>
        <p>${row.reason}</p>
        <dl class="tiles">
            ${tile('Prompt tokens', count(row.prompt_tokens))}
            ${tile('Cached, predicted', count(row.predicted_cached_tokens), row.not_exact ? ` ${row.not_exact.replaceAll('_', ' ')}` : row.prompt_tokens ? ` ${percent(row.predicted_cached_tokens / row.prompt_tokens)}` : '')}
            ${tile('Cached, reported', count(row.reported_cached_tokens))}
            ${tile('Cost', price(row.cost_model, row.cost))}
            ${tile('TTFT', millis(row.ttft_ms))}
            ${tile('Whole answer', millis(row.total_ms))}
        </dl>
        <p>Answer: ${outcome}</p>
        <p class="muted">${clock(row.time)} · ${row.model}${row.tenant ? ` · tenant ${row.tenant}` : ''}${row.session ? ` · session ${row.session}` : ''}
            ${row.trace_id ? html` · trace <code>${row.trace_id}</code>` : nothing}${row.queue_ms ? ` · waited ${millis(row.queue_ms)} in the queue` : ''}</p>
        ${d ? html`
            ${d.other_cost ? html`<p>By the cost <strong>${d.other_cost.name}</strong>: ${d.other_cost.agrees ? 'the same worker' : html`<strong>${d.other_cost.worker}</strong> would have been taken`}.</p>` : nothing}
            ${lacked(d, ranked)}
            ${candidates(d, ranked)}
            ${row.detailed === false ? note('off', 'Only the costs were kept of this one; the terms are kept of a sample. Send x-warmpath-explain: 1 to have them with an answer.') : terms(ranked)}
            ${(d.ineligible ?? []).length ? html`<p>Not asked: ${d.ineligible.map(i => html`<strong>${i.worker}</strong> (${i.reason}) `)}</p>` : nothing}` : nothing}
    </section>`;
}

const price = (model, cost) => cost === undefined ? DASH : model === 'latency' ? millis(cost) : `${count(cost)} blocks`;
const place = c => `${c.worker}${c.dp_rank ? ` rank ${c.dp_rank}` : ''}`;
const isChosen = (d, c) => c.worker === d.chosen.worker && c.dp_rank === d.chosen.dp_rank;

/** What the runner-up lacked, term by term. */
function lacked(d, ranked) {
    const chosen = ranked.find(c => isChosen(d, c));
    const other = ranked.find(c => !isChosen(d, c));
    if (!chosen || !other) return nothing;
    const more = other.cost - chosen.cost;
    const parts = Object.keys(MEANING)
        .map(term => ({term, by: (other.terms?.[term] ?? 0) - (chosen.terms?.[term] ?? 0)}))
        .filter(p => Math.abs(p.by) > 1e-3)
        .sort((a, b) => Math.abs(b.by) - Math.abs(a.by))
        .slice(0, 4);
    const held = (other.terms?.cached_tokens ?? 0) - (chosen.terms?.cached_tokens ?? 0);
    const how = d.cost_model === 'latency' ? millis : count;
    return html`<p id="runner-up">Next would have been <strong>${place(other)}</strong>: it costs ${price(d.cost_model, other.cost)},
        ${Math.abs(more) < 1e-9 ? 'the same' : `${price(d.cost_model, Math.abs(more))} ${more > 0 ? 'more' : 'less'}`}.
        ${held ? html`It holds ${count(Math.abs(held))} tokens of the prompt ${held < 0 ? 'less' : 'more'}. ` : nothing}
        ${parts.map(p => html`<span class="pair">${p.by > 0 ? '+' : '−'}${how(Math.abs(p.by))} ${MEANING[p.term]}</span> `)}</p>`;
}

const C = {
    worker: {name: 'Candidate'},
    cost: {name: 'Cost', number: true},
    other: {name: 'By the other cost', number: true},
    held: {name: 'Holds of the prompt'},
    events: {name: 'KV events'},
};

function candidates(d, ranked) {
    const refused = (d.candidates ?? []).filter(c => !c.eligible);
    const blocks = Math.max(1, d.chosen.booked_blocks ?? 1);
    const others = Object.keys(ranked[0]?.costs ?? {}).find(name => name !== d.cost_model);
    return table(`${ranked.length + refused.length} candidates, the cheapest first`, Object.values(C), [
        ...ranked.map(c => html`<tr class=${isChosen(d, c) ? 'chosen' : ''}>
            ${cell(C.worker, html`${place(c)} ${isChosen(d, c) ? badge('good', 'chosen') : nothing}`)}
            ${cell(C.cost, price(d.cost_model, c.cost))}
            ${cell(C.other, others ? price(others, c.costs[others]) : DASH)}
            ${cell(C.held, isChosen(d, c) || c.terms ? held(c.terms ?? d.chosen, blocks) : DASH)}
            ${cell(C.events, c.events ?? DASH)}</tr>`),
        ...refused.map(c => html`<tr>${cell(C.worker, place(c))}<td colspan="4" data-name="Not eligible">${c.reason}</td></tr>`)]);
}

/** Depths are runs from the beginning of the prompt: GPU first, what slower tiers hold beyond it after. */
export function held(terms, blocks) {
    const known = TIERS.filter(([key]) => terms[key] > 0);
    if (!known.length) return 'nothing';
    const width = Math.max(blocks, ...known.map(([key]) => terms[key]));
    return html`<span class="meter"><svg class="bar" viewBox="0 0 100 8" preserveAspectRatio="none" aria-hidden="true">
        <rect class="track" width="100" height="8"></rect>
        ${[...known].sort((a, b) => terms[b[0]] - terms[a[0]]).map(([key, , kind]) => svg`<rect class=${kind} width=${100 * terms[key] / width} height="8"></rect>`)}</svg>
        ${known.map(([key, name]) => `${name} ${count(terms[key])}`).join(', ')} blocks</span>`;
}

/** Every term of every candidate, in one table that scrolls. */
function terms(ranked) {
    const detailed = ranked.filter(c => c.terms);
    if (!detailed.length) return nothing;
    const names = Object.keys(detailed[0].terms);
    return html`<details><summary>All terms of all candidates</summary>
        <div class="scroll" tabindex="0" role="region" aria-label="All terms"><table class="plain">
            <caption>Terms; milliseconds where the name says so, else blocks, tokens or factors</caption>
            <thead><tr><th scope="col">Term</th>${detailed.map(c => html`<th scope="col" class="number">${place(c)}</th>`)}</tr></thead>
            <tbody>${names.map(n => html`<tr><th scope="row">${n}${MEANING[n] ? html`<br><span class="muted">${MEANING[n]}</span>` : nothing}</th>
                ${detailed.map(c => html`<td class="number">${count(c.terms[n])}</td>`)}</tr>`)}</tbody></table></div></details>`;
}
