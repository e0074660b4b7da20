# What the commands do that run programs: the same in a checkout, by ./warmpath, and where Warmpath is installed, by bin/warmpath. The
# texts name the checkout's launcher; an installed one prints its own name in that place. Sourced by both.
# shellcheck shell=sh

help_programs() {
    cat <<'HELP'
Run
  demo       play conversations over simulated engines, routed by caches and in turn, side by side; show every decision
  serve      start the gateway in front of your engines
  picker     choose engines for Envoy-based gateways, which send the requests themselves (ext_proc, port 9002)
  relay      pass an engine's KV events on to NATS JetStream, for gateways that share them
  sim        start simulated engines (HTTP, KV events over ZMQ), no GPU needed
  capture    replay recorded engine events and compare predicted with reported cached tokens
  render     render chats with their templates, as engines do (JSON lines)
  lab        compare routing policies on traces, in virtual time
  key        make API keys of clients, and their hashes for the gateway

Ask a running gateway
  status     say on one screen how it and its workers do; exit code 0 well, 1 degraded, 2 down
  top        show its workers and latest decisions, live
  why        tell why a request went where it went
  drain      give a worker no new requests, and wait until its running ones have ended
  resume     give it requests again
  ask        tell where a prompt would go now, and what each worker has of it
HELP
}

# help_program COMMAND: more about one; status 1 where this is no command that runs a program.
help_program() {
    case $1 in
        demo) cat <<'HELP'
./warmpath demo [--once] [--port PORT] [--engines N] ...

Starts two fleets of simulated engines (real HTTP, real ZMQ), each with a gateway of its own on this machine: one routes
by cached prefixes, one in turn. Both get the same conversations at the same moments. Prints per request: engine, tokens
found per tier, predicted and reported cached tokens, time to first token; then a comparison, and a curl line to try. Writes
a page with plots.
  --once   end after the comparison; exit 0 only when predictions held and routing by caches gained something
  --pool   a third fleet, whose engines share a Mooncake pool
  --agents lead agents and sub-agents under background load, with and without each thing the gateway does for agents
`./warmpath demo --help` lists every flag. No GPU, no container, no model download.
HELP
            ;;
        serve) cat <<'HELP'
./warmpath serve [FLAGS]

Starts the gateway; this shell becomes the JVM, so signals reach it. Example:
  ./warmpath serve --worker http://10.0.0.1:30000 --worker http://10.0.0.2:30000 --tokenizer /models/m/tokenizer.json
`./warmpath serve --help` shows what to begin with, and the groups of all flags and keys; --config FILE reads YAML.
JVM options: WARMPATH_JAVA_OPTS, for example WARMPATH_JAVA_OPTS='-Xmx4g -XX:+UseZGC'.
The first start after a build records an AOT cache (some 15 s), later ones are short; WARMPATH_AOT=off does without.
HELP
            ;;
        picker) cat <<'HELP'
./warmpath picker [FLAGS]

Starts the endpoint picker: gateways built on Envoy ask it over ext_proc where to send each request (src/docs/how-to/endpoint-picker.md).
It is `serve` with --endpoint-picker-only: the flags are the same, clients' own requests are refused. Example:
  ./warmpath picker --worker http://10.0.0.1:30000 --worker http://10.0.0.2:30000 --tokenizer /models/m/tokenizer.json
HELP
            ;;
        relay) cat <<'HELP'
./warmpath relay --engine ENDPOINT --replay ENDPOINT --worker URL [--nats-servers URL,...]

Runs beside an engine, reads its KV events over ZeroMQ and publishes them to NATS JetStream, where gateways with
`--event-plane nats` read them (src/docs/how-to/nats.md). `./warmpath relay --help` lists every flag.
JVM options: WARMPATH_JAVA_OPTS; it runs with a heap of 256 MB unless they say otherwise.
HELP
            ;;
        sim) cat <<'HELP'
./warmpath sim [--port PORT] [--count N] [--wire SHAPE] ...

Starts simulated engines with a paged KV cache that publish KV events as SGLang or vLLM would.
`./warmpath sim --help` lists every flag.
HELP
            ;;
        capture) cat <<'HELP'
./warmpath capture FILE...

Replays files of recorded engine events (JSON lines) through decoder and index, and prints per request the predicted
and the reported cached tokens with the cause of a difference. Ends with `N equal, M different`.
HELP
            ;;
        render) cat <<'HELP'
./warmpath render [--model DIR] [FILE...]

Renders chats with their chat templates and prints the prompts, one JSON line for each line of the files or of
standard input: as they are, or as vLLM or SGLang changes them first; with a model's directory also the tokens.
For people who debug a model's prompt, and for bulk checks.
`./warmpath render --help` lists the members of a line.
HELP
            ;;
        lab) cat <<'HELP'
./warmpath lab run SCENARIO... [--policies A,B] [--loads 0.7,0.9] [--seeds 3]

Plays traces and drawn workloads against a fleet of engines in virtual time: the gateway's own decision beside other
routers' rules. `./warmpath lab list` names scenarios and policies, `./warmpath lab --help` lists every flag.
HELP
            ;;
        key) cat <<'HELP'
./warmpath key new [NAME]
./warmpath key hash [NAME] < FILE

Makes an API key, or takes one from standard input, and prints its SHA-256 as the gateway wants it
(src/docs/how-to/security.md). `./warmpath key --help` says more.
HELP
            ;;
        status | top | why | drain | resume | ask) cat <<'HELP'
./warmpath status
./warmpath top [--once]
./warmpath why REQUEST-ID
./warmpath drain WORKER [--wait] [--reason TEXT]
./warmpath resume WORKER
./warmpath ask [MODEL] < PROMPT

Ask a running gateway, as operators may: the one at http://localhost:8000, at --url URL, or at WARMPATH_URL, with the token of
--token-file FILE or WARMPATH_ADMIN_TOKEN_FILE where it wants one. --json prints the gateway's answer
(src/docs/how-to/observability.md). `./warmpath COMMAND --help` lists every flag and exit code.
HELP
            ;;
        audit) cat <<'HELP'
./warmpath audit --osv PATH... [--sbom FILE...] [--ignore FILE] [--json]

Compares what the product is made of, by the lists of `sbom`, with records of known vulnerabilities in the OSV format: a file,
a folder, or a zip as databases are handed out. Downloads no database. Exit code 0 nothing found, 1 something found, 2 wrong
use, or a database that says nothing about our packages. `./warmpath audit --help` lists every flag.
HELP
            ;;
        *) return 1 ;;
    esac
}
