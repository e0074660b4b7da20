# check, test, verify, fuzz, bench, fmt. Each runs its steps to the end, then prints one line per step with its duration, and
# fails when one failed. A tool that is not there is reported as SKIPPED, loudly, never as passed. Sourced by ./warmpath.
# shellcheck shell=sh

CLANG_FORMAT_MAJOR=14
JMH_MAIN=org.openjdk.jmh.Main

results=
failed=0
steps_began=
# With a word here, only the steps whose names have it in them run.
only=

# step NAME COMMAND...: status 0 passed, 77 skipped (the custom of Automake), all others failed.
step() {
    name=$1
    shift
    case $name in *"$only"*) ;; *) return 0 ;; esac
    [ -n "$steps_began" ] || steps_began=$(now)
    step_began=$(now)
    say "--- $name (at $((step_began - steps_began)) s)"
    step_status=0
    # A shell of its own, so that `die` ends the step and not the run. (`set -e` has no force to the left of `||`:
    # a step returns its failures itself.)
    ("$@") || step_status=$?
    took=$(($(now) - step_began))
    case $step_status in
        0) verdict=passed ;;
        77) verdict=SKIPPED ;;
        *)
            verdict=FAILED
            failed=$((failed + 1))
            ;;
    esac
    results="$results$(printf '%-8s %5d s  %s' "$verdict" "$took" "$name")
"
}

# too_late MINUTES NAME: `test` has forty minutes. A machine so slow that the step would begin later leaves it to `verify`, and says so.
too_late() {
    began_after=$(($(now) - steps_began))
    [ "$began_after" -gt $(($1 * 60)) ] || return 1
    say "--- LEFT OUT: $2. This machine is slow: $began_after s are over, and this has to begin within $1 minutes; ./warmpath verify does it"
    results="$results$(printf 'LEFT OUT          %s: after %d min' "$2" "$1")
"
}

# step_before MINUTES NAME COMMAND...
step_before() {
    too_late "$1" "$2" && return
    shift
    step "$@"
}

summary() {
    [ -n "$results" ] || die 2 "no step of $1 has '$only' in its name"
    printf '\n%s' "$results"
    total=$(($(now) - steps_began))
    if [ "$failed" -gt 0 ]; then
        printf '%s: FAILED, %d step(s), %d s\n' "$1" "$failed" "$total"
        exit 1
    fi
    printf '%s: passed, %d s\n' "$1" "$total"
}

shell_scripts() {
    (cd "$root" && find warmpath .ci src/main/sh src/main/dist src/native-image src/test src/perf src-cpp native-core -type f \( -name '*.sh' -o -name warmpath -o -path '.ci/*' \))
}

check_scripts() {
    shell_scripts | while IFS= read -r script; do
        case $(head -n 1 "$root/$script") in
            *bash*) bash -n "$root/$script" ;;
            *) sh -n "$root/$script" ;;
        esac || exit 1
    done || return 1
    python3 "$root/src/test/scripts/changed_lines.py" --self-test 2>&1 || return 1
    python3 "$root/src/test/scripts/compare_builds.py" --self-test 2>&1 || return 1
    python3 "$root/src/test/scripts/terminal_svg.py" --self-test 2>&1 || return 1
    python3 "$root/src/main/dist/jars.py" --self-test || return 1
    python3 "$root/src/test/memory/hostile.py" --self-test || return 1
    python3 "$root/src/test/soak/soak.py" --self-test || return 1
    python3 "$root/src/test/dashboards/dashboards.py" --self-test || return 1
    python3 "$root/src/test/site/site_test.py" || return 1
    python3 -B "$root/src/main/site/reference.py" "$root" --check || return 1
    python3 "$root/src/test/prose/prose.py" --self-test || return 1
    python3 -B "$root/src/perf/plot.py" --self-test 2>&1 || return 1
    python3 -B "$root/src/perf/plot.py" --check || return 1
    python3 -B "$root/src/perf/peers/peers.py" --self-test 2>&1 || return 1
    python3 "$root/src/test/docs/commands.py" --self-test || return 1
    python3 "$root/src/test/docs/commands.py" --check || return 1
    sh "$root/src/test/sh/launcher_test.sh"
}

check_shellcheck() {
    if ! command -v shellcheck >/dev/null 2>&1; then
        say "shellcheck is not installed (apt-get install shellcheck): scripts are not linted"
        return 77
    fi
    # -x follows ./warmpath into src/main/sh; on their own those parts would miss each other's variables.
    # SC2044 (loops over find): names in this repository have no spaces.
    shell_scripts | grep -v '^src/main/sh/' | (cd "$root" && xargs shellcheck -x -S warning -e SC2044)
}

cpp_files() {
    (cd "$root" && find src-cpp native-core src/native-image -type f \( -name '*.cpp' -o -name '*.hpp' -o -name '*.h' -o -name '*.c' \))
}

# Sets clang_format to the pinned version; another version would format differently and only make noise.
find_clang_format() {
    for candidate in "clang-format-$CLANG_FORMAT_MAJOR" clang-format; do
        command -v "$candidate" >/dev/null 2>&1 || continue
        case $("$candidate" --version) in
            *"version $CLANG_FORMAT_MAJOR."*)
                clang_format=$candidate
                return 0
                ;;
        esac
    done
    say "clang-format $CLANG_FORMAT_MAJOR is not installed: C++ formatting is left alone"
    return 1
}

check_java_format() { maven -N spotless:check; }

check_cpp_format() {
    find_clang_format || return 77
    # Without a style file clang-format would silently take another project's style.
    [ -f "$root/.clang-format" ] || { say "there is no .clang-format at the root"; return 1; }
    cpp_files | (
        cd "$root"
        bad=0
        while IFS= read -r file; do
            "$clang_format" --dry-run -Werror "$file" >/dev/null 2>&1 || { bad=1; say "not formatted: $file"; }
        done
        [ "$bad" = 0 ] || say "./warmpath fmt formats them"
        exit "$bad"
    )
}

# With the lock held, so that a demo started meanwhile does not build into the same directory.
# A test that fails is run once more: many use real sockets and clocks on machines that are shared. One that passes then
# is still told, loudly: it has a race that has to be found.
# Two JVMs share a module's test classes, as much of their time is waiting.
java_tests() {
    take_lock
    mooncake_for_tests
    kubernetes_for_tests
    http_judge_for_tests
    tested_stamp=$(input_stamp)
    rm -f "$stamp_file"
    # The modules after one with failing tests are tested too; its summary is looked for below.
    maven verify -DforkCount=2 -Dsurefire.rerunFailingTestsCount=1 -Dmaven.test.failure.ignore=true "$@" || return 1
    say "the slowest test classes, in seconds:"
    sed -n 's/.*Time elapsed: \([0-9.]*\) s.* -- in \(.*\)/\1 \2/p' "$build_log" | sort -rn | awk '!told[$2]++' | head -n 20 >&2
    if grep -aq 'There are test failures' "$build_log"; then
        say "tests failed; the log is target/warmpath-build.log:"
        grep -aE '^\[ERROR\] +[A-Za-z0-9_.]+Test[A-Za-z0-9_]*[.:]|^\[ERROR\] Tests run:' "$build_log" | cut -c1-300 >&2
        return 1
    fi
    if grep -aq 'Flakes: [1-9]' "$build_log"; then
        say "FLAKY: these failed, and passed when they were run once more:"
        sed -n '/\] Flakes:/,/Tests run:/p' "$build_log" >&2
    fi
    printf '%s\n' "$tested_stamp" >"$stamp_file"
    free_lock
}

native_presets() { sh "$root/native-core/check.sh" "$@"; }

native_ahead=

# native_build_ahead PRESETS...: compiles while the Java tests run, with what they leave of the processors. Where the scheduler has
# no such class, the native step does all of it itself. (No session of its own: Linux would share the processors by sessions.)
native_build_ahead() {
    chrt --idle 0 true 2>/dev/null || return 0
    mkdir -p "$target"
    chrt --idle 0 sh "$root/native-core/check.sh" --build-only "$@" >"$target/warmpath-native-ahead.log" 2>&1 </dev/null &
    native_ahead=$!
}

# An error is found again by the native step, and told there.
native_built_ahead() {
    [ -n "$native_ahead" ] || return 0
    say "--- native: the rest of what was compiled beside the Java tests"
    hurry_tree "$native_ahead"
    wait "$native_ahead" || :
    native_ahead=
}

# It no longer waits for what others leave of the processors: first the one that starts others.
hurry_tree() {
    chrt --other --pid 0 "$1" 2>/dev/null || :
    for child in $(pgrep -P "$1"); do hurry_tree "$child"; done
}

# An error is found again by the engines' step, and told there.
engines_installed_ahead() {
    [ -n "$engines_ahead" ] || return 0
    wait "$engines_ahead" || :
    engines_ahead=
}

stop_ahead() {
    for ahead in $native_ahead $engines_ahead $beside; do stop_tree "$ahead"; done
}

beside=

# steps_beside FUNCTION: its steps run beside those that follow, until steps_joined. They wait a lot, as those do: two processors
# are enough for both.
steps_beside() {
    rm -f "$target/warmpath-beside.results"
    (
        trap - EXIT INT TERM HUP
        results=
        failed=0
        "$1"
        printf '%s' "$results" >"$target/warmpath-beside.results"
        exit "$failed"
    ) >"$target/warmpath-beside.log" 2>&1 </dev/null &
    beside=$!
}

# Shows what the steps beside have said, and counts them.
steps_joined() {
    [ -n "$beside" ] || return 0
    beside_failed=0
    wait "$beside" || beside_failed=$?
    beside=
    cat "$target/warmpath-beside.log" >&2
    failed=$((failed + beside_failed))
    if [ -s "$target/warmpath-beside.results" ]; then
        results="$results$(cat "$target/warmpath-beside.results")
"
    elif [ -z "$only" ]; then
        say "the steps beside have ended without results, status $beside_failed"
        failed=$((failed + 1))
    fi
}

engines_ahead=

# engines_install_ahead: downloads and unpacks the real engines while the Java tests run.
engines_install_ahead() {
    mkdir -p "$target"
    nice -n 19 sh "$root/src/test/engines/install.sh" >"$target/engines-install.log" 2>&1 </dev/null &
    engines_ahead=$!
}

# engines_test smoke|table|live [ARGUMENT...]: real SGLang and vLLM behind the gateway.
engines_test() {
    build_gateway
    sh "$root/src/test/engines/run.sh" "$@"
}

# engine_arguments: those of k8s and of the example. After engines_test, which installs the engines.
engine_arguments() { python3 -B "$root/src/test/k8s/engine_arguments.py"; }

stop_tree() {
    for child in $(pgrep -P "$1"); do stop_tree "$child"; done
    kill "$1" 2>/dev/null || :
}

check_dockerfiles() {
    hadolint=$root/.tools/kubernetes/venv/bin/hadolint
    if [ ! -x "$hadolint" ]; then
        say "hadolint is not installed: the Dockerfiles are not linted"
        return 77
    fi
    (cd "$root" && "$hadolint" --failure-threshold style Dockerfile.native src/main/docker/Dockerfile.jvm)
}

# attack_test [--smoke]: attacks on the running gateway from outside.
attack_test() {
    build_gateway
    python3 -B "$root/src/test/attack/run.py" "$@"
}

# console_test [--smoke]: the console in a real browser.
console_test() {
    browser_for_tests || return
    build_gateway
    console_venv=$(sh "$root/src/test/e2e/venv.sh" console) || return 1
    "$console_venv/bin/python" -B "$root/src/test/console/console.py" "$@"
}

# picker_test [--only NAME]: the endpoint picker behind a real Envoy, then what it costs, in small.
picker_test() {
    build_gateway
    picker_venv=$(sh "$root/src/test/e2e/venv.sh" picker) || return 1
    "$picker_venv/bin/python" -B "$root/src/test/picker/picker.py" "$@" || return 1
    [ $# -gt 0 ] || "$picker_venv/bin/python" -B "$root/src/test/picker/latency.py" --smoke
}

# clients_test oldest|newest: the Python packages installed from a copy of the tree, with that one of the Pythons that they name.
clients_test() { python3 -B "$root/src/test/clients/clients.py" "$root" "$1"; }

# What a compose file needs beside podman: names in the network of containers, and podman-compose.
compose_for_tests() {
    image_tools_for_tests || return
    if [ ! -x /usr/lib/podman/aardvark-dns ] && is_root && command -v apt-get >/dev/null 2>&1; then
        (install_packages netavark aardvark-dns iptables) || return
    fi
    sh "$root/src/test/e2e/venv.sh" compose >/dev/null
}

# Agents that npm installs, in target/agents.
agents_for_tests() {
    agents=$target/agents
    cmp -s "$root/src/test/agents/package.json" "$agents/package.json" && [ -d "$agents/node_modules" ] && return 0
    rm -rf "$agents"
    mkdir -p "$agents"
    cp "$root/src/test/agents/package.json" "$agents/"
    command -v npm >/dev/null 2>&1 && npm install --prefix "$agents" --no-package-lock --no-audit --no-fund >"$target/agents.log" 2>&1 && return 0
    say "there is no npm, or it could not install the agents (log: target/agents.log): their pages are left out"
    rm -rf "$agents"
    return 77
}

# Without what runs models in it (torch and its like), which its list leaves out.
open_webui_for_tests() {
    PIP_NO_DEPS=1 sh "$root/src/test/e2e/venv.sh" open-webui >/dev/null 2>"$target/open-webui.log" && return 0
    say "Open WebUI cannot be installed (log: target/open-webui.log): its page is left out"
    return 77
}

# docs_commands [PAGE...]: what the documentation tells its readers to type, typed. Of all pages also: planted faults are found.
docs_commands() {
    build_gateway
    if [ $# -eq 0 ]; then
        prometheus_for_tests || :
        agents_for_tests || :
        open_webui_for_tests || :
        ! compose_for_tests || run_image --tool buildah || return 1
        sh "$root/src/test/e2e/venv.sh" examples >/dev/null && python3 "$root/src/test/docs/commands.py" --control || return 1
    fi
    python3 "$root/src/test/docs/commands.py" "$@"
}

# Both jars where Java is too old for them.
old_java_test() {
    build_gateway
    sh "$root/src/test/sh/old_java_test.sh" "$jar" "$tools_jar"
}

# api_client_test [WIRES [SECONDS]]: clients of OpenAI and Anthropic, once for each of engines' wire formats, then so long a steady load.
api_client_test() { E2E_WIRES=${1-} E2E_SOAK_SECONDS=${2-30} sh "$root/src/test/e2e/run.sh"; }

# A demo measures, on a machine that is shared: one that fails is played once more, and that is told.
played() {
    ("$@") && return 0
    say "FLAKY: a demo failed, see above; it is played once more"
    ("$@")
}

# On a port of its own: the usual one may be in use by a gateway of this machine.
demo_test() { played run_program demo --once --port "$demo_test_port" --html "$target/demo.html"; }

pool_demo_test() { played run_program demo --pool --once --port "$demo_test_port" --html "$target/demo-pool.html"; }

# memory_test SECONDS [--control]: a gateway with 512 MiB before clients that want all of it.
memory_test() {
    build_gateway
    memory_seconds=$1
    shift
    python3 "$root/src/test/memory/hostile.py" --root "$root" --seconds "$memory_seconds" "$@"
}

# peers_test [ARGUMENT...]: the gateway's cost beside nginx, smg, Dynamo and LiteLLM.
peers_test() {
    build_gateway
    python3 -B "$root/src/perf/peers/peers.py" "$@"
}

# soak_test DURATION
soak_test() {
    build_gateway
    find_java || need_java
    python3 "$root/src/test/soak/soak.py" --root "$root" --java "$JAVA_HOME/bin/java" --duration "$1"
}

# Debian's, without the service that its package would start.
prometheus_for_tests() {
    prometheus=$root/.tools/prometheus/usr/bin/prometheus
    [ -x "$prometheus" ] && return 0
    mkdir -p "$root/.tools/prometheus"
    if command -v prometheus >/dev/null 2>&1; then
        prometheus=$(command -v prometheus)
    elif command -v apt-get >/dev/null 2>&1; then
        (cd "$root/.tools/prometheus" && { apt-get -q download prometheus || { apt-get -q update && apt-get -q download prometheus; }; } &&
            dpkg-deb -x prometheus_*.deb . && rm -f prometheus_*.deb) >>"$root/.tools/prometheus.log" 2>&1
    fi
    [ -x "$prometheus" ]
}

# Every panel's query before a Prometheus that scrapes a gateway at work.
dashboards_test() {
    if ! prometheus_for_tests; then
        say "there is no prometheus, and apt-get cannot download it (log: .tools/prometheus.log): dashboards are not asked"
        return 77
    fi
    build_gateway
    find_java || need_java
    python3 "$root/src/test/dashboards/dashboards.py" --root "$root" --java "$JAVA_HOME/bin/java" --prometheus "$prometheus"
}

dev_test() { python3 "$root/src/test/e2e/dev_mode.py" --root "$root"; }

# image_test: the image built, built once more into another storage, and run.
image_test() {
    image_tools_for_tests || return
    image_again=$target/image-again
    rm -rf "$image_again"
    mkdir -p "$image_again"
    printf '[storage]\ndriver = "overlay"\ngraphroot = "%s/graph"\nrunroot = "%s/run"\n' "$image_again" "$image_again" >"$image_again/storage.conf"
    run_image --tool buildah || return 1
    (export CONTAINERS_STORAGE_CONF="$image_again/storage.conf" && run_image --tool buildah) || return 1
    first=$(image_layers)
    again=$(CONTAINERS_STORAGE_CONF="$image_again/storage.conf" image_layers)
    rm -rf "$image_again"
    # The last layer is the AOT cache, which the JVM does not write the same way twice.
    if [ "$(printf '%s\n' "$first" | sed '$d')" != "$(printf '%s\n' "$again" | sed '$d')" ]; then
        say "two images of this commit differ in more than the AOT cache:"
        printf '%s\n\n%s\n' "$first" "$again" >&2
        return 1
    fi
    python3 -B "$root/src/test/image/image.py" --image "localhost/warmpath:$(project_version)"
}

# The digests of what the image's layers hold.
image_layers() {
    buildah inspect --type image --format '{{range .OCIv1.RootFS.DiffIDs}}{{println .}}{{end}}' "warmpath:$(project_version)" | sed '/^$/d'
}

# pods_test [ARGUMENTS OF pods.py]: the manifests as real pods on a Kubernetes of one node.
pods_test() {
    image_tools_for_tests && node_for_tests || return
    prometheus_for_tests || {
        say "there is no prometheus, and apt-get cannot download it (log: .tools/prometheus.log): no pod is run"
        return 77
    }
    run_image --tool buildah || return 1
    sh "$root/src/test/pods/run.sh" "localhost/warmpath:$(project_version)" --prometheus "$prometheus" "$@"
}

agents_demo_test() { played run_program demo --agents --once --agent-turns 3 --html "$target/demo-agents.html"; }

# The pages' English: src/docs/project/style-note.md.
check_prose() { python3 "$root/src/test/prose/prose.py" "$root"; }

common_steps() {
    step 'launcher: syntax and self-test' check_scripts
    step 'launcher: shellcheck' check_shellcheck
    step 'documentation: English' check_prose
    step 'format: Java' check_java_format
    step 'format: C++' check_cpp_format
}

run_check() {
    need_toolchain tests
    common_steps
    step 'Java: compile, unit, contract, architecture (without slow)' java_tests -DleftOut=slow -Dtest.engine-path=PAST -DtestAgent=-XX:TieredStopAtLevel=1
    step 'native: release' native_presets release
    summary check
}

# Of `test`: beside the native tests, the console and the attacks. The wire format with all that engines can do, and two halves.
clients_and_engines() {
    step 'engines: a real SGLang and a real vLLM, default flags' engines_test smoke
    step 'end to end: api clients' api_client_test 'sglang-map sglang-split' 0
    python_packages
}

python_packages() {
    step 'Python packages: the oldest Python, installed, tested, typed, no file left' clients_test oldest
    step 'Python packages: the newest Python, installed, tested, typed, no file left' clients_test newest
}

# everything LABEL PRESETS MAVEN-OPTIONS...
everything() {
    label=$1
    presets=$2
    shift 2
    need_toolchain tests
    common_steps
    if [ "$label" = verify ]; then
        [ -n "$only" ] || kubernetes_servers_for_tests
        step 'SBOM' make_sbom # before the tests, which read it
    fi
    # shellcheck disable=SC2086 # names are words
    [ -n "$only" ] || native_build_ahead $presets
    [ -n "$only" ] || engines_install_ahead
    trap stop_ahead EXIT
    trap 'exit 130' INT
    trap 'exit 143' TERM HUP
    step 'Java: all tests' java_tests "$@"
    engines_installed_ahead
    [ "$label" != test ] || steps_beside clients_and_engines
    step 'documentation: site, links, menu, spelling' check_docs
    step "Kubernetes: the chart's README" chart_readme
    step 'Dockerfiles: hadolint' check_dockerfiles
    step 'older Java: one sentence' old_java_test
    if [ "$label" = test ] && too_late 23 "native: $presets"; then
        [ -z "$native_ahead" ] || stop_tree "$native_ahead"
        native_ahead=
    else
        native_built_ahead
        # shellcheck disable=SC2086
        step "native: $presets" native_presets $presets
    fi
    if [ "$label" = verify ]; then
        step 'reproducible: two builds of this commit, the same bytes' reproducible_build
        step 'dist: made twice, the same bytes' dist_twice
        step 'dist: checked, and planted faults found' dist_checked
        step 'dist: the archive in a bare root' dist_bare
        step 'dist: the archive for aarch64 under an emulator' dist_aarch64_test
        step 'dist: the Debian package under systemd' dist_deb_test
        step 'dist: the wheel in a virtual environment' dist_wheel_test
        step 'connectors: a build with Kafka and AMQP, before real brokers' connector_tests
        step 'native: aarch64, compiled and emulated' native_aarch64
        step 'native: long proofs' native_proofs
        step 'tokenizer: four real ones against the library, 1.2 * 10^8 characters' real_tokenizers
        step 'native: fuzz, 60 s a target' native_fuzz 60 all
    fi
    if [ "$label" != test ]; then
        step 'engines: a real SGLang and a real vLLM, default flags' engines_test smoke
        step "engines: the manifests' arguments before the real parsers" engine_arguments
        step 'engines: disaggregation, four real SGLangs' engines_test split
        step 'engines: disaggregation, two real vLLMs and NIXL' engines_test handoff nixl
        step 'engines: disaggregation, two real vLLMs and Mooncake' engines_test handoff mooncake
        step 'engines: all cases with real ones' engines_test table
        step 'engines: hit rates beside other gateways' engines_test live modes --check
        step 'engines: evictions, beside a guess from what was sent' engines_test live exact \
            --case evictions --case preface --rounds 2 --check
        step 'engines: the first seconds after a start' engines_test live start --at-once 24 --check
        step 'cost of a request beside other gateways: smoke' peers_test --smoke
    fi
    if [ "$label" = test ]; then
        step_before 31 'console: in a browser' console_test --smoke
        step_before 33 'attack: smoke' attack_test --smoke
        steps_joined
        step_before 34 'memory: 512 MiB, hostile clients, 20 s' memory_test 20
        step_before 34 'docs: the commands of the first tutorial' docs_commands tutorials/first-answer
    else
        step 'end to end: api clients' api_client_test
        python_packages
        step 'docs: the commands of all pages' docs_commands
        step 'console: in a browser, with 500 decisions a second' console_test
        step 'documentation: the site in a browser' site_test
        step 'attack' attack_test
        step 'memory: 512 MiB, hostile clients, 10 minutes' memory_test 600
        step 'memory: the same without limits needs more' memory_test 30 --control
        step 'soak: 10 minutes' soak_test 10m
        step 'endpoint picker: behind a real Envoy' picker_test
        step 'native executable: e2e' native_e2e_test
        step 'native executable: probe, beside a JVM' native_probe_test
        step 'native executable: start, memory and work, beside a JVM' native_start_test
        step 'native executable: attack' native_attack_test
        step 'native executable: Dockerfile.native, run read-only with 512 MiB' native_container_test
        step 'native executable: soak 10 minutes' native_soak_test 10m
        step 'dashboards: every panel before a Prometheus' dashboards_test
        step 'image: built twice, run read-only with 512 MiB' image_test
        step 'pods: overlays embedded and ha-nats, and the chart, on a Kubernetes of one node' pods_test
    fi
    trap - EXIT INT TERM HUP
    if [ "$label" = test ]; then
        step_before 33 'dev: live reload' dev_test
        step_before 36 'demo --once' demo_test
    else
        step 'dev: live reload' dev_test
        step 'demo --once' demo_test
        step 'demo --pool --once' pool_demo_test
        step 'demo --agents --once' agents_demo_test
    fi
    summary "$label"
}

# Forty minutes on two slow cores: what is tagged `long`, and the native tests without sanitizers, are for `verify` (those for `check`, too).
run_test() {
    say "tests that are tagged long are left to ./warmpath verify: $(cd "$root" && grep -rl '@Tag("long")' src/*/test | sed 's|.*/||; s|\.java||' | tr '\n' ' ')"
    steps_began=$(now) # what is fetched and built first counts, too
    everything test asan-ubsan -DleftOut=long -Dtest.engine-path=PAST,VERTX
}

# built_elsewhere FOLDER UMASK: the commit of $commit, cloned to there and built. The tools and Maven's repository are this machine's.
built_elsewhere() {
    (umask 022 && git clone -q "$root" "$1" && git -C "$1" checkout -q --detach "$commit") || return 1
    umask "$2"
    [ ! -d "$root/.tools" ] || ln -s "$root/.tools" "$1/.tools"
    WARMPATH_MAVEN_OPTS=$maven_opts "$1/warmpath" build
}

# Two builds of one commit, at other places and times, in other time zones and languages and under another umask, give the same
# bytes. What is not committed is not in them.
reproducible_build() {
    commit=$(git -C "$root" rev-parse -q --verify HEAD 2>/dev/null) || {
        say "this is no clone of a repository: there is no commit to build twice"
        return 77
    }
    twice=$target/reproducible
    rm -rf "$twice"
    mkdir -p "$twice"
    (export TZ=UTC LC_ALL=C.UTF-8 && built_elsewhere "$twice/first" 022) &&
        (export TZ=Asia/Tokyo LC_ALL=C && built_elsewhere "$twice/a-longer-way/to-the-second" 077) &&
        python3 "$root/src/test/scripts/compare_builds.py" "$twice/first/target" "$twice/a-longer-way/to-the-second/target" || return 1
    rm -rf "$twice"
}

# dist, and dist again; with the archive for aarch64 where its JDK can be had.
dist_twice() {
    set --
    if need_jdk_aarch64; then set -- --jdk-aarch64 debian; fi
    (run_dist "$@") && dist_first=$target/dist-first && rm -rf "$dist_first" && mv "$dist_dir" "$dist_first" && (run_dist "$@") || return 1
    diff -r "$dist_first" "$dist_dir" >&2 || { say "the second dist differs from the first"; return 1; }
    rm -rf "$dist_first"
}

dist_checked() {
    (run_dist --check) && python3 "$dist_from/check.py" --control "$dist_dir" "$root" "$JAVA_HOME"
}

dist_bare() { python3 -B "$root/src/test/dist/bare.py" "$dist_dir/warmpath-$(project_version)-linux-x86_64.tar.gz"; }

dist_aarch64_test() {
    need_jdk_aarch64 || return
    need_aarch64
    python3 -B "$root/src/test/dist/aarch64.py" "$dist_dir/warmpath-$(project_version)-linux-aarch64.tar.gz" "$aarch64_root" "$target/dist-test"
}

dist_deb_test() { sh "$root/src/test/dist/deb.sh" "$dist_dir/warmpath_$(project_version)_amd64.deb" "$target/dist-test"; }

dist_wheel_test() { sh "$root/src/test/dist/wheel.sh" "$dist_dir" "$target/dist-test"; }

# Needs the network once, for the connectors and the brokers.
connector_tests() {
    take_lock
    maven test -Pkafka,amqp '-Dtest=KafkaChannelTest,AmqpChannelTest' -Dsurefire.failIfNoSpecifiedTests=false || return 1
    free_lock
}

# native_proofs: readers beside a writer, 10^9 look-ups; the ABI with right and wrong arguments, 10^7 calls under ASan
# and UBSan. Together about half an hour on two cores; both print how far they are.
native_proofs() {
    KVI_STRESS_QUERIES=1000000000 "$target/native-release/src-cpp/tests/kvindex_tests" --gtest_brief=1 \
        '--gtest_filter=bracket.no_answer*' &&
        KVI_CALLS=10000000 "$target/native-asan-ubsan/tests/abi_calls_random"
}

# Needs the network once; skipped without.
real_tokenizers() {
    sh "$root/src/test/sh/fetch_tokenizers.sh" "$target/tokenizers" || return $?
    take_lock
    maven test '-Dtest=BpeDifferentialTest#real_models_give_the_same_ids' "-Dtest.bpe.models=$target/tokenizers" \
        -Dtest.bpe.chars=30000000 || return 1
    free_lock
}

native_aarch64() {
    need_aarch64
    native_presets aarch64
}

# native_fuzz SECONDS TARGET
native_fuzz() {
    need_fuzzer
    sh "$root/native-core/fuzz.sh" "$@"
}

run_fuzz() {
    fuzz_seconds=60
    fuzz_target=all
    while [ $# -gt 0 ]; do
        case $1 in
            --seconds) fuzz_seconds=${2-} ;;
            --target) fuzz_target=${2-} ;;
            *) die 2 "fuzz does not know '$1'; ./warmpath help fuzz explains it" ;;
        esac
        [ $# -ge 2 ] || die 2 "$1 needs a value"
        shift 2
    done
    case $fuzz_seconds in
        '' | 0* | *[!0-9]*) die 2 "--seconds is a number from 1 on, not '$fuzz_seconds'" ;;
    esac
    case $fuzz_target in
        all | apply_then_match | apply_any_bytes | abi_calls | tracker_calls | encode_any_text | peer_bytes) ;;
        *) die 2 "there is no fuzz target '$fuzz_target'; apply_then_match, apply_any_bytes, abi_calls, tracker_calls, encode_any_text, peer_bytes and all are" ;;
    esac
    need_toolchain tests
    step "native: fuzz $fuzz_target, $fuzz_seconds s a target" native_fuzz "$fuzz_seconds" "$fuzz_target"
    summary fuzz
}

# test.histories: random histories that the native index and the reference are compared over (120 otherwise).
# test.bpe.chars: random text for each dialect that our tokenizer and the library are compared over (60,000 otherwise).
# test.bpe.step: one of so many texts with every code point (16 otherwise).
# test.fuzz: random bodies and streams that the scanners and the slow readers are compared over (40,000 otherwise).
# test.streams: streams at once when a worker is killed (40 otherwise).
# test.kills: how often a gateway that keeps its state is killed (2 otherwise).
# test.payloads: mutated event batches before the decoder and the index (20,000 otherwise); test.requests: requests to an engine
# whose events are lost, doubled and swapped on the wire (300 otherwise); test.pause: seconds an engine is stopped for (3 otherwise).
# test.chaos.*: how long, how many engines and streams while everything breaks (12 s, 4 and 24 otherwise).
# test.http-streams: streams of requests that the server and a judge are compared over (2,000,000 otherwise), for
# test.http-minutes at most (1 otherwise), by test.http-threads (1 otherwise).
# test.turns.seconds: how long an overload by one of 20 tenants is played in real time (5 otherwise); 17 minutes in all with 300.
# `verify --soak DURATION` is the soak alone, for as long as one likes; `verify --only WORD` the steps with that in their names.
run_verify() {
    case ${1-} in
        '') ;;
        --soak)
            case ${2-} in
                *[!0-9smh]* | '' | *[smh]?* | *[0-9]) die 2 "--soak takes a duration such as 90s, 10m or 8h, not '${2-}'" ;;
            esac
            need_toolchain tests
            need_nats_server
            step "soak: $2" soak_test "$2"
            summary 'verify --soak'
            return
            ;;
        --only)
            [ -n "${2-}" ] || die 2 "--only takes a part of a step's name"
            only=$2
            ;;
        *) die 2 "verify does not know '$1'; ./warmpath help verify explains it" ;;
    esac
    everything verify 'asan-ubsan release tsan' -DtestAgent=-XX:+TieredCompilation -Dtest.histories=10000 -Dtest.fuzz=10000000 \
        -Dtest.turns.seconds=300 -Dtest.http-streams=100000000 -Dtest.http-minutes=30 -Dtest.http-threads=2 \
        -Dtest.bpe.chars=2000000 -Dtest.bpe.step=1 -Dtest.kills=50 -Dtest.payloads=1000000 -Dtest.requests=5000 -Dtest.pause=30 -Dtest.streams=200 \
        -Dtest.chaos.seconds=600 -Dtest.chaos.engines=8 -Dtest.chaos.streams=200
}

jmh() {
    take_lock
    # Every module writes its class path there; the gateway's is the last one.
    maven test-compile "$DEPENDENCY_PLUGIN:build-classpath" -DincludeScope=test \
        "-Dmdep.outputFile=$target/warmpath-bench.classpath" || return 1
    free_lock
    "$JAVA_HOME/bin/java" -cp "$target/gateway/test-classes:$target/gateway/classes:$(cat "$target/warmpath-bench.classpath")" \
        --enable-native-access=ALL-UNNAMED --sun-misc-unsafe-memory-access=allow "$JMH_MAIN" "$@"
}

# Every executable of the release preset whose name says that it measures.
native_bench() {
    (cd "$root/native-core" && cmake --preset release >"$target/warmpath-bench.log" 2>&1 &&
        cmake --build "$target/native-release" --parallel >>"$target/warmpath-bench.log" 2>&1) || {
        tail -n 20 "$target/warmpath-bench.log" >&2
        return 1
    }
    found=$(find "$target/native-release" -type f -name '*bench*' -perm -u+x | sort)
    [ -n "$found" ] || { say "no benchmark was built in target/native-release"; return 1; }
    printf '%s\n' "$found" | while IFS= read -r bench; do
        "$bench" || exit 1
    done
}

run_bench() {
    need_toolchain tests
    if [ "${1-}" = peers ]; then
        shift
        peers_test "$@"
        return
    fi
    step 'native micro-benchmarks' native_bench
    step 'JMH' jmh "$@"
    summary bench
}

run_fmt() {
    need_toolchain
    step 'format: Java' maven -N spotless:apply
    step 'format: C++' apply_cpp_format
    summary fmt
}

apply_cpp_format() {
    find_clang_format || return 77
    cpp_files | (cd "$root" && xargs "$clang_format" -i)
}
