#!/bin/sh
# The Debian package in a Debian 12 of its own, which systemd starts (systemd-nspawn, no network): installed, configured, started, asked,
# started again, stopped, removed.
#
#   deb.sh PACKAGE WORK    root only; WORK keeps the Debian for the next time. Status 77 where it cannot be had.
set -eu
[ $# -eq 2 ] || { echo "usage: deb.sh PACKAGE WORK" >&2; exit 2; }
here=$(cd "$(dirname "$0")" && pwd -P)
package=$1
debian=$2/debian
skip() {
    echo "deb.sh: $*: the Debian package is not installed anywhere" >&2
    exit 77
}
[ "$(id -u)" = 0 ] || skip "only root starts a system"
for tool in systemd-nspawn mmdebstrap; do
    command -v "$tool" >/dev/null 2>&1 || skip "there is no $tool (apt-get install systemd-container mmdebstrap)"
done
mkdir -p "$2"
if [ ! -f "$debian.made" ]; then
    rm -rf "$debian"
    mmdebstrap --variant=minbase --include=systemd,passwd bookworm "$debian" >"$2/debian.log" 2>&1 || skip "no Debian could be made (log: $2/debian.log)"
    touch "$debian.made"
fi
cp "$package" "$debian/root/warmpath.deb"
cp "$here/deb_inside.sh" "$debian/root/prove"
chmod 755 "$debian/root/prove"
rm -f "$debian/root/proof.log"
cat >"$debian/etc/systemd/system/prove.service" <<'UNIT'
[Unit]
After=multi-user.target
SuccessAction=poweroff
FailureAction=poweroff
[Service]
Type=oneshot
ExecStart=/root/prove
StandardOutput=truncate:/root/proof.log
StandardError=inherit
TimeoutStartSec=600
UNIT
mkdir -p "$debian/etc/systemd/system/graphical.target.wants"
ln -sf ../prove.service "$debian/etc/systemd/system/graphical.target.wants/prove.service"
timeout --signal=KILL 900 systemd-nspawn --directory="$debian" --register=no --keep-unit --private-network --boot --quiet </dev/null >"$2/boot.log" 2>&1 || :
cat "$debian/root/proof.log"
[ "$(tail -n 1 "$debian/root/proof.log")" = PROVEN ]
