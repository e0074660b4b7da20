#!/bin/sh
# Other gateways, from their packages, to be compared with: into .tools/peers, each in an environment of its own.
#
#   src/perf/peers/install.sh [smg|dynamo|litellm|nginx]...     all four without a name
#
# One that cannot be had leaves its reason, one line, in .tools/peers/NAME.reason, and its log in NAME.log beside it; the others are
# installed all the same, and the status is 1.
set -eu
here=$(CDPATH='' cd -- "$(dirname -- "$0")" && pwd)
home=$(CDPATH='' cd -- "$here/../../.." && pwd)/.tools/peers
SMG=1.13.0
DYNAMO=1.6.1
LITELLM=1.106.2

pip_install() { "$home/$name/bin/python" -m pip install --quiet --disable-pip-version-check "$@"; }

smg() { pip_install "smg==$SMG"; }

litellm() { pip_install "litellm[proxy]==$LITELLM"; }

# One of its dependencies, aisimulate, is a stub on the index and cannot be installed. Frontend and mocker do without it.
dynamo() {
    pip_install --no-deps "ai-dynamo==$DYNAMO" &&
        "$home/$name/bin/python" -c 'import importlib.metadata as m; print(*(r for r in m.requires("ai-dynamo")
            if "extra ==" not in r and not r.startswith("aisimulate")), sep="\n")' >"$home/$name/needs.txt" &&
        pip_install -r "$home/$name/needs.txt"
}

# The system's package: version and pin are the distribution's.
nginx() {
    if command -v nginx >/dev/null || [ -x /usr/sbin/nginx ]; then return 0; fi
    [ "$(id -u)" = 0 ] && command -v apt-get >/dev/null || {
        echo "nginx is not there, and only root can install nginx-light with apt-get"
        return 1
    }
    # It would start a server on port 80 by itself.
    DEBIAN_FRONTEND=noninteractive RUNLEVEL=1 apt-get install -y -q --no-install-recommends nginx-light ||
        { apt-get update -q && DEBIAN_FRONTEND=noninteractive RUNLEVEL=1 apt-get install -y -q --no-install-recommends nginx-light; }
}

# installed NAME VERSION: status 1, with a reason written, when it cannot be.
installed() {
    name=$1
    rm -f "$home/$name.reason"
    # The system's nginx may have been removed since; the others are below this folder.
    [ "$name" = nginx ] || [ "$(cat "$home/$name/version" 2>/dev/null)" != "$2" ] || return 0
    [ "$name" = nginx ] || echo "peers: installing $name $2 into .tools/peers/$name" >&2
    rm -rf "${home:?}/$name"
    mkdir -p "$home/$name"
    if { [ "$name" = nginx ] || python3 -m venv "$home/$name"; } >"$home/$name.log" 2>&1 && "$name" >>"$home/$name.log" 2>&1; then
        echo "$2" >"$home/$name/version"
        return 0
    fi
    rm -rf "${home:?}/$name"
    grep . "$home/$name.log" | tail -n 1 | cut -c1-200 >"$home/$name.reason"
    echo "peers: NOT INSTALLED: $name $2: $(cat "$home/$name.reason")" >&2
    return 1
}

failed=0
mkdir -p "$home"
[ $# -gt 0 ] || set -- nginx smg dynamo litellm
for one in "$@"; do
    case $one in
        smg) installed smg "$SMG" || failed=1 ;;
        dynamo) installed dynamo "$DYNAMO" || failed=1 ;;
        litellm) installed litellm "$LITELLM" || failed=1 ;;
        nginx) installed nginx system || failed=1 ;;
        *) echo "peers: there is no $one: smg, dynamo, litellm, nginx" >&2 && exit 2 ;;
    esac
done
exit "$failed"
