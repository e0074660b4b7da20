// Which prefixes are hot and where they are, what the index holds, and who has how much of a prompt.

import {html, nothing, render} from './vendor/lit-html/lit-html.js';
import {get, post} from './api.js';
import {bar, cell, count, DASH, note, percent, short, since, table, tile} from './format.js';
import {held} from './decision.js';

export const title = 'Cache';

const C = {
    model: {name: 'Model'},
    tokens: {name: 'Length', number: true},
    hits: {name: 'Requests, lately', number: true},
    last: {name: 'Last', number: true},
    text: {name: 'Begins with'},
    holders: {name: 'Holders'},
};
const A = {worker: {name: 'Worker'}, held: {name: 'Holds of the prompt'}, part: {name: 'Of its tokens', number: true}};

export function start(root, context) {
    let seen = null;
    let models = [];
    let answer = null;
    let asking = false;
    const stop = context.poll(async signal => {
        const [prefixes, fleet] = await Promise.all([get('/router/prefixes?limit=20', signal), get('/fleet?history=false', signal)]);
        seen = prefixes;
        models = fleet.gateway.models;
        context.gateway(fleet.gateway);
        show();
    }, 5000);

    async function ask(event) {
        event.preventDefault();
        const form = new FormData(event.target);
        asking = true;
        answer = null;
        show();
        try {
            answer = {told: await post('/router/ask', {model: form.get('model'), [form.get('as')]: form.get('as') === 'prompt' ? form.get('text') : [{role: 'user', content: form.get('text')}]})};
        } catch (e) {
            answer = {problem: e.message};
            if (e.needsToken) context.failed(e);
        }
        asking = false;
        show();
    }

    function show() {
        const index = seen.index ?? {};
        const most = Math.max(...seen.prefixes.map(p => p.hits), 1);
        render(html`<h1>Cache</h1>
            <dl class="tiles">
                ${tile('Blocks known', short(index.blocks))}
                ${tile('Held, over all ranks', short(index.residencies))}
                ${tile('Copies of a block', index.blocks ? (index.residencies / index.blocks).toFixed(2) : DASH)}
                ${tile('Memory of the index', index.bytes ? `${short(index.bytes)}B` : DASH)}
                ${evictions(seen.evictions)}
            </dl>
            ${(seen.pools ?? []).map(pool => html`<p>Shared pool <strong>${pool.name}</strong>: ${Object.entries(pool).filter(([k]) => k !== 'name').map(([k, v]) => `${k.replaceAll('_', ' ')} ${typeof v === 'number' ? short(v) : v}`).join(', ')}</p>`)}
            <h2>Hot prefixes</h2>
            ${seen.prefixes.length ? table(`The ${seen.prefixes.length} prefixes that most requests begin with`, Object.values(C), seen.prefixes.map(p => html`<tr>
                ${cell(C.model, p.model)}
                ${cell(C.tokens, html`${count(p.tokens)} tokens<br><span class="muted">${count(p.blocks)} blocks</span>`)}
                ${cell(C.hits, bar(p.hits, most, count(p.hits)))}
                ${cell(C.last, since(p.last))}
                ${cell(C.text, p.text === undefined ? html`<span class="muted">${seen.text_kept ? DASH : 'not kept'}</span>` : html`<q>${p.text}</q>`)}
                ${cell(C.holders, p.holders.length ? p.holders.map(h => html`<div><strong>${h.worker}${h.dp_rank ? ` rank ${h.dp_rank}` : ''}</strong> ${held(h, p.blocks)}</div>`) : 'nobody')}</tr>`))
                : note('off', 'No prefix has been asked for twice lately.')}
            <h2>Who has how much of a prompt?</h2>
            <form class="ask" @submit=${ask}>
                <label>Model <select name="model">${models.map(m => html`<option>${m}</option>`)}</select></label>
                <label>As <select name="as"><option value="messages">a user's message (chat)</option><option value="prompt">text (completion)</option></select></label>
                <label class="whole">Prompt <textarea name="text" rows="5" required></textarea></label>
                <button type="submit" ?disabled=${asking}>Ask</button>
            </form>
            <div id="answer" aria-live="polite">${answer ? answered(answer) : nothing}</div>`, root);
    }
    return stop;
}

function evictions(e) {
    if (!e) return nothing;
    return Object.entries(e).map(([name, value]) => tile(name.replaceAll('_', ' '), typeof value !== 'number' ? DASH : name.endsWith('part') ? percent(value) : short(value)));
}

function answered({told, problem}) {
    if (problem) return note('bad', problem);
    const d = told.decision ?? told;
    const blocks = Math.max(1, d.chosen.booked_blocks);
    return html`<p id="asked">${count(d.prompt_tokens)} tokens. It would go to <strong>${d.chosen.worker}</strong>: ${d.reason}.</p>
        ${table('What each candidate holds of it', Object.values(A), d.candidates.map(c => html`<tr>
            ${cell(A.worker, `${c.worker}${c.dp_rank ? ` rank ${c.dp_rank}` : ''}`)}
            ${cell(A.held, c.terms ? held(c.terms, blocks) : c.reason ?? DASH)}
            ${cell(A.part, d.prompt_tokens && c.terms?.cached_tokens !== undefined ? percent(c.terms.cached_tokens / d.prompt_tokens) : DASH)}</tr>`))}`;
}
