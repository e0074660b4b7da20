# dist: what is handed out, made from the build into target/dist, the same bytes whenever the commit is the same. Sourced by ./warmpath.
# shellcheck shell=sh

dist_dir=$target/dist
dist_log=$target/warmpath-dist.log

# dist_epoch: the time that all files get: SOURCE_DATE_EPOCH, else the commit's, else that of the jars' entries.
dist_epoch() {
    if [ -n "${SOURCE_DATE_EPOCH-}" ]; then
        echo "$SOURCE_DATE_EPOCH"
    else
        git -C "$root" log -1 --format=%ct 2>/dev/null ||
            date -d "$(sed -n 's|.*<project.build.outputTimestamp>\(.*\)</project.*|\1|p' "$root/pom.xml")" +%s
    fi
}

# dist_commit: the commit, with +changes where files differ from it; `unknown` outside a repository.
dist_commit() {
    commit=$(git -C "$root" rev-parse HEAD 2>/dev/null) || { echo unknown; return; }
    [ -z "$(git -C "$root" status --porcelain --untracked-files=no)" ] || commit=$commit+changes
    echo "$commit"
}

dist_abi() { sed -n 's/.*int ABI_VERSION = \([0-9]*\);.*/\1/p' "$root/src/adapters/main/java/io/warmpath/adapter/nativeindex/KvLayout.java"; }

# dist_modules: the Java modules to ship, separated by commas.
dist_modules() { sed -n 's/^\([a-z.0-9]*\) \(jdeps\|name\).*/\1/p' "$root/src/main/dist/modules.txt" | paste -sd, -; }

# dist_runtime ARCH FOLDER: the Java runtime for ARCH. Another machine's comes from the JDK that --jdk-aarch64 named.
dist_runtime() {
    set -- "$1" "$2" "$JAVA_HOME/bin/jlink" --add-modules "$(dist_modules)" --strip-debug --no-man-pages --no-header-files --compress zip-6
    dist_arch=$1
    dist_out=$2
    shift 2
    [ "$dist_arch" = "$(uname -m)" ] || set -- "$@" --module-path "$dist_jmods"
    "$@" --output "$dist_out"
}

# dist_tree ARCH FOLDER: makes FOLDER/warmpath-VERSION, what an installed Warmpath is, and prints its path. ARCH is x86_64 or aarch64.
dist_tree() {
    dist_name=warmpath-$(project_version)
    dist_at=$2/$dist_name
    mkdir -p "$2"
    rm -rf "$dist_at"
    mkdir -p "$dist_at/bin" "$dist_at/lib/sh" "$dist_at/share/doc/warmpath/licences" "$dist_at/share/sbom"
    dist_runtime "$1" "$dist_at/lib/runtime" >>"$dist_log" 2>&1 || die 1 "jlink failed (log: target/warmpath-dist.log)"
    python3 "$root/src/main/dist/jars.py" "$1" "$target" "$dist_at" || die 1 "the jars could not be put together"
    cp "$root/src/main/dist/warmpath" "$dist_at/bin/warmpath"
    for part in lock help run aot; do cp "$root/src/main/sh/$part.sh" "$dist_at/lib/sh/"; done
    cp "$root/README.md" "$root/CHANGELOG.md" "$root/LICENSE" "$dist_at/share/doc/warmpath/"
    cp -R "$root/src/docs/." "$dist_at/share/doc/warmpath/"
    cp "$sbom_dir"/*.cdx.json "$dist_at/share/sbom/"
    printf 'version=%s\ncommit=%s\nabi=%s\narch=%s\nbuild=JVM archive\n' \
        "$(project_version)" "$(dist_commit)" "$(dist_abi)" "$1" >"$dist_at/release"
    # Rights and times of who builds, and when, are not in it.
    chmod -R u=rwX,go=rX "$dist_at"
    chmod 755 "$dist_at/bin/warmpath"
    find "$dist_at" -exec touch -h -d "@$(dist_epoch)" {} +
    echo "$dist_at"
}

run_dist() {
    build_gateway
    need_toolchain
    [ "$(cat "$target/warmpath-sbom.stamp" 2>/dev/null)" = "$(input_stamp)" ] || make_sbom
    : >"$dist_log"
    dist_tree "$(uname -m)" "$dist_dir"
}
