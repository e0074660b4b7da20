#!/usr/bin/env python3
"""Does every panel of the dashboard show something? Standard library only.

  dashboards.py --root DIR --prometheus PROGRAM [--java JAVA]
  dashboards.py --self-test      the judge itself: it must refuse planted faults

Two simulated engines, one more that prefills and one that decodes, and a gateway before them, with the keys of three tenants, get chats for some
seconds; a Prometheus scrapes the gateway as in a cluster (labels `namespace` and `pod`). Then each query of
k8s/components/dashboards/warmpath.json must have an answer with a number, those about split requests one above 0: counters that nobody has counted
are 0, too. Some prefills are made to fail. Controls: a metric that does not exist, and a label value that does not, must have none.
"""
import argparse
import hashlib
import json
import os
import shutil
import subprocess
import sys
import tempfile
import threading
import time
import urllib.error
import urllib.parse
import urllib.request

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../python/process"))
from gateway_probe import free_ports  # noqa: E402

BOARD = "k8s/components/dashboards/warmpath.json"
TENANTS = ("acme", "globex", "initech")
CONTROLS = ("sum(rate(warmpath_requests_nope_total{namespace=~\".*\"}[20s]))", "sum(warmpath_requests_active{namespace=\"nowhere\"})")
SPLIT = "Prefill here, decode there"  # the row of what is counted for split requests
PLANS = 'sum by (plan) (rate(warmpath_disagg_decisions_total{plan="%s"}[20s]))'  # both are made
ROLES = ("null", "null", "prefill", "decode")
SECONDS = 30
WAIT = 90


def queries(board):
    """[(row, panel, query)] with the variables filled in as Grafana does for All."""
    found, row = [], ""
    for panel in board["panels"]:
        row = panel["title"] if panel.get("type") == "row" else row
        for target in panel.get("targets", []):
            query = target["expr"]
            for name, value in (("$namespace", ".*"), ("$model", ".*"), ("$__rate_interval", "20s")):
                query = query.replace(name, value)
            found.append((row, panel["title"], query))
    return found


def is_number(text):
    return text not in ("NaN", "+Inf", "-Inf")


def has_data(answer):
    """One series with a number is enough: a model without streams has no time between tokens."""
    return answer.get("status") == "success" and any(is_number(r["value"][1]) for r in answer["data"]["result"])


def counts(answer):
    """One series is above 0."""
    return has_data(answer) and any(is_number(r["value"][1]) and float(r["value"][1]) > 0 for r in answer["data"]["result"])


def shows(row, answer):
    return counts(answer) if row == SPLIT else has_data(answer)


def self_test():
    board = {"panels": [{"type": "row", "title": SPLIT}, {"title": "p", "targets": [{"expr": 'rate(x{n=~"$namespace",m=~"$model"}[$__rate_interval])'}]}]}
    assert queries(board) == [(SPLIT, "p", 'rate(x{n=~".*",m=~".*"}[20s])')], queries(board)

    def answer(*values):
        return {"status": "success", "data": {"result": [{"metric": {}, "value": [0, v]} for v in values]}}
    assert has_data(answer("0")) and has_data(answer("NaN", "1.5"))
    for bad in (answer(), answer("NaN"), answer("+Inf"), {"status": "error"}):
        assert not has_data(bad), bad
        assert not shows(SPLIT, bad), bad
    assert shows("Cache", answer("0")) and not shows(SPLIT, answer("0", "NaN")) and shows(SPLIT, answer("0", "0.1"))
    print("dashboards: the judge refuses what shows nothing")


class Set:
    """Engines, gateway and Prometheus; everything that was started ends with it."""

    def __init__(self, root, java, prometheus, folder):
        self.root, self.java, self.prometheus, self.folder = root, java, prometheus, folder
        self.base = free_ports(3 + 3 * len(ROLES))
        self.processes = []

    def start(self, name, *command, **settings):
        with open(os.path.join(self.folder, name + ".log"), "wb") as log:
            clean = {k: v for k, v in os.environ.items() if not k.startswith(("WARMPATH_", "DYN_"))}
            self.processes.append(subprocess.Popen(command, stdout=log, stderr=log, env=clean | settings))

    def jar(self, name, jar, *arguments, **settings):
        self.start(name, self.java, "-Xmx256m", "-XX:+UseSerialGC", "--enable-native-access=ALL-UNNAMED", "--sun-misc-unsafe-memory-access=allow",
                   "-jar", os.path.join(self.root, jar), *arguments, **settings)

    def url(self, what):
        return f"http://127.0.0.1:{self.base + {'gateway': 0, 'prometheus': 1, 'prefill': 3 + ROLES.index('prefill')}[what]}"

    def start_all(self):
        for i, role in enumerate(ROLES):
            http, events, replay = (self.base + 3 + i + n * len(ROLES) for n in range(3))
            self.jar(f"engine{i}", "target/tools/warmpath-tools.jar", "sim", "--port", str(http), "--events-port", str(events), "--replay-port", str(replay),
                     "--model", "demo", "--answer-tokens", "16", "--speed", "4", "--disaggregation-mode", role,
                     "--disaggregation-bootstrap-port", str(self.base + 2))
        keys = os.path.join(self.folder, "keys.yaml")
        with open(keys, "w", encoding="ascii") as f:
            f.write("keys:\n")
            for t in TENANTS:
                f.write(f"  - {{ name: {t}, tenant: {t}, sha256: {hashlib.sha256(key(t).encode()).hexdigest()} }}\n")
        engines = ",".join(f"http://127.0.0.1:{self.base + 3 + i}" for i in range(len(ROLES)))
        self.jar("gateway", "target/gateway/quarkus-app/quarkus-run.jar", "serve", "--http-host", "127.0.0.1", "--http-port", str(self.base),
                 "--workers", engines, "--api-key-file", keys,
                 "--tokenizer", os.path.join(self.root, "src/tokens/main/resources/demo-model/tokenizer.json"),
                 WARMPATH_DISAGGREGATION_SPLIT_FROM_TOKENS="128", WARMPATH_TELEMETRY_USAGE_TENANT_METRICS="true")
        scrape = os.path.join(self.folder, "prometheus.yml")
        with open(scrape, "w", encoding="ascii") as f:
            json.dump({"scrape_configs": [{"job_name": "warmpath", "scrape_interval": "1s", "static_configs": [
                {"targets": [f"127.0.0.1:{self.base}"], "labels": {"namespace": "demo", "pod": "gateway-0"}}]}]}, f)
        self.start("prometheus", self.prometheus, f"--config.file={scrape}", f"--storage.tsdb.path={os.path.join(self.folder, 'tsdb')}",
                   f"--web.listen-address=127.0.0.1:{self.base + 1}", "--log.level=warn")

    def end(self):
        for process in self.processes:
            process.kill()
        for process in self.processes:
            process.wait()

    def check(self):
        for process in self.processes:
            if process.poll() is not None:
                raise SystemExit(f"a program has ended by itself: {' '.join(process.args)[:200]}; logs in {self.folder}")


def key(tenant):
    return f"{tenant}-0123456789abcdefghijklmnopqrst"


def ask(url, body=None, headers=None):
    request = urllib.request.Request(url, body, {"Content-Type": "application/json", **(headers or {})})
    with urllib.request.urlopen(request, timeout=20) as answer:
        return answer.read()


def awaited(what, condition, programs):
    end = time.monotonic() + WAIT
    while True:
        programs.check()
        try:
            if condition():
                return
        except (OSError, urllib.error.URLError):
            pass
        if time.monotonic() > end:
            raise SystemExit(f"{what}: not within {WAIT} s; logs in {programs.folder}")
        time.sleep(0.2)


def chats(programs, tenant, number, until, failures):
    turn = 0
    while time.monotonic() < until:
        turn += 1
        # A long one that is new, for two engines, and a shorter one that comes again, for one.
        new, times = (f"Case {number}/{turn}. ", 20) if turn % 2 else ("", 8)
        said = new + f"You help the customers of {tenant}. " * times + f" Question {turn % 7} of {number}: what does it cost?"
        body = {"model": "demo", "stream": turn % 3 != 0, "max_tokens": 16, "messages": [{"role": "user", "content": said}]}
        try:
            ask(programs.url("gateway") + "/v1/chat/completions", json.dumps(body).encode(), {"Authorization": "Bearer " + key(tenant)})
        except (OSError, urllib.error.URLError) as e:
            failures.append(f"{tenant}: {e}")
        time.sleep(0.05)


def failing(programs, until):
    """Now and then the next prefill fails; its request goes on elsewhere."""
    while time.monotonic() < until:
        ask(programs.url("prefill") + "/sim/fail?status=500&count=1", b"")
        time.sleep(3)


def answered(programs, query):
    return json.loads(ask(programs.url("prometheus") + "/api/v1/query?" + urllib.parse.urlencode({"query": query})))


def run(root, java, prometheus):
    with open(os.path.join(root, BOARD), encoding="utf-8") as f:
        wanted = queries(json.load(f))
    folder = tempfile.mkdtemp(prefix="warmpath-dashboards-")
    programs = Set(root, java, prometheus, folder)
    try:
        programs.start_all()
        awaited("the gateway is ready", lambda: ask(programs.url("gateway") + "/ready"), programs)
        awaited("Prometheus is ready", lambda: ask(programs.url("prometheus") + "/-/ready"), programs)
        failures = []
        until = time.monotonic() + SECONDS
        clients = [threading.Thread(target=chats, args=(programs, t, n, until, failures)) for n, t in enumerate(TENANTS * 2)]
        clients.append(threading.Thread(target=failing, args=(programs, until)))
        for client in clients:
            client.start()
        for client in clients:
            client.join()
        programs.check()
        if failures:
            raise SystemExit(f"{len(failures)} chats failed, the first: {failures[0]}")
        plans = [(SPLIT, plan, PLANS % plan) for plan in ("split", "whole")]
        empty = [f"{title}: {query}" for row, title, query in wanted + plans if not shows(row, answered(programs, query))]
        if empty:
            raise SystemExit("panels without data:\n  " + "\n  ".join(empty))
        for query in CONTROLS:
            if has_data(answered(programs, query)):
                raise SystemExit(f"a control has data: {query}")
        print(f"dashboards: {len(wanted)} queries of {len({title for _, title, _ in wanted})} panels have data, {len(CONTROLS)} controls have none")
    finally:
        programs.end()
    shutil.rmtree(folder)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--self-test", action="store_true")
    parser.add_argument("--root", default=".")
    parser.add_argument("--java", default="java")
    parser.add_argument("--prometheus")
    a = parser.parse_args()
    if a.self_test:
        self_test()
    elif a.prometheus:
        run(os.path.abspath(a.root), a.java, a.prometheus)
    else:
        parser.error("--prometheus is missing")


if __name__ == "__main__":
    main()
