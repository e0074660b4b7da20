// The frame of the console: which page is shown, the token, the theme, and whether the gateway answers.

import {html, render} from './vendor/lit-html/lit-html.js';
import {ApiError, get, useToken} from './api.js';
import {badge, duration} from './format.js';
import * as fleet from './fleet.js';
import * as decisions from './decisions.js';
import * as cache from './cache.js';
import * as truth from './truth.js';
import * as usage from './usage.js';
import * as sessions from './sessions.js';

const PAGES = {fleet, decisions, cache, truth, usage, sessions};
const content = document.getElementById('content');
const login = document.getElementById('login');
const HEAD_MS = 10000;
const frame = {gateway: null, told: -Infinity, stop: () => {}};

/** What pages may ask of the frame. */
const context = {
    /** Calls `work` now and each `ms` while the page is shown and seen; its errors are shown. Returns what ends it. */
    poll(work, ms) {
        const ended = new AbortController();
        let timer;
        const turn = async () => {
            if (!document.hidden) {
                try {
                    await work(ended.signal);
                    if (!ended.signal.aborted) context.well();
                } catch (e) {
                    if (!ended.signal.aborted) context.failed(e);
                }
            }
            if (!ended.signal.aborted) timer = setTimeout(turn, ms);
        };
        turn();
        return () => {
            ended.abort();
            clearTimeout(timer);
        };
    },

    well() {
        say('', frame.gateway);
    },

    failed(error) {
        frame.told = -Infinity; // the head asks for itself
        if (error instanceof ApiError && error.needsToken) {
            askForToken(error.message);
        } else if (error instanceof ApiError) {
            say(error.message);
        } else {
            console.error(error);
            say(`The console failed: ${error.message}`);
        }
    },

    /** The gateway's part of GET /fleet: pages that have it need not wait for the head's own. */
    gateway(now) {
        frame.gateway = now;
        frame.told = performance.now();
        say('', now);
    },

    /** Asks before something is done that cannot be taken back by looking away. */
    confirm(title, text, action) {
        const dialog = document.getElementById('confirm');
        document.getElementById('confirm-title').textContent = title;
        document.getElementById('confirm-text').textContent = text;
        document.getElementById('confirm-yes').textContent = action;
        dialog.returnValue = 'no';
        dialog.showModal();
        return new Promise(resolve => dialog.addEventListener('close', () => resolve(dialog.returnValue === 'yes'), {once: true}));
    },

    /** A sentence for the status line and for screen readers. */
    say: text => say(text),
};

function say(problem, gateway) {
    render(problem
        ? html`${badge('bad', problem)}`
        : gateway
            ? html`${gateway.ready ? badge('good', 'ready') : badge('bad', 'not ready')}
                <span>v${gateway.version}</span>
                <span class="wide">${gateway.mode}, cost ${gateway.cost}</span>
                <span class="wide">up ${duration((Date.now() - Date.parse(gateway.started)) / 1000)}</span>`
            : html`connecting`, document.getElementById('gateway'));
}

function askForToken(why) {
    document.getElementById('login-why').textContent = why;
    if (!login.open) login.showModal();
}

login.addEventListener('close', async () => {
    const field = document.getElementById('token');
    useToken(field.value);
    field.value = '';
    try {
        await get('/fleet?history=false');
        show();
    } catch (e) {
        context.failed(e instanceof ApiError && e.needsToken ? new ApiError(e.status, 'This token is not the gateway\'s admin token.') : e);
    }
});
login.addEventListener('cancel', event => event.preventDefault()); // nothing can be seen without it

function show() {
    const [name, ...rest] = location.hash.replace(/^#\/?/, '').split('/');
    const page = PAGES[name] ? name : 'fleet';
    frame.stop();
    const root = document.createElement('div');
    content.replaceChildren(root);
    document.title = `${PAGES[page].title} · Warmpath`;
    render(Object.entries(PAGES).map(([key, p]) =>
        html`<a href="#/${key}" aria-current=${key === page ? 'page' : 'false'}>${p.title}</a>`), document.getElementById('pages'));
    frame.stop = PAGES[page].start(root, context, rest.map(decodeURIComponent)) ?? (() => {});
}

/** Dark, light, or as the system has it. */
const THEMES = {system: 'dark', dark: 'light', light: 'system'};
const theme = document.getElementById('theme');
function dress(wanted) {
    document.documentElement.dataset.theme = wanted;
    theme.textContent = `Theme: ${wanted}`;
    try {
        localStorage.setItem('warmpath-theme', wanted);
    } catch {
        // a browser that keeps nothing: the theme lasts as long as the page
    }
}
theme.addEventListener('click', () => dress(THEMES[document.documentElement.dataset.theme]));
let kept = null;
try {
    kept = localStorage.getItem('warmpath-theme');
} catch {
    // as above
}
dress(THEMES[kept] ? kept : 'system');

/** Whatever page is shown, its head says how the gateway is; it asks where the page has not. */
context.poll(async signal => {
    if (performance.now() - frame.told > HEAD_MS / 2) context.gateway((await get('/fleet?history=false', signal)).gateway);
}, HEAD_MS);

window.addEventListener('hashchange', () => {
    if (location.hash.startsWith('#/')) show();
});
show();
