# dist: what is handed out, made from the build into target/dist: archives, a Debian package, a Python wheel, and what says what they are
# made of. The same commit and tools give the same bytes. Sourced by ./warmpath.
# shellcheck shell=sh

dist_dir=$target/dist
# The trees that the files are packed from stay here.
dist_work=$target/dist-work
dist_log=$target/warmpath-dist.log
dist_from=$root/src/main/dist
# jmods of a JDK for aarch64: Java runtimes are linked from those of the machine they are for.
dist_jdk_aarch64=

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
dist_modules() { sed -n 's/^\([a-z.0-9]*\) \(jdeps\|name\).*/\1/p' "$dist_from/modules.txt" | paste -sd, -; }

# dist_runtime ARCH FOLDER: the Java runtime for ARCH, by the jlink of this machine's JDK.
dist_runtime() {
    dist_out=$2
    set -- "$1" --add-modules "$(dist_modules)" --strip-java-debug-attributes --exclude-files='**.debuginfo' \
        --no-man-pages --no-header-files --compress zip-6
    [ "$1" = "$(uname -m)" ] || set -- "$@" --module-path "$dist_jdk_aarch64/jmods"
    shift
    "$JAVA_HOME/bin/jlink" "$@" --output "$dist_out"
}

# dist_jars ARCH: a folder as target is, with the native library for ARCH; the jars are the same for all.
dist_jars() {
    if [ "$1" = "$(uname -m)" ]; then
        echo "$target"
        return
    fi
    dist_other=$dist_work/jars-$1
    rm -rf "$dist_other"
    mkdir -p "$dist_other/gateway" "$dist_other/adapters/classes/linux-$1"
    ln -s "$target/gateway/quarkus-app" "$dist_other/gateway/quarkus-app"
    ln -s "$target/tools" "$dist_other/tools"
    cp "$target/native-$1/libkvindex.so" "$dist_other/adapters/classes/linux-$1/" || return 1
    echo "$dist_other"
}

# dist_tree ARCH FOLDER: makes FOLDER/warmpath-VERSION, what an installed Warmpath is, and prints its path. ARCH is x86_64 or aarch64.
dist_tree() {
    dist_at=$2/warmpath-$(project_version)
    mkdir -p "$2"
    rm -rf "$dist_at"
    mkdir -p "$dist_at/bin" "$dist_at/lib/sh" "$dist_at/share/doc/warmpath" "$dist_at/share/sbom"
    dist_runtime "$1" "$dist_at/lib/runtime" >>"$dist_log" 2>&1 || die 1 "jlink failed (log: target/warmpath-dist.log)"
    dist_build=$(dist_jars "$1") || die 1 "there is no native library for $1"
    python3 "$dist_from/jars.py" "$1" "$dist_build" "$dist_at" || die 1 "the jars could not be put together"
    dist_libraries "$1" "$dist_at/lib" || exit 1
    cp "$dist_from/warmpath" "$dist_at/bin/warmpath"
    for part in lock help run aot; do cp "$root/src/main/sh/$part.sh" "$dist_at/lib/sh/"; done
    cp "$root/README.md" "$root/CHANGELOG.md" "$root/LICENSE" "$dist_at/share/doc/warmpath/"
    cp -R "$root/src/docs/." "$dist_at/share/doc/warmpath/"
    dist_release "$dist_at" "$1" 'JVM archive'
    python3 "$dist_from/sbom.py" "$(dist_epoch)" "$dist_at" "$sbom_dir"/java.cdx.json "$sbom_dir"/native.cdx.json "$sbom_dir"/console.cdx.json ||
        die 1 "the lists of what it is made of could not be written"
    dist_settle "$dist_at"
    echo "$dist_at"
}

# dist_libraries ARCH LIB: what the runtime and the native libraries are linked with, beside the C library: small systems have no more. From
# where the compiler for ARCH links it, or from beside the JDK that the runtime is of.
dist_libraries() {
    dist_cxx=$CXX
    dist_beside=
    [ "$1" = "$(uname -m)" ] || { dist_cxx=$1-linux-gnu-g++ && dist_beside=$dist_jdk_aarch64/../../$1-linux-gnu; }
    while :; do
        dist_missing=$(dist_unmet "$2")
        [ -n "$dist_missing" ] || return 0
        for library in $dist_missing; do
            dist_found=$("$dist_cxx" -print-file-name="$library")
            [ -f "$dist_found" ] || dist_found=$dist_beside/$library
            cp -L "$dist_found" "$2/native/" || { say "the runtime or a native library for $1 wants $library, which neither $dist_cxx nor its JDK has"; return 1; }
        done
    done
}

# dist_unmet LIB: names of libraries that a file in it is linked with, and that neither it nor the C library has.
dist_unmet() {
    find "$1" -type f \( -name '*.so*' -o -perm -u+x \) -exec readelf -d {} + 2>/dev/null | sed -n 's/.*(NEEDED).*\[\(.*\)\]$/\1/p' | sort -u |
        grep -Ev '^(ld-linux.*|lib(c|m|dl|rt|pthread))\.so\.' | while IFS= read -r library; do
        [ -n "$(find "$1" -name "$library")" ] || echo "$library"
    done
}

# dist_release TREE ARCH KIND [LINE...]: what `warmpath --version` and the launcher read.
dist_release() {
    dist_release_file=$1/release
    printf 'version=%s\ncommit=%s\nabi=%s\narch=%s\nbuild=%s\n' "$(project_version)" "$(dist_commit)" "$(dist_abi)" "$2" "$3" >"$dist_release_file"
    shift 3
    [ $# -eq 0 ] || printf '%s\n' "$@" >>"$dist_release_file"
}

# dist_settle FOLDER: rights and times of who builds, and when, are not in it.
dist_settle() {
    chmod -R u=rwX,go=rX "$1"
    ! [ -f "$1/bin/warmpath" ] || chmod 755 "$1/bin/warmpath"
    find "$1" -exec touch -h -d "@$(dist_epoch)" {} +
}

# dist_archive FOLDER NAME [gz]: target/dist/NAME.tar.zst of FOLDER, with gz .tar.gz too.
dist_archive() {
    tar --sort=name --format=gnu --owner=0 --group=0 --numeric-owner --mtime="@$(dist_epoch)" \
        -C "${1%/*}" -cf "$dist_work/$2.tar" "${1##*/}" || return 1
    [ -z "${3-}" ] || gzip -9 -n -c "$dist_work/$2.tar" >"$dist_dir/$2.tar.gz" || return 1
    # Most of it is compressed already: level 19 makes 3 % less of it and takes ten times as long.
    zstd -q -f -12 -T1 -o "$dist_dir/$2.tar.zst" "$dist_work/$2.tar" && rm -f "$dist_work/$2.tar"
}

# dist_glibc FOLDER: the newest version of glibc that a library in it asks for, such as 2.36.
dist_glibc() { find "$1" -name '*.so*' -exec grep -aohE 'GLIBC_2\.[0-9]+' {} + | sort -uV | tail -n 1 | sed 's/GLIBC_//'; }

# dist_deb TREE: warmpath_VERSION_amd64.deb.
dist_deb() {
    deb=$dist_work/deb
    rm -rf "$deb"
    mkdir -p "$deb/DEBIAN" "$deb/usr/lib" "$deb/usr/bin" "$deb/usr/lib/systemd/system" "$deb/usr/lib/sysusers.d" \
        "$deb/usr/share/doc/warmpath" "$deb/etc/warmpath"
    cp -a "$1" "$deb/usr/lib/warmpath"
    # Root's own calls make no files where the package's lie.
    dist_release "$deb/usr/lib/warmpath" x86_64 'Debian package' cache=user
    ln -s ../lib/warmpath/bin/warmpath "$deb/usr/bin/warmpath"
    ln -s ../../../lib/warmpath/share/doc/warmpath "$deb/usr/share/doc/warmpath/docs"
    cp "$dist_from/debian/copyright" "$deb/usr/share/doc/warmpath/"
    cp "$dist_from/warmpath.service" "$deb/usr/lib/systemd/system/"
    cp "$dist_from/debian/sysusers" "$deb/usr/lib/sysusers.d/warmpath.conf"
    cp "$dist_from/debian/environment" "$dist_from/debian/warmpath.yaml" "$deb/etc/warmpath/"
    dist_settle "$deb"
    {
        printf 'Package: warmpath\nVersion: %s\nArchitecture: amd64\n' "$(project_version)"
        printf 'Depends: libc6 (>= %s)\n' "$(dist_glibc "$1/lib")"
        printf 'Installed-Size: %s\n' "$(find "$deb" -type f -printf '%s\n' | awk '{ n += int(($1 + 1023) / 1024) } END { print n }')"
        cat "$dist_from/debian/control"
    } >"$deb/DEBIAN/control"
    cp "$dist_from/debian/conffiles" "$dist_from/debian/postinst" "$dist_from/debian/prerm" "$dist_from/debian/postrm" "$deb/DEBIAN/"
    chmod 755 "$deb/DEBIAN/postinst" "$deb/DEBIAN/prerm" "$deb/DEBIAN/postrm"
    (cd "$deb" && find usr -type f | LC_ALL=C sort | xargs md5sum >DEBIAN/md5sums)
    SOURCE_DATE_EPOCH=$(dist_epoch) dpkg-deb --root-owner-group -Zxz -z6 --threads-max=1 --build "$deb" \
        "$dist_dir/warmpath_$(project_version)_amd64.deb" >>"$dist_log" 2>&1
}

# dist_wheel TREE
dist_wheel() {
    wheel=$dist_work/wheel/warmpath_gateway
    rm -rf "$dist_work/wheel"
    mkdir -p "$wheel"
    cp -a "$1" "$wheel/installed"
    dist_release "$wheel/installed" x86_64 'Python wheel' cache=user
    dist_settle "$wheel"
    python3 "$dist_from/wheel.py" "$(project_version)" "manylinux_$(dist_glibc "$1/lib" | tr . _)_x86_64" "$(dist_epoch)" "$dist_work/wheel" "$dist_dir"
}

# dist_native TREE: the native executable, where one of this source was built (target/native-image), with its libraries beside it as it looks for them.
dist_native() {
    native_name=warmpath-$(project_version)-native
    native=$dist_work/native/$native_name
    rm -rf "$dist_work/native"
    mkdir -p "$native/share/doc/warmpath" "$native/share/sbom"
    cp "$target/native-image/warmpath" "$root/LICENSE" "$native/" && cp -R "$target/native-image/lib" "$native/" || return 1
    cp "$root/README.md" "$root/CHANGELOG.md" "$native/share/doc/warmpath/"
    cp -R "$root/src/docs/." "$native/share/doc/warmpath/"
    cp "$1/share/sbom/java.cdx.json" "$1/share/sbom/native.cdx.json" "$1/share/sbom/console.cdx.json" "$native/share/sbom/"
    dist_release "$native" x86_64 'native executable'
    dist_settle "$native"
    dist_archive "$native" "$native_name-linux-x86_64"
}

# The lists beside the files, and the sums of all.
dist_papers() {
    for list in java native console runtime tools; do
        cp "$1/share/sbom/$list.cdx.json" "$dist_dir/warmpath-$(project_version).$list.cdx.json" || return 1
    done
    python3 "$dist_from/provenance.py" "$dist_dir" "$root" "$(sed -n 's/^commit=//p' "$1/release")" "$(dist_epoch)" "$JAVA_HOME" "$dist_jdk_aarch64" || return 1
    (cd "$dist_dir" && find . -maxdepth 1 -type f ! -name SHA256SUMS -printf '%f\n' | LC_ALL=C sort | xargs sha256sum >SHA256SUMS)
}

# need_for_dist: the programs that pack.
need_for_dist() {
    missing=
    command -v zstd >/dev/null 2>&1 || missing="$missing zstd"
    command -v dpkg-deb >/dev/null 2>&1 || missing="$missing dpkg"
    # shellcheck disable=SC2086 # names are words
    [ -z "$missing" ] || need_packages $missing
}

run_dist() {
    case ${1-} in
        '') ;;
        --check) [ $# -eq 1 ] || die 2 "dist --check takes nothing more" ;;
        --jdk-aarch64)
            dist_jdk_aarch64=${2-}
            if [ "$dist_jdk_aarch64" = debian ]; then
                need_jdk_aarch64 || return $?
                dist_jdk_aarch64=$aarch64_root/usr/lib/jvm/java-$JAVA_MAJOR-openjdk-arm64
            fi
            [ -f "$dist_jdk_aarch64/jmods/java.base.jmod" ] || die 2 "--jdk-aarch64 wants a JDK $JAVA_MAJOR for Linux on aarch64 with its folder jmods; there is no $dist_jdk_aarch64/jmods/java.base.jmod"
            ;;
        *) die 2 "dist does not know '$1'; ./warmpath help dist explains it" ;;
    esac
    need_for_dist
    if [ "${1-}" = --check ]; then
        find_java || need_java
        python3 "$dist_from/check.py" "$dist_dir" "$root" "$JAVA_HOME"
        return
    fi
    [ "$(uname -m)" = x86_64 ] || die 1 "dist packs on x86_64; this machine is $(uname -m)"
    build_gateway
    need_toolchain
    need_sbom
    rm -rf "$dist_dir"
    mkdir -p "$dist_dir" "$dist_work"
    : >"$dist_log"
    dist_began=$(now)
    tree=$(dist_tree x86_64 "$dist_work/x86_64") || exit 1
    say "packing archives, Debian package and wheel (log: target/warmpath-dist.log)"
    dist_archive "$tree" "warmpath-$(project_version)-linux-x86_64" gz || die 1 "the archives could not be packed"
    dist_deb "$tree" || die 1 "the Debian package could not be made (log: target/warmpath-dist.log)"
    dist_wheel "$tree" || die 1 "the wheel could not be made"
    if [ -n "$dist_jdk_aarch64" ]; then
        need_aarch64
        sh "$root/native-core/check.sh" --build-only aarch64 || die 1 "the native library for aarch64 was not built"
        tree_aarch64=$(dist_tree aarch64 "$dist_work/aarch64") || exit 1
        dist_archive "$tree_aarch64" "warmpath-$(project_version)-linux-aarch64" gz || die 1 "the archives for aarch64 could not be packed"
    fi
    if native_image_is_current; then
        dist_native "$tree" || die 1 "the native executable could not be packed"
    fi
    dist_papers "$tree" || die 1 "sums and lists could not be written"
    say "made in $(($(now) - dist_began)) s:"
    (cd "$dist_dir" && ls -l) | awk 'NR > 1 { printf "%10.1f MB  %s\n", $5 / 1e6, $9 }'
}
