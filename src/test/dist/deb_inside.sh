#!/bin/bash
# Run by deb.sh as a unit of a Debian that systemd has started: installs the package, and uses it as its operator would.
set -eu
port=23700
engine=23710
fail() {
    echo "deb: $*"
    journalctl --no-pager -u warmpath | tail -n 40
    exit 1
}
# post PATH BODY: the answer of the gateway; there is no client here but the shell.
post() {
    exec 3<>"/dev/tcp/127.0.0.1/$port"
    printf 'POST %s HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/json\r\ncontent-length: %d\r\nconnection: close\r\n\r\n%s' "$1" "${#2}" "$2" >&3
    cat <&3
    exec 3>&-
}
of_unit() { systemctl show -p "$1" --value warmpath; }

dpkg -i /root/warmpath.deb
warmpath --version
[ "$(systemctl is-active warmpath || :)" = inactive ] || fail "a fresh package has started its unit"
systemd-analyze verify /usr/lib/systemd/system/warmpath.service
systemd-analyze security --offline=true --threshold=25 --no-pager /usr/lib/systemd/system/warmpath.service | tail -n 1
systemd-run --quiet --unit=engines --setenv=HOME=/root warmpath sim --port $engine

# A setting that there is not stops the start, and systemd is told.
printf 'warmpath:\n  no-such-key: 1\n' >/etc/warmpath/warmpath.yaml
if systemctl start warmpath; then fail "it starts with a key that there is not"; fi
systemctl stop warmpath
systemctl reset-failed warmpath 2>/dev/null || : # systemd may have forgotten it by now

printf 'warmpath:\n  http:\n    host: 127.0.0.1\n    port: %d\n' $port >/etc/warmpath/warmpath.yaml
echo "GATEWAY_FLAGS=--worker http://127.0.0.1:$engine" >/etc/warmpath/environment
began=$(date +%s%N)
systemctl start warmpath || fail "it does not start"
echo "started, systemd was told after $((($(date +%s%N) - began) / 1000000)) ms; the AOT cache was recorded by the start that failed"
[ "$(of_unit SubState)" = running ] || fail "$(of_unit SubState)"
pid=$(of_unit MainPID)
[ "$(stat -c %U "/proc/$pid")" = warmpath ] || fail "it runs as $(stat -c %U "/proc/$pid")"
grep -q '^Seccomp:.2' "/proc/$pid/status" || fail "no filter of system calls"
grep -q '^NoNewPrivs:.1' "/proc/$pid/status" || fail "it may gain rights"
grep -q '^CapEff:.0*$' "/proc/$pid/status" || fail "it has capabilities"
for _ in $(seq 120); do
    if warmpath status --url "http://127.0.0.1:$port" >/root/status; then break; fi
    sleep 0.5
done
grep -q 'all well' /root/status || fail "$(cat /root/status)"
post /v1/chat/completions '{"model": "demo", "max_tokens": 4, "messages": [{"role": "user", "content": "hello"}]}' | grep -q '"chat.completion"' || fail "no answer"

began=$(date +%s%N)
systemctl restart warmpath || fail "it does not start again"
echo "started again, told after $((($(date +%s%N) - began) / 1000000)) ms"
[ "$(journalctl --no-pager -u warmpath | grep -c 'recorded in')" = 1 ] || fail "it recorded not once"
grep -q warmpath.aot "/proc/$(of_unit MainPID)/maps" || fail "the second start does not use the AOT cache"
systemctl stop warmpath
[ "$(of_unit Result)" = success ] || fail "stopped: $(of_unit Result), status $(of_unit ExecMainStatus)"
echo "stopped with status $(of_unit ExecMainStatus)"
if journalctl --no-pager -u warmpath | grep -iE 'was not told|audit|SIGSYS|killed'; then fail "see above"; fi

systemctl stop engines
dpkg --purge warmpath
[ ! -e /usr/lib/warmpath ] && [ ! -e /etc/warmpath ] && [ ! -e /var/cache/warmpath ] || fail "purged, and left: $(ls -d /usr/lib/warmpath /etc/warmpath /var/cache/warmpath 2>/dev/null)"
echo PROVEN
