# A JDK for Linux on aarch64 from Debian's packages, with the C library that it is for, in .tools/jdk-aarch64: `dist` links the runtime of the
# archive for aarch64 from it, and the archive is tried on it. Sourced by ./warmpath.
# shellcheck shell=sh

# The oldest Debian that has this JDK.
AARCH64_SUITE=trixie
AARCH64_PACKAGES="openjdk-$JAVA_MAJOR-jdk-headless openjdk-$JAVA_MAJOR-jre-headless zlib1g libc6"
aarch64_tools=$root/.tools/jdk-aarch64
aarch64_root=$aarch64_tools/root

# need_jdk_aarch64: unpacked, not installed: this system's own packages and lists stay as they are. Status 77 where Debian does not serve it.
need_jdk_aarch64() {
    [ "$(cat "$aarch64_tools/complete" 2>/dev/null)" = "$AARCH64_PACKAGES" ] && return 0
    if ! command -v apt-get >/dev/null 2>&1; then
        say "a JDK for aarch64 is had from Debian's packages, and there is no apt-get here"
        return 77
    fi
    # shellcheck disable=SC2016 # apt's own name
    mirror=$(apt-get indextargets --format '$(REPO_URI)' 'Origin: Debian' 'Label: Debian' 2>/dev/null | head -n 1)
    if [ -z "$mirror" ]; then
        say "a JDK for aarch64 is had from Debian's packages, and this system has no Debian mirror in its package lists"
        return 77
    fi
    mkdir -p "$root/target"
    aarch64_log=$root/target/jdk-aarch64.log
    say "downloading Debian's JDK $JAVA_MAJOR for aarch64 into .tools/jdk-aarch64 (370 MB; log: target/jdk-aarch64.log)"
    unpack_jdk_aarch64 >"$aarch64_log" 2>&1 || {
        tail -n 5 "$aarch64_log" >&2
        say "Debian's JDK $JAVA_MAJOR for aarch64 cannot be had"
        return 77
    }
    printf '%s\n' "$AARCH64_PACKAGES" >"$aarch64_tools/complete"
}

# In a shell of its own.
unpack_jdk_aarch64() (
    rm -rf "$aarch64_tools"
    mkdir -p "$aarch64_tools/lists/partial" "$aarch64_tools/cache/archives/partial" "$aarch64_tools/debs" "$aarch64_root/usr/lib" && cd "$aarch64_tools/debs" || exit 1
    printf 'deb [signed-by=/usr/share/keyrings/debian-archive-keyring.gpg] %s %s main\n' "$mirror" "$AARCH64_SUITE" >"$aarch64_tools/sources.list"
    set -- -q -o "Dir::Etc::SourceList=$aarch64_tools/sources.list" -o Dir::Etc::SourceParts=/dev/null -o "Dir::State::Lists=$aarch64_tools/lists" \
        -o "Dir::Cache=$aarch64_tools/cache" -o APT::Architecture=arm64 -o APT::Architectures=arm64 -o APT::Sandbox::User=root
    # shellcheck disable=SC2086 # names are words
    apt-get "$@" update && apt-get "$@" download $AARCH64_PACKAGES || exit 1
    # As on a system, where everything lies in usr.
    ln -s usr/lib "$aarch64_root/lib"
    for package in *.deb; do
        dpkg-deb --fsys-tarfile "$package" | tar -x --keep-directory-symlink -C "$aarch64_root" || exit 1
    done
    cd / && rm -rf "$aarch64_tools/debs" "$aarch64_tools/lists" "$aarch64_tools/cache"
)
