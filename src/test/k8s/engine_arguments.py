#!/usr/bin/env python3
"""What the manifests give engines, before the engines' own parsers; no engine is started. Standard library only.

Renders the workers of k8s and of the example, and hands the arguments of each engine to the parser of the SGLang or vLLM in .tools/engines
(ENGINES_HOME), which has the version that the tests run. Arguments with planted faults have to be refused. Status 77: there are no engines, or
there is no kubectl.
"""
import json
import os
import pathlib
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[3]
ENGINES = pathlib.Path(os.environ.get("ENGINES_HOME", ROOT / ".tools/engines"))
KUBECTL = ROOT / ".tools/kubernetes/venv/bin/kubectl"
FOLDERS = ("k8s/workers/sglang", "k8s/workers/vllm", "k8s/workers/sglang-disaggregated", "k8s/workers/vllm-disaggregated", "src/examples/kubernetes/engines")
COMMANDS = {"sglang": ["python3", "-m", "sglang.launch_server"], "vllm": ["vllm", "serve"]}
PARSERS = {
    "sglang": """
import argparse
from sglang.srt.disaggregation.kv_events import KVEventsConfig
from sglang.srt.server_args import ServerArgs
def parse(words):
    parser = argparse.ArgumentParser(allow_abbrev=False)
    ServerArgs.add_cli_args(parser)
    events = parser.parse_args(words).kv_events_config
    if events:
        KVEventsConfig.from_cli(events)
""",
    "vllm": """
from vllm.entrypoints.cli.serve import FlexibleArgumentParser, make_arg_parser, validate_parsed_serve_args
from vllm.tool_parsers import ToolParserManager
def parse(words):
    given = make_arg_parser(FlexibleArgumentParser(prog="vllm serve", allow_abbrev=False)).parse_args(words)
    validate_parsed_serve_args(given)
    if given.tool_call_parser:
        ToolParserManager.get_tool_parser(given.tool_call_parser)
""",
}
# One process for all lists of an engine: to import one takes half a minute. What parses prints to stderr why it refuses.
ASK = """
import json, sys
answers = []
for words in json.load(sys.stdin):
    print("parsing", words, file=sys.stderr, flush=True)
    try:
        parse(words)
        answers.append(None)
    except (SystemExit, Exception) as problem:
        answers.append(f"{type(problem).__name__}: {problem}")
print("\\nANSWERS " + json.dumps(answers))
"""
# Taken without what is planted.
PLAIN = {"sglang": ["--model-path=m"], "vllm": ["m"]}
FAULTS = {
    "sglang": [["--no-such-flag"], ["--page-size=many"], ["--tool-call-parser=none-such"],
               ["--reasoning-parser=none-such"], ['--kv-events-config={"publisher":7}']],
    "vllm": [["--no-such-flag"], ["--block-size=many"], ["--enable-auto-tool-choice", "--tool-call-parser=none-such"],
             ["--enable-auto-tool-choice"], ['--kv-events-config={"publisher":"zmq","end":"tcp://*:5557"}']],
}


def objects(folder):
    """What kubectl makes of a folder; into JSON by kubectl too, which asks no server for that."""
    yaml = subprocess.run([KUBECTL, "kustomize", ROOT / folder], check=True, capture_output=True).stdout
    text = subprocess.run([KUBECTL, "patch", "--local", "--type=json", "-p", "[]", "-o", "json", "-f", "-"], input=yaml, check=True, capture_output=True).stdout.decode()
    found, decoder = [], json.JSONDecoder()
    while text := text.strip():
        one, end = decoder.raw_decode(text)
        found.append(one)
        text = text[end:]
    return found


def engines():
    """(engine, what it is of, its arguments) of each StatefulSet."""
    for folder in FOLDERS:
        for made in objects(folder):
            if made["kind"] != "StatefulSet":
                continue
            container = next(c for c in made["spec"]["template"]["spec"]["containers"] if c["name"] == "engine")
            engine, command = next((e, c) for e, c in COMMANDS.items() if container["command"][:len(c)] == c)
            yield engine, f"{folder}: {made['metadata']['name']}", container["command"][len(command):] + container["args"]


def answers(engine, lists):
    """None for each list that the engine's parser takes, otherwise why not."""
    environment = {**os.environ, "HF_HUB_OFFLINE": "1"}
    if engine == "sglang":
        environment.update(SGLANG_USE_CPU_ENGINE="1", PYTHONPATH=str(ROOT / "src/test/engines/stand_in"))
    done = subprocess.run([ENGINES / engine / "bin/python", "-B", "-c", PARSERS[engine] + ASK], input=json.dumps(lists), capture_output=True, text=True,
                          env=environment, timeout=300)
    said = [line for line in done.stdout.splitlines() if line.startswith("ANSWERS ")]
    if not said:
        raise SystemExit(f"{engine}'s parser gave no answer: {done.stderr[-3000:]}")
    return json.loads(said[0].removeprefix("ANSWERS "))


def main():
    lacking = [str(path) for path in (KUBECTL, *(ENGINES / engine / "bin/python" for engine in COMMANDS)) if not os.access(path, os.X_OK)]
    if lacking:
        print(f"engine arguments: NOT CHECKED: there is no {', no '.join(lacking)}", file=sys.stderr)
        return 77
    wrong, given = [], list(engines())
    for engine in COMMANDS:
        here = [(name, words) for kind, name, words in given if kind == engine]
        if len(here) < 4:
            wrong.append(f"only {len(here)} sets of {engine}")
        here.append(("nothing but a model", PLAIN[engine]))
        said = answers(engine, [words for _, words in here] + [PLAIN[engine] + words for words in FAULTS[engine]])
        for (name, words), problem in zip(here, said):
            if problem:
                wrong.append(f"{name}: {problem}: {words}")
        wrong += [f"{engine} takes a planted fault: {words}" for words, problem in zip(FAULTS[engine], said[len(here):]) if not problem]
        print(f"{engine}: {len(here) - 1} sets of engines, {len(FAULTS[engine])} planted faults", flush=True)
    for problem in wrong:
        print(f"FAILED: {problem}", file=sys.stderr)
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
