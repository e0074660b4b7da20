#!/usr/bin/env python3
"""Ends a running gateway in the middle of a stream: the stream must come whole, nothing new may.

Sends SIGTERM; whoever started the gateway waits for its end. Standard library only.

  graceful_stop.py --gateway URL --pid GATEWAY_PID
"""
import argparse
import http.client
import json
import os
import signal
import sys
import time
import urllib.parse
import urllib.request

TOKENS = 300


def ask(connection, model, tokens, stream):
    body = {"model": model, "stream": stream, "max_tokens": tokens, "ignore_eos": True,
            "messages": [{"role": "user", "content": "until the last word"}]}
    connection.request("POST", "/v1/chat/completions", json.dumps(body), {"content-type": "application/json"})
    answer = connection.getresponse()
    if answer.status != 200:
        sys.exit(f"{answer.status} instead of an answer: {answer.read()[:400]}")
    return answer


def is_ready(gateway):
    try:
        return urllib.request.urlopen(gateway + "/ready", timeout=2).status == 200
    except OSError:  # an answer that says no, or nobody who answers
        return False


def refusal(gateway, model):
    """What a new request gets over a connection of its own: an error's code, or a status."""
    connection = http.client.HTTPConnection(urllib.parse.urlsplit(gateway).netloc, timeout=20)
    try:
        body = {"model": model, "max_tokens": 1, "messages": [{"role": "user", "content": "late"}]}
        connection.request("POST", "/v1/chat/completions", json.dumps(body), {"content-type": "application/json"})
        answer = connection.getresponse()
        text = answer.read()
        if answer.status != 503:
            return answer.status
        if answer.headers["connection"] != "close" or answer.headers["retry-after"] != "1":
            return str(answer.headers)
        return json.loads(text)["error"]["code"]
    except OSError as e:
        return repr(e)
    finally:
        connection.close()


def main():
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--gateway", required=True)
    options.add_argument("--pid", required=True, type=int)
    given = options.parse_args()
    models = json.load(urllib.request.urlopen(given.gateway + "/v1/models", timeout=10))
    model = models["data"][0]["id"]
    connection = http.client.HTTPConnection(urllib.parse.urlsplit(given.gateway).netloc, timeout=60)
    ask(connection, model, 2, False).read()
    stream = ask(connection, model, TOKENS, True)
    text = stream.read1(4096)
    os.kill(given.pid, signal.SIGTERM)
    told = time.monotonic()
    while is_ready(given.gateway):
        if time.monotonic() - told > 10:
            sys.exit("10 s after SIGTERM the gateway still says that it is ready")
        time.sleep(0.02)
    noticed = time.monotonic() - told
    refused = refusal(given.gateway, model)
    while refused != "stopping":
        if time.monotonic() - told > 10:
            sys.exit(f"10 s after SIGTERM a new request gets {refused}")
        time.sleep(0.02)
        refused = refusal(given.gateway, model)
    try:
        more = stream.read1(4096)
        if not more:
            sys.exit("the stream had ended before the gateway stopped being ready: nothing was tested")
        text += more + stream.read()
    except (http.client.IncompleteRead, OSError) as e:
        sys.exit(f"the stream was cut off: {e!r}")
    events = [e for e in text.decode().split("\n\n") if e]
    if events[-1] != "data: [DONE]":
        sys.exit(f"the stream was cut after {len(events)} events: {events[-1][:400]}")
    chunks = [json.loads(e.removeprefix("data: ")) for e in events if e.startswith("data: {")]
    finish = [c["choices"][0].get("finish_reason") for c in chunks if c.get("choices")]
    if finish[-1] != "length" or len(finish) < TOKENS // 2:
        sys.exit(f"the stream ended as {finish[-1]} after {len(finish)} chunks")
    print(f"SIGTERM in mid-stream: new requests are refused, not ready after {noticed:.2f} s, the other {time.monotonic() - told:.1f} s of the stream came whole")


if __name__ == "__main__":
    main()
