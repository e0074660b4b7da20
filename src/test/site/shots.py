#!/usr/bin/env python3
"""The documentation site in a real browser (headless Chromium).

  shots.py SITE FOLDER

Serves SITE on a free port of 127.0.0.1 and looks at pages in both colours and at two widths: nothing is wider than the window, nothing is asked of
elsewhere, the browser's log is empty, diagrams are drawn, the search finds a page and leads to it,
and an old address does. Screenshots go into FOLDER. The exit code is 1
when something else is found.
"""
import functools
import http.server
import pathlib
import sys
import threading

sys.dont_write_bytecode = True
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "console"))

from browser import Browser  # noqa: E402

PAGES = {"front": "", "settings": "reference/configuration/", "http-api": "reference/http-api/", "errors": "reference/errors/",
         "commands": "reference/commands/", "c-abi": "reference/c-abi/", "python": "reference/python-clients/", "routing": "explanation/routing/",
         "operations": "how-to/operations/", "architecture": "explanation/architecture/", "caching": "explanation/caching/",
         "source": "source/src-cpp/sync/epoch.hpp/", "results": "perf/results/"}
# What a newcomer looks for: words, and the page that has the answer.
WANTED = {"limits per tenant": "how-to/tenants-and-limits", "drain a worker": "how-to/operations", "NATS": "how-to/nats", "latency cost": "explanation/routing",
          "cost in milliseconds": "explanation/routing", "metrics": "reference/metrics", "rate_limit_exceeded": "reference/errors"}
MOVED = {"routing/#cost-in-milliseconds": "explanation/routing/#cost-in-milliseconds"}
SHOWN = 5
# The generator keeps its search in a shadow root.
BOX = "[...document.querySelectorAll('div')].find(e => e.shadowRoot?.querySelector('dialog'))?.shadowRoot"
WIDTHS = (1280, 400)


def looked_at(browser, url, folder):
    found = []
    for scheme in ("light", "dark"):
        browser.driver.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": [{"name": "prefers-color-scheme", "value": scheme}]})
        for width in WIDTHS:
            browser.size(width)
            for name, path in PAGES.items():
                browser.fresh(url + path)
                browser.until(lambda: browser.text("h1") != "", f"{path}: a heading")
                wide = browser.js("return document.scrollingElement.scrollWidth - innerWidth")
                if wide > 0:
                    found.append(f"{path or '/'} at {width}: {wide} pixels wider than the window")
                found += [f"{path or '/'} asks {asked}" for asked in foreign(browser)]
                browser.picture(folder / f"{name}-{width}-{scheme}.png")
    return found + browser.complaints()


def foreign(browser):
    return browser.js("return performance.getEntriesByType('resource').map(e => e.name).filter(n => !n.startsWith(location.origin) && !n.startsWith('blob:'))")


def drawn(browser, url, folder):
    """Diagrams are drawn, not shown as text."""
    browser.size(1280)
    browser.fresh(url + "explanation/architecture/")
    # The generator draws into a shadow root.
    browser.until(lambda: browser.js("return [...document.querySelectorAll('div.mermaid')].filter(e => e.getBoundingClientRect().height > 200).length") == 2, "two diagrams")
    browser.js("document.querySelector('div.mermaid').scrollIntoView()")
    browser.picture(folder / "diagram.png")
    return [f"diagrams ask {asked}" for asked in foreign(browser)]


def searched(browser, url, folder):
    """What a newcomer looks for is among the first results, and a click leads there."""
    found = []
    browser.size(1280)
    for words, page in WANTED.items():
        browser.fresh(url)
        browser.until(lambda: browser.text("h1") != "", "the front page")
        browser.click(".md-search__button")
        browser.until(lambda: browser.js(f"return {BOX}?.querySelector('input') != null"), "the search")
        browser.js(f"return {BOX}.querySelector('input')").send_keys(words)
        try:
            browser.until(lambda: page in results(browser)[:SHOWN], f"{page} for {words!r}")
        except TimeoutError:
            found.append(f"search: {words!r} does not lead to {page}: {results(browser)[:SHOWN]}")
        browser.picture(folder / f"search-{words.replace(' ', '-')}.png")
    at = results(browser).index(page) if not found else 0
    browser.js(f"{BOX}.querySelectorAll('ol a')[{at}].click()")
    browser.until(lambda: found or page in browser.js("return location.pathname"), f"a click leads to {page}")
    return found


def moved(browser, url):
    """An old address leads to the new one, with the place on the page."""
    for old, new in MOVED.items():
        browser.fresh(url + old)
        browser.until(lambda: browser.js("return location.href") == url + new, f"{old} leads to {new}")
    return browser.complaints()


def results(browser):
    """The pages that the search shows, best first."""
    paths = browser.js(f"return [...{BOX}.querySelectorAll('ol a')].map(a => new URL(a.href).pathname)")
    return [path.strip("/") for path in dict.fromkeys(paths)]


def main():
    site, folder = map(pathlib.Path, sys.argv[1:3])
    folder.mkdir(parents=True, exist_ok=True)
    for old in folder.glob("*.png"):
        old.unlink()
    handler = functools.partial(http.server.SimpleHTTPRequestHandler, directory=site)
    http.server.SimpleHTTPRequestHandler.log_message = lambda *_: None
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    with Browser(None) as browser:
        url = f"http://127.0.0.1:{server.server_port}/"
        found = looked_at(browser, url, folder) + drawn(browser, url, folder) + searched(browser, url, folder) + moved(browser, url)
    for fault in found:
        print(f"site: {fault}")
    print(f"site: {len(PAGES)} pages looked at in two colours and two widths, {len(found)} faults; screenshots in {folder}")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
