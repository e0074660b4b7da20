"""Pages of other sites in a browser that can reach the gateway: what they may ask, names of theirs that lead here, and engines' answers that a browser shows."""
import http.server
import shutil
import subprocess
import tempfile
import threading
import time
import urllib.parse

import engine
import frames
import wire
from certificates import Authority
from naive import Naive
from suite import Attack, Broken, Skipped, expect

NAME = "pages of other sites"
HOLDS = "other sites, sandboxes and names that lead here get 403; an engine's page is bytes in a sandbox, also in Chromium; only the console's own page changes anything"
JSON = ("Content-Type: application/json",)
PLAIN = ("Content-Type: text/plain",)  # a page may send it anywhere without asking first
ASKED = (("POST", "/v1/chat/completions", PLAIN), ("POST", "/v1/chat/completions", JSON), ("POST", "/v1/completions", PLAIN), ("POST", "/v1/embeddings", JSON),
         ("POST", "/v1/messages", PLAIN), ("POST", "/v1/messages/count_tokens", PLAIN), ("POST", "/tokenize", PLAIN), ("POST", "/router/best_worker", PLAIN),
         ("GET", "/v1/models", ()), ("GET", "/v1/models/demo", ()), ("GET", "/metrics", ()), ("GET", "/metrics/x", ()))
# What a browser says of a page: of another site, of another port of this machine, in a sandbox, of a name that leads here, or of the gateway's own, twice.
FOREIGN = {
    "another site": ("OWN", "Origin: http://evil.test", "Sec-Fetch-Site: cross-site", "Referer: http://evil.test/"),
    "another site, no origin": ("OWN", "Sec-Fetch-Site: cross-site", "Sec-Fetch-Mode: no-cors"),
    "another site, a link": ("OWN", "Sec-Fetch-Site: cross-site", "Sec-Fetch-Mode: navigate", "Sec-Fetch-Dest: document"),
    "an old browser's": ("OWN", "Origin: http://evil.test"),
    "a sandbox": ("OWN", "Origin: null", "Sec-Fetch-Site: cross-site"),
    "a sandbox, old": ("OWN", "Origin: null"),
    "a sandbox of this origin": ("OWN", "Origin: null", "Sec-Fetch-Site: same-origin"),
    "another port": ("OWN", "Origin: http://127.0.0.1:9", "Sec-Fetch-Site: same-site"),
    "the name and more": ("OWN", "Origin: http://OWN.evil.test"),
    "the name as a user": ("OWN", "Origin: http://OWN@evil.test"),
    "two origins": ("OWN", "Origin: http://OWN", "Origin: http://evil.test"),
    "two sites": ("OWN", "Sec-Fetch-Site: same-origin", "Sec-Fetch-Site: cross-site"),
    "a socket": ("OWN", "Origin: http://evil.test", "Connection: Upgrade", "Upgrade: websocket", "Sec-WebSocket-Version: 13", "Sec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA=="),
    "a name that leads here": ("evil.test",),
    "a name that leads here, POST": ("evil.test:PORT", "Origin: http://evil.test:PORT", "Sec-Fetch-Site: same-origin", "Referer: http://evil.test:PORT/x"),
    "such a name as a proxy": ("evil.test", "X-Forwarded-For: 192.0.2.1", "Via: 1.1 proxy"),
    "a name with a dot behind": ("evil.test.",),
    "localhost as a part": ("localhost.evil.test:PORT",),
    "an address as a part": ("127.0.0.1.nip.io",),
}
OWN = {
    "curl": ("OWN",), "curl, localhost": ("localhost:PORT",), "a name without a dot": ("gateway",), "an address": ("192.168.1.5:PORT",),
    "a name of a cluster": ("gateway.ns.svc.cluster.local",), "typed by the user": ("OWN", "Sec-Fetch-Site: none", "Sec-Fetch-Mode: navigate"),
    "the gateway's own page": ("OWN", "Origin: http://OWN", "Sec-Fetch-Site: same-origin"),
}
DROPPED = ("Set-Cookie: a=b", "Location: http://evil.test/", "Refresh: 0; url=/console/", "Link: </x.js>; rel=preload", 'Clear-Site-Data: "*"', "Service-Worker-Allowed: /",
           "Access-Control-Allow-Origin: *", "Strict-Transport-Security: max-age=1", 'Alt-Svc: h3=":443"', "Content-Disposition: attachment; filename=a.html", "NEL: {}",
           "Report-To: {}", "SourceMap: /x", "WWW-Authenticate: Basic realm=x")
HTML = b"<script>fetch('/workers').then(r => r.text()).then(t => fetch('/workers/w1/drain', {method: 'POST'})).finally(() => fetch('REPORT'))</script>"


def told(target, of):
    own = f"{target.host}:{target.port}"
    host, *headers = (part.replace("OWN", own).replace("PORT", str(target.port)) for part in of)
    return host, headers


def asks(of, allowed, paths=ASKED):
    """Every endpoint for clients, asked as this page asks."""
    def run(target):
        host, headers = told(target, of)
        before = len(target.engine.asked())
        wrong = []
        for method, path, type_ in paths:
            answer = wire.one(target, wire.request(method, path, wire.chat_body("page") if method == "POST" else b"", (*type_, *headers), host))
            status = answer and answer.status
            if status != 403 if not allowed else status == 403:
                wrong.append(f"{method} {path} {status}")
            elif not allowed and b"--cors-origins" not in answer.body:
                wrong.append(f"{method} {path} does not say what to do: {answer.body[:100]}")
        expect(not wrong, f"{len(wrong)} of {len(paths)}: {wrong[:4]}")
        seen = len(target.engine.asked()) - before
        expect(allowed or seen == 0, f"the engine got {seen} requests")
        return "go on" if allowed else "403"
    return run


def preflight(target):
    got = []
    for path in ("/v1/chat/completions", "/v1/models", "/metrics", "/workers"):
        headers = ("Origin: http://evil.test", "Access-Control-Request-Method: POST", "Access-Control-Request-Headers: content-type")
        answer = wire.one(target, wire.request("OPTIONS", path, b"", headers))
        got.append(answer.status)
        expect(400 <= answer.status < 500 and answer.header("access-control-allow-origin") is None, f"{path} {answer.head}")
    return str(got)


def changes(request, headers, statuses=(403,)):
    """An operator's request, by a page that is not the console which this gateway has given."""
    def run(target):
        host, more = told(target, ("OWN", *headers))
        answer = wire.one(target, wire.request(*request.split(" "), b"{}" if request.startswith("POST") else b"", more, host))
        expect(answer is not None and answer.status in statuses, f"{answer and (answer.status, answer.body[:200])}")
        return str(answer.status)
    return run


def page_of(target, *headers):
    """What the console's page shows to prove itself, as it is given to whoever asks with these headers."""
    body = wire.one(target, wire.request("GET", "/console/", b"", headers)).body.decode()
    return body.partition('name="warmpath-console" content="')[2].partition('"')[0]


OPENED = ("Sec-Fetch-Mode: navigate", "Sec-Fetch-Dest: document")
CONSOLE = ("Sec-Fetch-Site: same-origin", "Referer: http://OWN/console/")


def not_read(target):
    """A script of this origin that reads the console is not told what proves it; who opens it is."""
    expect(len(page_of(target, *OPENED)) > 20, "the console itself is not told")
    for headers in ((), ("Sec-Fetch-Mode: cors", "Sec-Fetch-Dest: empty"), ("Sec-Fetch-Mode: navigate", "Sec-Fetch-Dest: iframe")):
        expect(page_of(target, *headers) == "", f"told to {headers}")
    return "told to the page alone"


def console_itself(target):
    return changes("POST /workers/nobody/drain", (*CONSOLE, f"x-warmpath-console: {page_of(target, *OPENED)}"), (404,))(target)


def headers_of(path, own=()):
    """What an engine's page is on its way to a browser; `own`: headers that take the request another way through the gateway."""
    def run(target):
        host, more = told(target, ("OWN", *own))
        answer = wire.one(target, wire.request("POST", path, wire.chat_body("page", prompt="page"), (*JSON, *more), host))
        expect(answer is not None, "no answer")
        harmless(answer.head)
        return f"{answer.status} {answer.header('content-type')}"
    return run


def harmless(head):
    lines = [line.lower() for line in head.split("\r\n")]
    for wanted in ("x-content-type-options: nosniff", "content-security-policy: sandbox"):
        expect(lines.count(wanted) == 1, f"not once {wanted}: {head}")
    names = [line.partition(":")[0] for line in lines]
    expect(names.count("content-security-policy") == 1 and names.count("x-content-type-options") == 1, f"twice: {head}")
    expect(not any("html" in line for line in lines), f"a page: {head}")
    passed = [name for name in names if name in [d.partition(":")[0].lower() for d in DROPPED]]
    expect(not passed, f"of the engine: {passed}")


def over_frames(target):
    with frames.Connection(target) as c:
        stream = c.ask(frames.asking(), wire.chat_body("page"))
        while (found := c.frame()) is not None:
            if found[0] == frames.HEADERS and found[2] == stream:
                expect(b"nosniff" in found[3] and b"sandbox" in found[3] and b"html" not in found[3] and b"set-cookie" not in found[3], f"{found[3][:400]}")
                return "nosniff, sandbox"
    raise Broken("no answer")


def frames_refused(*more):
    def run(target):
        with frames.Connection(target) as c:
            got = c.outcome(c.ask(frames.asking(more=more), wire.chat_body("page")))
        expect(got[0] == "status" and got[1] in (400, 403), f"{got[:2]}")
        return str(got[1])
    return run


class PageEngine:
    """Answers everything that clients ask of it with a page, whose script asks for `report` in the end."""

    def __init__(self, *headers):
        self.headers = ("Content-Type: text/html", "Content-Security-Policy: default-src * 'unsafe-inline'", "X-Content-Type-Options: off", *headers)
        self.report = "/report"

    def __call__(self, call, s):
        if call.method != "POST":
            return False
        body = HTML.replace(b"REPORT", self.report.encode())
        s.sendall("\r\n".join(["HTTP/1.1 200 X", f"Content-Length: {len(body)}", *self.headers]).encode() + b"\r\n\r\n" + body)
        return True


class Pages(Naive):
    """Passes an engine's page on as it is."""

    def __init__(self, page):
        self.page = page
        super().__init__()

    def answer(self, call, s):
        if not (call.path.startswith("/v1/") and self.page(call, s)):
            engine.send(s, 200, {})


class Site:
    """Another site: its page posts a form to the gateway; /ran is asked by the script of what comes back."""

    def __init__(self, target):
        self.seen = seen = []
        name = urllib.parse.quote('{"model":"demo","messages":[{"role":"user","content":"a')
        form = (f"<form id=f method=post enctype=text/plain action=http://{target.host}:{target.port}/v1/chat/completions><input id=i></form><script>"
                f"i.name=decodeURIComponent('{name}');i.value='b\"}}]}}';setTimeout(()=>f.submit(),200)</script>").encode()

        class Handler(http.server.BaseHTTPRequestHandler):
            def do_GET(self):
                seen.append(self.path)
                self.send_response(200)
                self.send_header("Content-Type", "text/html")
                self.send_header("Access-Control-Allow-Origin", "*")
                self.end_headers()
                self.wfile.write(form if self.path == "/" else b"")

            def log_message(self, *_):
                pass

        self.server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.port = self.server.server_address[1]
        threading.Thread(target=self.server.serve_forever, daemon=True).start()


def browsed(listed, page):
    """Real Chromium opens the page of another site. `listed`: that site may ask, so that the engine's page does come back."""
    def run(target):
        chromium = shutil.which("chromium") or shutil.which("google-chrome")
        if not chromium:
            raise Skipped("there is no Chromium here: on Debian, apt-get install chromium")
        before = len(target.engine.asked())
        site = Site(target)
        page.report = f"http://127.0.0.1:{site.port}/ran"
        with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as profile:
            browser = subprocess.Popen([chromium, "--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", f"--user-data-dir={profile}", "--host-resolver-rules=MAP evil.test 127.0.0.1",
                                "--disable-features=LocalNetworkAccessChecks,BlockInsecurePrivateNetworkRequests", f"http://evil.test:{site.port}/"],
                                       stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
            answered, end = None, time.monotonic() + 60
            while "/ran" not in site.seen and time.monotonic() < end:
                if answered is None and "/" in site.seen and (not listed or len(target.engine.asked()) > before):
                    answered = time.monotonic()
                if answered is not None and time.monotonic() > answered + 4:
                    break  # a script that runs asks at once, as the control shows
                time.sleep(0.05)
            browser.terminate()
            browser.wait(20)
        site.server.shutdown()
        expect("/" in site.seen, "the browser has not opened the page")
        asked = len(target.engine.asked()) - before
        if listed:
            expect(asked > 0, "the form has not come to the engine: nothing was tried")
        expect("/ran" not in site.seen, f"the engine's script has run, after {asked} requests to it")
        expect(listed or asked == 0, f"the engine got {asked} requests of the page")
        return f"no script has run; the engine got {asked} requests"
    return run


def attacks():
    for name, of in OWN.items():
        yield Attack(f"control of the rule: {name}", "not 403", asks(of, True), name == "curl")
    for name, of in FOREIGN.items():
        yield Attack(f"a page of {name}" if not name.startswith("a name") else name, "403", asks(of, False), name in ("another site", "a sandbox, old", "a name that leads here"))
    yield Attack("preflights", "4xx without permission", preflight)
    yield Attack("what proves the console, read by a script", "not told", not_read, True)
    yield Attack("control of the rule: the console itself", "404 of nobody", console_itself, True)
    for request in ("POST /workers/nobody/drain", "DELETE /workers/nobody", "PATCH /workers/nobody", "POST /models/reload", "POST /router/replay"):
        yield Attack(f"{request} by a page of this origin without its proof", "403", changes(request, CONSOLE), request.startswith("DELETE"))
    for name, headers in (("a wrong proof", (*CONSOLE, "x-warmpath-console: 1")), ("an engine's page", ("Sec-Fetch-Site: same-origin", "Referer: http://OWN/v1/chat/completions")),
                          ("two sites", (*CONSOLE, "Sec-Fetch-Site: cross-site")), ("two referers", (*CONSOLE, "Referer: http://evil.test/"))):
        yield Attack(f"POST /workers/nobody/drain with {name}", "403", changes("POST /workers/nobody/drain", headers))
        if name != "a wrong proof":
            yield Attack(f"GET /workers with {name}", "403", changes("GET /workers", headers))


def pages():
    for path in ("/v1/chat/completions", "/v1/completions", "/v1/embeddings", "/v1/audio/speech", "/v1/images/generations", "/rerank"):
        yield Attack(f"an engine's page as answer of {path}", "bytes in a sandbox", headers_of(path), path.endswith("chat/completions"))
    yield Attack("an engine's page past the fast way", "bytes in a sandbox", headers_of("/v1/chat/completions", ("Origin: http://OWN",)))


def play(stage, suite):
    suite.attacks(stage.plain(), attacks())
    all_of_it, page = PageEngine(*DROPPED), PageEngine()
    shown = stage.gateway("pages", stage.engine(answer=all_of_it), "--cors-origins", "http://evil.test:1")
    shown.well = lambda: None  # its chats are pages
    suite.attacks(shown, pages())
    if not suite.smoke:
        suite.attacks(stage.plain(), [Attack("in Chromium: another site's form", "no request", browsed(False, page))])
        anyone = stage.gateway("anyone", stage.engine(answer=page), "--cors-origins", "*")
        anyone.well = lambda: None
        suite.attacks(anyone, [Attack("in Chromium: an engine's page for a site that may ask", "its script does not run", browsed(True, page))])
        authority = Authority(stage.folder, "pages")
        cert, key = authority.certificate("pages-gateway", "IP:127.0.0.1,DNS:localhost")
        over = stage.gateway("frames", stage.engine(answer=all_of_it), "--tls-cert-path", str(cert), "--tls-key-path", str(key), tls=authority.client("http/1.1"))
        over.well = lambda: None
        over.tls = authority.client("h2")
        suite.attacks(over, [Attack("HTTP/2: an engine's page", "bytes in a sandbox", over_frames),
                             Attack("HTTP/2: a page of another site", "403", frames_refused(("origin", "http://evil.test"))),
                             Attack("HTTP/2: no origin, another site", "403", frames_refused(("sec-fetch-site", "cross-site"))),
                             Attack("HTTP/2: two credentials", "400", frames_refused(("authorization", "Bearer a"), ("authorization", "Bearer b")))])
    naive = Pages(page)
    suite.controls(naive, [Attack("a page of another site", "", asks(FOREIGN["another site"], False), True),
                           Attack("a name that leads here", "", asks(FOREIGN["a name that leads here"], False)),
                           Attack("DELETE /workers/nobody by a page of this origin", "", changes("DELETE /workers/nobody", CONSOLE), True),
                           Attack("an engine's page", "", headers_of("/v1/chat/completions"), True)])
    if not suite.smoke:
        suite.controls(naive, [Attack("in Chromium: an engine's page", "", browsed(True, page))])
    naive.close()

