// The gateway's operators' API: JSON, and the stream of decisions. The admin token is kept in this module's memory alone.

const ROOT = new URL('..', document.baseURI); // a proxy may have put all of it below a path of its own

let token = '';

/** Shows that the gateway has given this page: it changes nothing for others. */
const PAGE = document.querySelector('meta[name=warmpath-console]').content;

export function useToken(value) {
    token = value;
}

/** An answer that is no success; `status` 0: there was no answer. */
export class ApiError extends Error {
    /** `stale`: a page of an earlier start of the gateway, which no token helps. */
    constructor(status, message, stale = false) {
        super(message);
        this.status = status;
        this.stale = stale;
    }

    get needsToken() {
        return !this.stale && (this.status === 401 || this.status === 403);
    }
}

async function ask(method, path, body, signal) {
    const headers = {accept: 'application/json'};
    if (token) headers.authorization = `Bearer ${token}`;
    if (method !== 'GET') headers['x-warmpath-console'] = PAGE;
    if (body !== undefined) headers['content-type'] = 'application/json';
    let response;
    try {
        response = await fetch(new URL(path.slice(1), ROOT), {method, headers, signal, cache: 'no-store', body: body === undefined ? undefined : JSON.stringify(body)});
    } catch (e) {
        if (signal?.aborted) throw e;
        throw new ApiError(0, 'The gateway does not answer.');
    }
    if (!response.ok) throw new ApiError(response.status, await reason(response), method !== 'GET' && !token);
    return response;
}

async function reason(response) {
    const text = await response.text();
    try {
        return JSON.parse(text).error.message;
    } catch {
        return text || `HTTP ${response.status}`;
    }
}

async function json(response) {
    const text = await response.text();
    return text ? JSON.parse(text) : null;
}

export const get = async (path, signal) => json(await ask('GET', path, undefined, signal));
export const post = async (path, body) => json(await ask('POST', path, body));
export const remove = async path => json(await ask('DELETE', path));

/** A path with those parameters that have a value. */
export function query(path, parameters) {
    const given = Object.entries(parameters).filter(([, value]) => value !== '' && value !== undefined && value !== null);
    return given.length ? `${path}?${new URLSearchParams(given)}` : path;
}

const FIRST_PAUSE_MS = 500;
const LONGEST_PAUSE_MS = 5000;
const SILENCE_MS = 40000; // the gateway says something each 15 s

/**
 * Follows a stream of server-sent events until `signal` aborts, over connections that break and gateways that restart.
 * `onEvent(name, data)` gets each event, `onState(connected, why)` each change.
 */
export async function follow(path, {onEvent, onState, signal}) {
    let pause = FIRST_PAUSE_MS;
    while (!signal.aborted) {
        const silence = new AbortController();
        const either = AbortSignal.any([signal, silence.signal]);
        let watchdog;
        const heard = () => {
            clearTimeout(watchdog);
            watchdog = setTimeout(() => silence.abort(), SILENCE_MS);
        };
        let why = 'The stream has ended.';
        try {
            heard();
            const response = await ask('GET', path, undefined, either);
            pause = FIRST_PAUSE_MS;
            onState(true, '');
            await read(response.body, onEvent, heard);
        } catch (e) {
            if (signal.aborted) return;
            why = e instanceof ApiError ? e.message : 'The connection to the gateway has ended.';
            if (e.needsToken) {
                onState(false, why, e);
                return;
            }
        } finally {
            clearTimeout(watchdog);
        }
        onState(false, why);
        await new Promise(resolve => setTimeout(resolve, pause));
        pause = Math.min(2 * pause, LONGEST_PAUSE_MS);
    }
}

async function read(body, onEvent, heard) {
    const reader = body.pipeThrough(new TextDecoderStream()).getReader();
    let rest = '';
    for (;;) {
        const {value, done} = await reader.read();
        if (done) return;
        heard();
        const events = (rest + value).split('\n\n');
        rest = events.pop();
        for (const event of events) {
            let name = 'message';
            let data = '';
            for (const line of event.split('\n')) {
                if (line.startsWith('event:')) name = line.slice(6).trim();
                if (line.startsWith('data:')) data += line.slice(5).trim();
            }
            if (data) onEvent(name, JSON.parse(data));
        }
    }
}
