# k8s-check: the tests of the manifests and the chart, without Maven's whole life cycle: only the sources that they need are compiled, against
# what `build` made, and JUnit's own launcher runs them. `test` runs the same tests. Sourced by ./warmpath.
# shellcheck shell=sh

# What would be applied to a cluster: rendered by kubectl and Helm, held against Kubernetes' models, the gateway's keys and routes, and
# each other. Nothing is applied anywhere.
MANIFEST_TESTS='io.warmpath.repository.ManifestsTest io.warmpath.repository.RenderedManifestsTest io.warmpath.adapter.kubernetes.ExampleEnginesTest'
SERVER_TESTS='io.warmpath.adapter.kubernetes.RealApiServerTest io.warmpath.adapter.kubernetes.RealInferencePoolTest'
HELM_DOCS_MODULE=github.com/norwoodj/helm-docs/cmd/helm-docs
HELM_DOCS_WANTED=v1.14.2
k8s_target=$target/k8s-check

# k8s_classpath: libraries of the gateway's tests. Asked of Maven when a pom has changed.
k8s_classpath() {
    classpath_key=$(cat "$root/pom.xml" "$root"/src/*/pom.xml | cksum)
    [ "$(cat "$k8s_target/classpath.key" 2>/dev/null)" = "$classpath_key" ] && return 0
    take_lock
    maven process-classes "$DEPENDENCY_PLUGIN:build-classpath" -Dmaven.test.skip=true -DincludeScope=test \
        "-Dmdep.outputFile=$k8s_target/classpath" || return 1
    free_lock
    printf '%s\n' "$classpath_key" >"$k8s_target/classpath.key"
}

# k8s_compile: the tests, and what they need of other tests; nothing old stays.
k8s_compile() {
    mkdir -p "$k8s_target"
    build_gateway
    k8s_classpath || return 1
    sources=src/test/java/io/warmpath/FrequentLooks.java # JUnit finds it by its service file
    for class in $MANIFEST_TESTS $SERVER_TESTS; do sources="$sources src/gateway/test/java/$(printf '%s' "$class" | tr . /).java"; done
    rm -rf "$k8s_target/classes"
    # shellcheck disable=SC2086 # names are words
    (cd "$root" && "$JAVA_HOME/bin/javac" --release "$JAVA_MAJOR" -proc:none -nowarn -implicit:class -encoding UTF-8 -d "$k8s_target/classes" \
        -sourcepath src/gateway/test/java:src/test/java -cp "$target/gateway/classes:$(cat "$k8s_target/classpath")" $sources) 2>&1
}

# k8s_tests CLASSES: of what is compiled. Status 77 when every test was skipped: what it needs is not here.
k8s_tests() {
    select=
    for class in $1; do select="$select --select-class=$class"; done
    # shellcheck disable=SC2086 # names are words
    (cd "$root" && "$JAVA_HOME/bin/java" -XX:+UseSerialGC -XX:TieredStopAtLevel=1 --enable-native-access=ALL-UNNAMED \
        -cp "$k8s_target/classes:src/test/resources:$target/gateway/classes:$(cat "$k8s_target/classpath")" \
        org.junit.platform.console.ConsoleLauncher execute \
        --disable-banner --disable-ansi-colors --details=tree --details-theme=ascii --fail-if-no-tests $select >"$k8s_target/log" 2>&1)
    ran=$?
    grep -E '\[ +[0-9]+ tests (found|aborted|successful|failed) +\]' "$k8s_target/log" >&2
    if [ "$ran" != 0 ]; then
        say "the log is target/k8s-check/log:"
        grep -E '\[X\]|AssertionFailed|Error:' "$k8s_target/log" | head -n 20 >&2
        return 1
    fi
    if grep -Eq '\[ +0 tests successful +\]' "$k8s_target/log"; then
        grep -m 1 'SKIPPED: ' "$k8s_target/log" >&2 || say "every test was skipped; the log is target/k8s-check/log"
        return 77
    fi
}

kubernetes_tests() {
    kubernetes_for_tests
    k8s_compile && k8s_tests "$MANIFEST_TESTS"
}

# After kubernetes_tests, which compiles these too.
server_tests() {
    [ ! -x "$root/.tools/kubernetes/kube-apiserver" ] || inference_crds_for_tests
    k8s_tests "$SERVER_TESTS"
}

# The running gateway before that API server.
inference_pool_test() {
    build_gateway
    python3 -B "$root/src/test/k8s/inference_pool.py"
}

# chart_readme [write]: the chart's README is what helm-docs makes of its values.
chart_readme() {
    helm_docs=$root/.tools/kubernetes/helm-docs
    if ! [ -x "$helm_docs" ]; then
        if ! command -v go >/dev/null 2>&1; then
            say "there is no go to build helm-docs with: the chart's README is not compared with its values"
            return 77
        fi
        say "building helm-docs $HELM_DOCS_WANTED with go into .tools/kubernetes (log: target/helm-docs.log)"
        GOBIN="$root/.tools/kubernetes" go install "$HELM_DOCS_MODULE@$HELM_DOCS_WANTED" </dev/null >"$target/helm-docs.log" 2>&1 || {
            say "helm-docs could not be built (log: target/helm-docs.log): the chart's README is not compared with its values"
            return 77
        }
    fi
    chart=$root/k8s/helm/warmpath
    if [ "${1-}" = write ]; then
        "$helm_docs" --log-level error --chart-search-root "$chart" --template-files README.md.gotmpl
    else
        "$helm_docs" --log-level error --chart-search-root "$chart" --template-files README.md.gotmpl --dry-run >"$target/chart-readme.md" || return 1
        # A dry run ends with one empty line more.
        printf '%s\n' "$(cat "$target/chart-readme.md")" | diff -u "$chart/README.md" - >&2 && return 0
        say "k8s/helm/warmpath/README.md is not what its values say; ./warmpath k8s-check --write writes it"
        return 1
    fi
}

run_k8s_check() {
    case "$*" in
        '') ;;
        --write)
            chart_readme write || die 1 "the chart's README was not written"
            return
            ;;
        *) die 2 "k8s-check does not know '$*'; ./warmpath help k8s-check explains it" ;;
    esac
    need_toolchain
    step 'Kubernetes: manifests and chart' kubernetes_tests
    step 'Kubernetes: a real kube-apiserver' server_tests
    step 'Kubernetes: the gateway with the pods of an InferencePool' inference_pool_test
    step "Kubernetes: the chart's README" chart_readme
    step 'Dockerfiles: hadolint' check_dockerfiles
    summary k8s-check
}
