"""The endpoint picker behind a real Envoy, as users start both: `warmpath picker` before simulated engines, and OpenAI's client.

  picker.py [--only NAME]     NAME: part of a check's name; logs are in target/picker/logs

Each check is a promise and prints one line. What the extension's conformance suite asserts of pickers is asserted here with the same
words (`conformance_...`); the rest is what was seen to break pickers: src/docs/how-to/endpoint-picker.md.
"""
import argparse
import collections
import concurrent.futures
import http.client
import http.server
import json
import pathlib
import signal
import socket
import sys
import threading
import time
import traceback
import uuid

HERE = pathlib.Path(__file__).resolve().parent
sys.path[:0] = [str(HERE.parent / part) for part in ("attack", "console", "e2e", "python/process")]
import openai  # noqa: E402

import proxy  # noqa: E402
from fleet import answers  # noqa: E402
from gateway_probe import free_ports, parsed  # noqa: E402
from stage import ROOT, Stage  # noqa: E402
from openai_client import check, wait_until  # noqa: E402

PODS, PORTS = 3, 3  # as the conformance suite has them; each port of each is an endpoint
PATIENCE_S = 90
CHAT = "/v1/chat/completions"
JSON = {"content-type": "application/json"}
SELECT = "test-epp-endpoint-selection"


def unseen(words=60):
    """Text that no engine has seen."""
    seed = uuid.uuid4().hex
    return " ".join(f"{seed[i % 32]}{i} the cached prefix of request {seed}" for i in range(max(1, words // 6)))


def chat(text, **more):
    return json.dumps({"model": "demo", "max_tokens": 8, "messages": [{"role": "user", "content": text}], **more}).encode()


class Answer:
    def __init__(self, status, headers, body):
        self.status, self.headers, self.body = status, headers, body


class Echo(http.server.BaseHTTPRequestHandler):
    """As the conformance suite's backends: answers anything with 200, and says where it was."""
    protocol_version = "HTTP/1.1"

    def answer(self):
        if self.headers.get("transfer-encoding") == "chunked":
            while size := int(self.rfile.readline(), 16):
                self.rfile.read(size + 2)
            self.rfile.readline()
        else:
            self.rfile.read(int(self.headers.get("content-length", 0)))
        body = json.dumps({"path": self.path, "pod": self.server.server_address[0]}).encode()
        self.send_response(200)
        self.send_header("content-length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    do_GET = do_POST = answer

    def log_message(self, *_):
        pass


class Lab:
    """Pods at an address each, two pickers (TLS, as by default; clear text, with a list for retries), Envoy."""

    def __init__(self, folder):
        self.stage = Stage(None, folder, print)
        ports = free_ports(PORTS + 7 + len(proxy.LISTENERS))
        self.pods = [f"127.0.0.{11 + i}" for i in range(PODS)]
        self.engines = [f"{pod}:{ports + i}" for pod in self.pods for i in range(PORTS)]
        own = ports + PORTS
        self.picker_port, self.clear_port = own, own + 1
        self.http, self.clear_http = own + 2, own + 3
        self.echo_port, self.echo_http = own + 5, own + 6
        self.echoes = [f"127.0.0.{31 + i}:{ports}" for i in range(3)]
        self.listeners = {name: f"127.0.0.1:{own + 7 + i}" for i, name in enumerate(proxy.LISTENERS)}
        self.listeners["admin"] = f"127.0.0.1:{own + 4}"
        self.base_id = ports
        self.picker = None

    def __enter__(self):
        try:
            self.start()
        except BaseException:
            self.__exit__()
            raise
        return self

    def start(self):
        for i, pod in enumerate(self.pods):
            self.stage.start(f"pod{i}", [str(ROOT / "warmpath"), "sim", "--host", pod, "--port", self.engines[0].split(":")[1], "--count", str(PORTS),
                                         "--itl", "2ms", "--max-batch", "2048"])
        for engine in self.engines:
            wait_until(f"engine {engine} is not ready", lambda e=engine: self.engine(e, "/health") is not None, PATIENCE_S)
        self.start_picker()
        self.launch("clear", self.clear_port, self.clear_http, "--no-endpoint-picker-tls", WARMPATH_PICKER_FALLBACKS="2")
        for echo in self.echoes:
            server = http.server.ThreadingHTTPServer((echo.split(":")[0], int(echo.split(":")[1])), Echo)
            threading.Thread(target=server.serve_forever, daemon=True).start()
        self.launch("echo", self.echo_port, self.echo_http, "--no-endpoint-picker-tls", workers=self.echoes)
        for port in (self.http, self.clear_http):
            self.until_chooses(port)
        wait_until("the picker of servers that are no engines does not listen", lambda: answers(self.echo_http, "/live"), PATIENCE_S)
        config = self.stage.folder / "envoy.json"
        proxy.write(config, self.listeners, self.engines, f"127.0.0.1:{self.picker_port}", f"127.0.0.1:{self.clear_port}",
                    f"127.0.0.1:{self.echo_port}")
        self.envoy = self.stage.start("envoy", proxy.command(config, self.base_id))
        wait_until(f"Envoy does not answer: {self.envoy.log}", lambda: answers(self.port("plain"), "/health"), PATIENCE_S)

    def __exit__(self, *_):
        self.stage.clear()
        self.stage.close()

    def engine(self, endpoint, path):
        host, port = endpoint.split(":")
        connection = http.client.HTTPConnection(host, int(port), timeout=5)
        try:
            connection.request("GET", path)
            answer = connection.getresponse()
            return json.loads(answer.read() or b"{}") if answer.status == 200 else None
        except OSError:
            return None
        finally:
            connection.close()

    def launch(self, name, port, http_port, *flags, workers=None, **environment):
        return self.stage.start(name, proxy.picker_command(ROOT, port, http_port, workers or self.engines, *flags), {"WARMPATH_PICKER_TEST_HEADER": "true", **environment})

    def start_picker(self):
        self.picker = self.launch("picker", self.picker_port, self.http)

    def until_chooses(self, port):
        wait_until("the picker is not ready", lambda: answers(port, "/ready"), PATIENCE_S)
        wait_until("the workers are not ready", lambda: sum(w["state"] == "ready" for w in self.json("/workers", port)["data"]) == len(self.engines), PATIENCE_S)

    def operator(self, path, port=None, body=None):
        """What a picker tells operators; with a body, of a POST."""
        connection = http.client.HTTPConnection("127.0.0.1", port or self.http, timeout=10)
        try:
            connection.request("POST" if body else "GET", path, body, JSON if body else {})
            answer = connection.getresponse()
            text = answer.read()
            check(answer.status == 200, f"{path}: {answer.status} {text[:300]}")
            return text
        finally:
            connection.close()

    def json(self, path, port=None, body=None):
        return json.loads(self.operator(path, port, body))

    def metrics(self, port=None):
        return parsed(self.operator("/metrics", port).decode())

    def port(self, listener):
        return int(self.listeners[listener].rsplit(":", 1)[1])

    def connect(self, listener, timeout=60):
        return http.client.HTTPConnection("127.0.0.1", self.port(listener), timeout=timeout)

    def ask(self, listener, method, path, body=None, headers=None, connection=None, **more):
        own = connection or self.connect(listener)
        try:
            own.request(method, path, body, {**JSON, **(headers or {})}, **more)
            answer = own.getresponse()
            return Answer(answer.status, {k.lower(): v for k, v in answer.getheaders()}, answer.read())
        finally:
            if connection is None:
                own.close()

    def post(self, listener, body, headers=None, connection=None, **more):
        return self.ask(listener, "POST", CHAT, body, headers, connection, **more)

    def client(self, listener):
        return openai.OpenAI(base_url=f"http://127.0.0.1:{self.port(listener)}/v1", api_key="none", max_retries=0, timeout=60)

    def settled(self, port=None):
        def none():
            now = self.metrics(port)
            return not any(now[k] for k in ("warmpath_bookings_open", "warmpath_requests_active", "warmpath_picker_streams"))
        wait_until("bookings, requests or streams are left", none, 10)


class Checks:
    def __init__(self, lab):
        self.lab = lab

    def predicted_is_reported(self):
        """OpenAI's client streams through Envoy; the second of two equal prompts finds its cache, as predicted."""
        text = unseen(600)
        for listener in ("duplex", "pool", "buffered", "request_only", "clear"):
            port = self.lab.clear_http if listener == "clear" else self.lab.http
            own = f"{listener} {text}"
            seen = []
            for _ in range(2):
                request = f"e2e-{uuid.uuid4().hex}"
                stream = self.lab.client(listener).chat.completions.create(
                    model="demo", max_tokens=16, stream=True, stream_options={"include_usage": True},
                    messages=[{"role": "user", "content": own}], extra_headers={"x-request-id": request})
                usage = [c.usage for c in stream if c.usage][-1]
                cached = usage.prompt_tokens_details.cached_tokens if usage.prompt_tokens_details else 0
                decision = wait_until("the decision is not kept", lambda r=request: self.lab.json(f"/router/decisions?request_id={r}", port)["decisions"], 5)[0]
                seen.append((decision, cached, usage.prompt_tokens))
                time.sleep(0.3)  # the events of what was computed are under way
            (first, cold, _), (second, warm, prompt) = seen
            check(cold == 0 and warm > prompt / 2, f"{listener}: {cold} and {warm} of {prompt} tokens were cached")
            check(first["worker"] == second["worker"], f"{listener}: {first['worker']}, then {second['worker']}")
            predicted = second["predicted_cached_tokens"]
            check(predicted == warm, f"{listener}: {predicted} tokens predicted, {warm} reported")
            check(second["prompt_tokens"] == prompt, f"{listener}: {second['prompt_tokens']} tokens here, {prompt} at the engine")

    def conformance_requests_follow_the_picker(self):
        """GatewayFollowingEPPRouting: 100 requests, ten at once, reach one, two and three chosen endpoints only."""
        ports = self.lab.engines[::PORTS]
        for chosen in (ports[:1], ports[:2], ports):
            self._follow(chosen, chosen)

    def conformance_ports_of_a_pod_are_endpoints(self):
        """GatewayFollowingEPPRoutingWithDataParallelism: a pod alone is any of its ports, with a port it is that one."""
        pod = self.lab.engines[PORTS:2 * PORTS]
        self._follow([self.lab.pods[1]], pod)
        self._follow(pod[1:2], pod[1:2])
        self._follow(pod[:2] + self.lab.engines[:1], pod[:2] + self.lab.engines[:1])

    def _follow(self, said, allowed):
        before = self._requests()
        with concurrent.futures.ThreadPoolExecutor(10) as pool:
            done = list(pool.map(lambda _: self.lab.post("pool", chat("x"), {SELECT: ",".join(said)}).status, range(100)))
        reached = {e: n - before[e] for e, n in self._requests().items() if n != before[e]}
        check(done == [200] * 100 and set(reached) <= set(allowed) and sum(reached.values()) == 100, f"{collections.Counter(done)}: {reached} of {said}")

    def conformance_a_subset_is_kept_to(self):
        """A hint names who may be chosen; 503 where that leaves nobody."""
        for engine in self.lab.engines:
            before = self._requests()[engine]
            check(self.lab.post("subset", chat("x"), {"x-subset": engine}).status == 200, engine)
            check(self._requests()[engine] == before + 1, f"{engine} was not asked")
        refusal = self.lab.post("subset", chat("x"), {"x-subset": "10.9.9.9:1"})
        check(refusal.status == 503 and b"none of the endpoints" in refusal.body, f"{refusal.status} {refusal.body}")

    def conformance_destination_served_is_told(self):
        """GatewayDestinationEndpointServed: the answer names the chosen endpoint as the one that has served it."""
        before = self.lab.metrics()["warmpath_picker_served_elsewhere_total"]
        for engine in self.lab.engines:
            served = self.lab.post("pool", chat("x"), {SELECT: engine}).headers.get("x-conformance-test-served-endpoint")
            check(served == engine, f"{served} has served what was for {engine}")
        check(self.lab.metrics()["warmpath_picker_served_elsewhere_total"] == before, "another endpoint has answered")

    def a_retry_goes_to_the_next_best_and_so_does_its_load(self):
        """The engine that holds the prompt answers 503: the proxy takes the next of the list, whose answer is followed as its own."""
        text = unseen(200)
        port = self.lab.clear_http
        first = self.lab.post("clear", chat(text)).headers["x-conformance-test-served-endpoint"]
        before = self.lab.metrics(port)["warmpath_picker_served_elsewhere_total"]
        time.sleep(0.3)  # the events of what was computed are under way
        check(self.lab.engine(first, "/sim/fail?status=503&count=1") is not None, f"{first} cannot be made to fail")
        request = f"retry-{uuid.uuid4().hex}"
        answer = self.lab.post("clear", chat(text), {"x-request-id": request, "x-warmpath-explain": "1"})
        second = answer.headers["x-conformance-test-served-endpoint"]
        check(answer.status == 200 and second != first, f"{answer.status} of {second}")
        check(self.lab.metrics(port)["warmpath_picker_served_elsewhere_total"] == before + 1, "it was not seen that another endpoint has answered")
        kept = wait_until("the decisions are not kept", lambda: self._decisions(port, request, 2), 5)
        names = {w["name"]: w["url"] for w in self.lab.json("/workers", port)["data"]}
        went = [names[d["worker"]] for d in sorted(kept, key=lambda d: d["cause"])]  # first, retry
        check(went == [f"http://{first}", f"http://{second}"], f"{went}, and not {first}, {second}")
        check(names[answer.headers["x-warmpath-worker"]] == f"http://{second}", f"{answer.headers['x-warmpath-worker']} is explained, {second} has answered")
        self.lab.settled(port)

    def _decisions(self, port, request, count):
        found = self.lab.json(f"/router/decisions?request_id={request}", port)["decisions"]
        return found if len(found) == count else None

    def the_choice_is_the_gateways(self):
        """What the picker chooses for a prompt is what POST /router/best_worker says just before."""
        texts = [unseen(40 * (1 + i % 5)) for i in range(20)]
        for text in texts:
            self.lab.post("pool", chat(text))
        time.sleep(0.5)  # the events of what was computed are under way
        for text in texts:
            said = self.lab.json("/router/best_worker", body=json.dumps({"messages": [{"role": "user", "content": text}]}))
            answer = self.lab.post("pool", chat(text), {"x-warmpath-explain": "1"})
            check(said["gpu_blocks"] > 0, f"nothing of the prompt is cached: {said}")
            check(answer.headers["x-warmpath-worker"] == said["worker"], f"{answer.headers['x-warmpath-worker']}, and {said['worker']} was said: {said['reason']}")

    def conformance_unknown_requests_are_routed(self):
        """Backends of the suite are no engines: bodies are `{}`, paths are any."""
        for method, path, body in (("GET", "/v1/models", None), ("POST", CHAT, b"{}"), ("POST", "/any", b"{}"), ("POST", CHAT, b"")):
            # What the engine answers is its own; that it was asked shows in its answer.
            answer = self.lab.ask("duplex", method, path, body)
            check(answer.status in (200, 400, 404, 405, 422), f"{method} {path}: {answer.status} {answer.body[:200]}")

    def conformance_backends_that_are_no_engines_are_chosen(self):
        """The suite's pods echo what they get, and serve no model."""
        pods = [e.split(":")[0] for e in self.lab.echoes]
        for chosen in (self.lab.echoes[:1], self.lab.echoes[1:], self.lab.echoes):
            with concurrent.futures.ThreadPoolExecutor(10) as pool:
                done = list(pool.map(lambda i: self.lab.ask("echo", "POST", CHAT, chat("x") if i % 2 else b"{}", {SELECT: ",".join(chosen)}), range(100)))
            where = {json.loads(a.body)["pod"] if a.status == 200 else a.status for a in done}
            check(where == {e.split(":")[0] for e in chosen}, f"{where} of {chosen}")
        check(json.loads(self.lab.ask("echo", "GET", "/any").body)["pod"] in pods, "a request without a body")

    def _requests(self):
        return {e: self.lab.engine(e, "/sim/stats")["requests"] for e in self.lab.engines}

    def bodies_of_all_kinds_arrive(self):
        """In pieces, with trailers, of megabytes; in each mode that has bodies."""
        for listener in ("duplex", "buffered", "streamed", "headers_only", "buffered_both"):
            text = unseen(2000)
            check(self.lab.post(listener, chat(text)).status == 200, f"{listener}: {len(text)} bytes")
        large = chat("a word and another " * 100_000)
        answer = self.lab.post("duplex", large)
        # Longer than the model's context: the engine says so, which it can only when it has all of it.
        check(answer.status in (200, 400), f"{len(large)} bytes: {answer.status} {answer.body[:200]}")
        body = chat(unseen())
        pieces = [body[i:i + 700] for i in range(0, len(body), 700)]
        check(self.lab.post("duplex", iter(pieces), encode_chunked=True, headers={"transfer-encoding": "chunked"}).status == 200, "chunked")
        with socket.create_connection(("127.0.0.1", self.lab.port("duplex")), 20) as s:
            s.sendall(f"POST {CHAT} HTTP/1.1\r\nhost: pool\r\ncontent-type: application/json\r\ntransfer-encoding: chunked\r\ntrailer: x-t\r\nconnection: close\r\n\r\n"
                      f"{len(body):x}\r\n".encode() + body + b"\r\n0\r\nx-t: 1\r\n\r\n")
            check(s.recv(64).startswith(b"HTTP/1.1 200"), "a body with trailers")

    def many_requests_on_one_connection(self):
        """Envoy resets the picker's stream at the end of each: more than servers with a limit for resets take."""
        connection = self.lab.connect("duplex")
        for i in range(600):
            answer = self.lab.post("duplex", chat(f"question {i % 7}"), connection=connection)
            check(answer.status == 200, f"request {i}: {answer.status} {answer.body[:200]}")
        connection.close()

    def more_than_1024_run_at_once(self):
        """With Envoy's limit raised, as the documentation says."""
        count = 1200
        self._speed(1)  # so that the first is at work yet when the last has been sent
        body = chat("count", max_tokens=200, stream=True)
        head = f"POST {CHAT} HTTP/1.1\r\nhost: pool\r\ncontent-type: application/json\r\ncontent-length: {len(body)}\r\nconnection: close\r\n\r\n".encode()
        sockets = [socket.create_connection(("127.0.0.1", self.lab.port("duplex")), 60) for _ in range(count)]
        for s in sockets:
            s.sendall(head + body)
        try:
            most = wait_until("1,024 are not open at once", lambda: max(0, self.lab.metrics()["warmpath_picker_streams"] - 1024), 20)
        finally:
            self._speed(100)
        failed = collections.Counter()
        for s in sockets:
            data = b""
            while more := s.recv(1 << 16):
                data += more
            s.close()
            if not (data.startswith(b"HTTP/1.1 200") and b"[DONE]" in data):
                failed[data[:60]] += 1
        check(not failed, f"{failed}")
        self.lab.settled()
        return f"{1024 + most:.0f} were open at once"

    def _speed(self, percent):
        for engine in self.lab.engines:
            check(self.lab.engine(engine, f"/sim/speed?percent={percent}") is not None, f"{engine} has no other speed")

    def clients_that_leave_free_their_engine(self):
        stopped = self._of_ranks("aborted")
        for wait in (0, 0.05):
            s = socket.create_connection(("127.0.0.1", self.lab.port("duplex")), 20)
            body = chat(unseen(), max_tokens=2000, stream=True)
            s.sendall(f"POST {CHAT} HTTP/1.1\r\nhost: pool\r\ncontent-type: application/json\r\ncontent-length: {len(body)}\r\n\r\n".encode() + body)
            if wait:
                s.recv(1 << 12)
            s.close()
        self.lab.settled()
        return f"{self._of_ranks('aborted') - stopped:.0f} aborted at the engine"

    def _of_ranks(self, field):
        return sum(rank.get(field, 0) for e in self.lab.engines for rank in self.lab.engine(e, "/sim/stats")["ranks"])

    def fail_open_and_fail_close(self):
        """EppUnAvailableFailOpen: while nobody picks, a request finds any engine, or none."""
        self.lab.picker.send_signal(signal.SIGSTOP)
        try:
            time.sleep(1.5)  # three checks of its health
            check(self.lab.post("fail_open", chat("x")).status == 200, "FailOpen: not answered while the picker is silent")
            check(self.lab.post("fail_close", chat("x")).status == 500, "FailClose: answered while the picker is silent")
        finally:
            self.lab.picker.send_signal(signal.SIGCONT)
        wait_until("it does not pick again", lambda: self.lab.post("fail_close", chat("x")).status == 200, 10)

    def a_picker_that_is_restarted_loses_no_request(self):
        """Under load, with FailOpen: what runs ends, what comes is answered."""
        over, statuses, lock = threading.Event(), collections.Counter(), threading.Lock()

        def load(i):
            while not over.is_set():
                try:
                    answer = self.lab.post("fail_open", chat(f"talk {i}", max_tokens=32, stream=True))
                    word = answer.status if b"[DONE]" in answer.body else f"{answer.status}, cut off"
                except (OSError, http.client.HTTPException) as e:
                    word = type(e).__name__
                with lock:
                    statuses[word] += 1

        threads = [threading.Thread(target=load, args=(i,)) for i in range(8)]
        for t in threads:
            t.start()
        try:
            time.sleep(2)
            self.lab.picker.send_signal(signal.SIGTERM)
            self.lab.picker.wait(60)
            time.sleep(1)
            self.lab.start_picker()
            self.lab.until_chooses(self.lab.http)
            picked = self.lab.metrics()["warmpath_picker_streams"]
            wait_until("the new picker is not asked", lambda: self.lab.json("/router/decisions?limit=1")["decisions"], 20)
        finally:
            over.set()
            for t in threads:
                t.join()
        check(set(statuses) == {200}, f"{dict(statuses)} ({picked:.0f} open at the new one)")
        return f"{statuses[200]} requests"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", default="", help="part of a check's name")
    only = parser.parse_args().only
    checks = [n for n in vars(Checks) if not n.startswith("_") and only in n]
    if not checks:
        parser.error(f"no check has '{only}' in its name")
    failed = 0
    with Lab(ROOT / "target/picker") as lab:
        suite = Checks(lab)
        for name in checks:
            began = time.monotonic()
            try:
                note = getattr(suite, name)()
                print(f"  ok      {name.replace('_', ' ')} ({time.monotonic() - began:.1f} s){': ' + note if note else ''}", flush=True)
            except Exception:
                failed += 1
                print(f"  FAILED  {name.replace('_', ' ')}\n{traceback.format_exc()}", flush=True)
    print(f"picker: {failed} of {len(checks)} checks failed" if failed else f"picker: {len(checks)} checks hold")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
