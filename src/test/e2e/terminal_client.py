#!/usr/bin/env python3
"""The terminal's commands before a running gateway: status, top, why, ask, drain, resume. Standard library only.

  terminal_client.py --gateway URL -- JAVA OPTIONS -jar warmpath-tools.jar

Leaves the fleet as it was. The gateway runs on this machine, as this user, without an admin token.
"""
import argparse
import json
import os
import pty
import select
import subprocess
import sys
import threading
import time
import urllib.request

PROMPT = "Somebody asks what an operator sees of this request, in so many words that there are blocks of it to be found in a cache. " * 3
TOKENS = 300


class Terminal:
    def __init__(self, command, gateway):
        self.command, self.gateway = command, gateway
        self.environment = dict(os.environ, WARMPATH_URL=gateway, COLUMNS="160", LINES="40")

    def run(self, *arguments, text="", ends=0):
        done = subprocess.run([*self.command, *arguments], input=text, capture_output=True, text=True, timeout=60, env=self.environment)
        check(done.returncode == ends, f"{arguments} ended with {done.returncode} instead of {ends}: {done.stdout}{done.stderr}")
        return done.stdout if ends == 0 else done.stdout + done.stderr

    def fleet(self):
        return json.loads(self.run("status", "--json"))

    def until(self, what, condition, seconds=30):
        end = time.monotonic() + seconds
        while not condition():
            check(time.monotonic() < end, f"{what}: not within {seconds} s\n" + self.run("status", "--json"))
            time.sleep(0.2)

    def keyed(self, key, until, *arguments):
        """What a command draws on a terminal until it has shown a text, then the key, then its end."""
        pid, terminal = pty.fork()
        if pid == 0:
            os.environ.update(self.environment, TERM="xterm")
            os.execvp(self.command[0], [*self.command, *arguments])
        seen, end = b"", time.monotonic() + 30
        try:
            while until.encode() not in seen:
                check(time.monotonic() < end, f"{arguments} did not show {until!r}: {seen.decode(errors='replace')}")
                if select.select([terminal], [], [], 1)[0]:
                    seen += os.read(terminal, 65536)
            os.write(terminal, key.encode())
            while True:
                check(time.monotonic() < end, f"{arguments} goes on after {key!r}")
                try:
                    if select.select([terminal], [], [], 1)[0]:
                        piece = os.read(terminal, 65536)
                        if not piece:
                            break
                        seen += piece
                except OSError:  # Linux' word for the end of a terminal
                    break
        finally:
            os.close(terminal)
            status = os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
        check(status == 0, f"{arguments} ended with {status}")
        return seen.decode(errors="replace")


def check(holds, what):
    if not holds:
        sys.exit("terminal: " + what)


def chat(gateway, model, request_id, tokens=4, text=PROMPT):
    body = {"model": model, "max_tokens": tokens, "ignore_eos": True, "stream": tokens == TOKENS,
            "messages": [{"role": "user", "content": text}]}
    request = urllib.request.Request(gateway + "/v1/chat/completions", json.dumps(body).encode(),
                                     {"content-type": "application/json", "x-request-id": request_id})
    with urllib.request.urlopen(request, timeout=60) as answer:
        return answer.read()


def holder(row):
    return row["decisions"][0]["worker"]


def sees_and_explains(terminal, model):
    check("all well" in terminal.run("status"), "the fleet is not well")
    for name in ("terminal-1", "terminal-2"):
        chat(terminal.gateway, model, name)
        terminal.until(f"the end of {name} is in its decision", lambda: json.loads(
            terminal.run("why", name, "--json"))["decisions"][0].get("ended"))
    first, second = (json.loads(terminal.run("why", name, "--json")) for name in ("terminal-1", "terminal-2"))
    check(holder(first) == holder(second), "the second request went elsewhere")
    why = terminal.run("why", "terminal-2")
    for part in ("request terminal-2", "attempt 1 (first)", f"* {holder(second)} rank 0", "Next: ", "cached_tokens", "the engine reported"):
        check(part in why, f"{part!r} is not in\n{why}")
    check("no decision of nobody is kept" in terminal.run("why", "nobody", ends=1), "why nobody")
    asked = json.loads(terminal.run("ask", model, "--messages", "--json",
                                    text=json.dumps([{"role": "user", "content": PROMPT}])))
    check(asked["decision"]["chosen"]["worker"] == holder(second), f"ask would go elsewhere: {asked}")
    check(asked["decision"]["chosen"]["cached_tokens"] > 0, f"ask finds no cache: {asked}")
    check(f"would go to {holder(second)} rank 0" in terminal.run("ask", model, "--messages", text=json.dumps(
        {"messages": [{"role": "user", "content": PROMPT}]})), "ask for people")
    check("status 404" in terminal.run("ask", "no-such-model", text="x", ends=1), "ask of a model that nobody serves")
    top = terminal.run("top", "--once")
    check("terminal-2" in top and holder(second) in top, top)
    drawn = terminal.keyed("q", "terminal-2", "top")
    check(drawn.count("\x1b[?1049h") == 1 and drawn.rstrip().endswith("\x1b[?1049l"), f"the screen was not set back: {drawn[-200:]!r}")
    return holder(second)


def drains(terminal, model, worker):
    """The worker has the prompt, so a long answer runs there; drained, it ends the answer and gets no other."""
    answers = []
    long = threading.Thread(target=lambda: answers.append(chat(terminal.gateway, model, "terminal-long", TOKENS)))
    long.start()
    running = lambda: sum(r["running"] for w in terminal.fleet()["workers"] if w["name"] == worker for r in w["ranks"])
    terminal.until("the long answer runs where the prompt is cached", lambda: running() > 0)
    check("Nothing runs there." in terminal.run("drain", worker, "--wait", "--reason", "terminal test"), "drain --wait")
    long.join(10)
    check(not long.is_alive() and b"[DONE]" in answers[0], "the drain cut an answer off, or ended before it")
    chat(terminal.gateway, model, "terminal-3")
    check(holder(json.loads(terminal.run("why", "terminal-3", "--json"))) != worker, "a drained worker got a request")
    said = terminal.run("status")
    check("drained" in said and "terminal test" in said and "all well" in said, said)
    terminal.run("resume", worker)
    terminal.until("it gets requests again", lambda: all(w["state"] == "ready" for w in terminal.fleet()["workers"]))
    check("There is no such worker: nope" in terminal.run("drain", "nope", ends=1), "drain nope")


def main():
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--gateway", required=True)
    options.add_argument("command", nargs="+")
    given = options.parse_args()
    terminal = Terminal(given.command, given.gateway)
    with urllib.request.urlopen(given.gateway + "/v1/models", timeout=10) as answer:
        model = json.load(answer)["data"][0]["id"]
    worker = sees_and_explains(terminal, model)
    drains(terminal, model, worker)
    check("no gateway answers" in terminal.run("status", "--url", "http://127.0.0.1:1", ends=2), "status of nobody")
    print("terminal: status, top, why, ask, drain and resume hold")


if __name__ == "__main__":
    main()
