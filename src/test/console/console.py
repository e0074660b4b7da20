#!/usr/bin/env python3
"""The console in a real browser (headless Chromium) in front of a simulated fleet.

  console.py [--smoke] [--only NAME]

Each page loads in both themes and at 1280 and 400 pixels, says nothing to the browser's log and has no violation that axe-core finds; live rows arrive; a click explains;
a prompt can be asked for; a worker is drained and resumed, by no other page of the gateway; a wrong token is refused; a gateway that restarts is followed again; the heaviest tenant stands first. Without
--smoke also: 500 decisions a second for a minute with ten consoles open, and what that costs the gateway. Screenshots are in target/console, logs in target/console/logs.
The exit code is 1 when a check fails.
"""
import argparse
import pathlib
import sys
import time
import traceback

sys.dont_write_bytecode = True
HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE.parent / "attack"), str(HERE.parent / "python" / "process")]

from browser import Browser  # noqa: E402
from fleet import Fleet  # noqa: E402
from heavy import heavy  # noqa: E402

ROOT = HERE.parents[2]
PAGES = {"fleet": "Fleet", "decisions": "Live decisions", "cache": "Cache", "truth": "Truth", "usage": "Tenants and models", "sessions": "Sessions and pins"}
WIDTHS = (1280, 400)
MOST_BYTES = 300_000


class Failed(Exception):
    """A check found something else than it wanted."""


def want(found, what):
    if not found:
        raise Failed(what)
    return found


def pages(browser, fleet, folder):
    """Every page: its heading, nothing in the browser's log, nothing wider than the window, nothing that axe-core finds."""
    fleet.traffic(12)
    found = []
    for theme in ("light", "dark"):
        for width in WIDTHS:
            browser.size(width)
            for page, heading in PAGES.items():
                browser.open(f"{fleet.url}/console/#/{page}", theme)
                browser.until(lambda: browser.text("h1") == heading, f"{page}: the heading {heading}")
                browser.until(browser.quiet, f"{page}: loaded")
                wide = browser.js("return document.scrollingElement.scrollWidth - innerWidth")
                if wide > 0:
                    found.append(f"{page} at {width}, {theme}: {wide} pixels wider than the window")
                found += [f"{page} at {width}, {theme}: {v}" for v in browser.violations()]
                browser.picture(folder / f"{page}-{width}-{theme}.png")
    found += browser.complaints()
    want(not found, "\n".join(found))


def doubted(browser, fleet, folder):
    """Why something was not predicted is on the page of the truth, and counted there."""
    fleet.chat("hidden", "doubted-1", functions=[{"name": "f"}])
    browser.open(f"{fleet.url}/console/#/truth", "light")
    browser.until(lambda: any("a member hides the prompt's tokens" in row for row in browser.texts("tbody tr")), "the reason of doubted-1")


def detector(browser, fleet, folder):
    """The checks of pages find what is planted: an image without words, an error of a script, a wide element."""
    browser.open(f"{fleet.url}/console/#/fleet", "light")
    browser.until(browser.quiet, "loaded")
    browser.js("const i = document.createElement('img'); i.src = 'icon.svg'; document.getElementById('content').append(i);"
               "const w = document.createElement('div'); w.style.width = '5000px'; w.textContent = 'x'; document.body.append(w);")
    want(any("image-alt" in v for v in browser.violations()), "axe-core did not find an image without words")
    want(browser.js("return document.scrollingElement.scrollWidth > innerWidth"), "a wide element was not found")
    browser.js("setTimeout(() => { throw new Error('planted'); }, 0)")
    browser.until(lambda: any("planted" in c for c in browser.complaints()), "an error of a script is in the log")
    browser.js("const s = document.createElement('script'); s.textContent = 'window.inline = 1'; document.body.append(s);")
    want(browser.js("return window.inline === undefined"), "a script in the page was run: the policy lets it")
    browser.complaints()


def weight(browser, fleet, folder):
    """All that the first page loads is below 300 kB; when it is painted first."""
    browser.fresh(f"{fleet.url}/console/")
    browser.until(browser.quiet, "loaded")
    own, size = browser.js("const r = [...performance.getEntriesByType('navigation'), ...performance.getEntriesByType('resource')];"
                           "const files = r.filter(e => e.name.includes('/console/'));"
                           "return [files.length, files.reduce((s, e) => s + e.decodedBodySize, 0)]")
    paint = browser.js("return performance.getEntriesByName('first-contentful-paint')[0].startTime")
    foreign = browser.js("return performance.getEntriesByType('resource').map(e => e.name).filter(n => !n.startsWith(location.origin))")
    print(f"console: page weight {size / 1000:.0f} kB in {own} files, first contentful paint after {paint:.0f} ms")
    want(own > 10 and size < MOST_BYTES, f"{size} bytes in {own} files; less than {MOST_BYTES} are wanted")
    want(not foreign, f"asked elsewhere: {foreign}")


def root_leads_here(browser, fleet, folder):
    """`/` in a browser is the console; for programs it is what it was."""
    browser.open(f"{fleet.url}/", "light")
    browser.until(lambda: browser.js("return location.pathname") == "/console/", "/ leads to /console/")
    status, body = fleet.get("/")
    want(status == 404 and "unknown_url" in body, f"GET / without Accept: {status} {body[:200]}")


def live(browser, fleet, folder):
    """A request that is sent while the page is open stands in it, and a click on it explains."""
    browser.size(1280)
    browser.open(f"{fleet.url}/console/#/decisions", "light")
    browser.until(lambda: "connected" in browser.text("#stream"), "the stream is connected")
    fleet.chat("the live one " * 80, "live-1")
    fleet.chat("the live one " * 80, "live-2")
    browser.until(lambda: browser.has("a[href='#/decisions/live-2']"), "the row of live-2")
    browser.until(lambda: "200" in browser.row("live-2"), "its answer")
    row = browser.row("live-2")
    want("demo" in row and "lowest cost" in row and "as predicted" in row, f"the row says: {row}")
    browser.fill("input[name=request_id]", "live-1")
    browser.until(lambda: not browser.has("a[href='#/decisions/live-2']") and browser.has("a[href='#/decisions/live-1']"), "the filter shows live-1 alone")
    browser.fill("input[name=request_id]", "")
    browser.until(lambda: browser.has("a[href='#/decisions/live-2']"), "without the filter live-2 is there again")
    browser.click("a[href='#/decisions/live-2']")
    browser.until(lambda: "Why did live-2 go there?" in browser.text("h1"), "the explanation")
    browser.until(lambda: browser.has("#runner-up"), "what the runner-up lacked")
    told = browser.text("main")
    for word in ("Next would have been", "computes the new tokens", "chosen", "candidates, the cheapest first", "By the cost", "blocks"):
        want(word in told, f"the explanation lacks: {word}\n{told}")
    browser.click("summary")
    want("prefill_ms" in browser.text("details"), "the terms")
    want(not browser.violations(), f"{browser.violations()}")
    browser.picture(folder / "why.png")
    browser.open(f"{fleet.url}/console/#/decisions/nobody-has-asked-this", "light")
    browser.until(lambda: "No decision of this request is kept" in browser.text("main"), "an unknown request is said to be unknown")


def asked(browser, fleet, folder):
    """Who has how much of a prompt."""
    fleet.chat("a prompt that one engine has " * 40, "asked-1")
    browser.open(f"{fleet.url}/console/#/cache", "light")
    browser.until(lambda: browser.has("textarea"), "the form")
    browser.fill("textarea", "a prompt that one engine has " * 40)
    browser.click("form.ask button")
    browser.until(lambda: browser.has("#asked"), "the answer")
    want("It would go to" in browser.text("#asked") and "GPU" in browser.text("#answer"), browser.text("#answer"))


def drained(browser, fleet, folder):
    """Drain, with confirmation: the worker gets nothing new; resume."""
    browser.open(f"{fleet.url}/console/#/fleet", "light")
    browser.until(lambda: browser.has("button[aria-label='Drain w0']"), "the button")
    browser.click("button[aria-label='Drain w0']")
    browser.until(lambda: browser.js("return document.getElementById('confirm').open"), "the question")
    browser.click("#confirm button[value=no]")
    want(fleet.json("/workers/w0")["state"] == "ready", "drained though the answer was no")
    browser.click("button[aria-label='Drain w0']")
    browser.until(lambda: browser.js("return document.getElementById('confirm').open"), "the question")
    browser.click("#confirm-yes")
    browser.until(lambda: browser.has("button[aria-label='Resume w0']"), "w0 is drained")
    for i in range(6):
        fleet.chat(f"while drained {i} " * 20, f"drained-{i}")
    went = {d["worker"] for d in fleet.json("/router/decisions?limit=6&detail=false")["decisions"]}
    want("w0" not in went, f"requests went to a drained worker: {went}")
    browser.click("button[aria-label='Resume w0']")
    browser.until(lambda: browser.js("return document.getElementById('confirm').open"), "the question")
    browser.click("#confirm-yes")
    browser.until(lambda: browser.has("button[aria-label='Drain w0']"), "w0 is back")


def other_page(browser, fleet, folder):
    """Another page of this origin may neither read what proves the console nor drain a worker, whatever referrer it makes up."""
    browser.driver.get(f"{fleet.url}/live")
    got = browser.driver.execute_async_script(
        "const done = arguments[0]; const ask = async () => {"
        "const proof = (await (await fetch('/console/')).text()).match(/warmpath-console\" content=\"([^\"]*)\"/)[1];"
        "const drain = {method: 'POST', referrer: '/console/', headers: {'x-warmpath-console': proof}};"
        "return [proof, (await fetch('/workers')).status, (await fetch('/workers/w0/drain', drain)).status]}; ask().then(done, e => done([String(e)]))")
    want(got == ["", 403, 403], f"proof, read, drain: {got}")
    want(fleet.json("/workers/w0")["state"] == "ready", "w0 is drained")
    browser.complaints()  # 403s are in the log, as they should


def ill(browser, fleet, folder):
    """An engine that dies is named, with its reason, on the first page."""
    browser.open(f"{fleet.url}/console/#/fleet", "light")
    browser.until(lambda: browser.has("button[aria-label='Drain w2']"), "w2 is there")
    fleet.stop_engine(2)
    browser.until(lambda: any("w2 is unhealthy" in n for n in browser.texts(".note.bad")), "w2 is said to be ill", 60)
    fleet.start_engine(2)
    browser.until(lambda: not browser.has(".note.bad"), "w2 is well again", 60)


def heaviest(browser, fleet, folder):
    """Who uses most stands first, and what caching has saved is said."""
    for i in range(12):
        fleet.chat(f"heavy {i} " * 300, f"heavy-{i}", tenant="acme")
    fleet.chat("light", "light-1", tenant="globex")
    browser.open(f"{fleet.url}/console/#/usage", "light")
    browser.until(lambda: browser.has("tbody tr"), "rows")
    rows = browser.texts("tbody tr")
    want("acme" in rows[0] and any("globex" in r for r in rows[1:]), f"rows: {rows}")
    want(all(name in browser.text("main") for name in ("Prefill saved", "Cached")), "what was saved")


def restarted(browser, fleet, folder):
    """The page stays open while the gateway ends and comes back: it says so, and goes on."""
    browser.open(f"{fleet.url}/console/#/decisions", "light")
    browser.until(lambda: "connected" in browser.text("#stream"), "the stream is connected")
    fleet.stop_gateway()
    browser.until(lambda: "does not answer" in browser.text("#gateway") or "has ended" in browser.text("#gateway"), "the page says that the gateway is away")
    fleet.start_gateway()
    browser.until(lambda: "connected" in browser.text("#stream"), "connected again", 60)
    fleet.chat("after the restart", "after-1")
    browser.until(lambda: browser.has("a[href='#/decisions/after-1']"), "a row of the new process")
    browser.complaints()  # refused connections are in the log, as they should


def token(browser, fleet, folder):
    """With an admin token: nothing without it, a wrong one is refused, the right one is kept in memory alone."""
    secret = "a-token-for-the-console-of-this-test"
    fleet.stop_gateway()
    fleet.start_gateway("--admin-token-file", str(fleet.secret(secret)))
    try:
        browser.open(f"{fleet.url}/console/#/fleet", "light")
        browser.until(lambda: browser.js("return document.getElementById('login').open"), "the form for the token")
        browser.fill("#token", "wrong")
        browser.click("#login button")
        browser.until(lambda: "not the gateway's admin token" in browser.text("#login-why") and browser.js("return document.getElementById('login').open"), "a wrong token is refused")
        want(not browser.has("button[aria-label='Drain w0']"), "the fleet is shown without the token")
        browser.picture(folder / "login.png")
        browser.fill("#token", secret)
        browser.click("#login button")
        browser.until(lambda: browser.has("button[aria-label='Drain w0']"), "the fleet")
        kept = browser.js("return JSON.stringify(localStorage) + JSON.stringify(sessionStorage) + document.cookie")
        want(secret not in kept, "the token was written down")
        browser.open(f"{fleet.url}/console/#/decisions", "light", again=False)
        browser.until(lambda: "connected" in browser.text("#stream"), "the stream, with the token")
    finally:
        browser.complaints()  # 403s are in the log, as they should
        fleet.stop_gateway()
        fleet.start_gateway()


CHECKS = (pages, detector, weight, root_leads_here, live, asked, doubted, drained, other_page, ill, heaviest, restarted, token)


def main():
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--smoke", action="store_true")
    options.add_argument("--only", default="")
    options.add_argument("--axe", default=str(ROOT / ".tools/axe-core/axe.min.js"))
    given = options.parse_args()
    folder = ROOT / "target" / "console"
    folder.mkdir(parents=True, exist_ok=True)
    for old in (*folder.glob("*.png"), *folder.glob("logs/*")):
        old.unlink()
    checks = [c for c in (*CHECKS, *(() if given.smoke else (heavy,))) if given.only in c.__name__]
    if not checks:
        sys.exit(f"console: there is no check {given.only}")
    failed = []
    with Fleet(folder) as fleet, Browser(pathlib.Path(given.axe)) as browser:
        for check in checks:
            began = time.monotonic()
            try:
                check(browser, fleet, folder)
                print(f"console: {check.__name__}: holds, {time.monotonic() - began:.1f} s", flush=True)
            except Exception as e:
                failed.append(check.__name__)
                browser.picture(folder / f"failed-{check.__name__}.png")
                print(f"console: {check.__name__}: FAILED: {e if isinstance(e, (Failed, TimeoutError)) else traceback.format_exc()}", flush=True)
    print(f"console: {len(checks) - len(failed)} of {len(checks)} checks hold" + (f"; failed: {', '.join(failed)}" if failed else ""))
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
