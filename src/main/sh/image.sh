# The image of the gateway, built by buildah, podman or docker. Sourced by ./warmpath.
# shellcheck shell=sh

# What the Java runtime and the native libraries are linked with. Only these libraries, their licences and the certificates are kept of them.
BASE_PACKAGES='libc6 libgcc-s1 libstdc++6 ca-certificates'
image_context=$target/image

# run_image [--base IMAGE] [--tag TAG] [--tool TOOL]
run_image() {
    image_base=
    image_tag=warmpath:$(project_version)
    image_tool=
    while [ $# -gt 0 ]; do
        case $1 in
            --base) image_base=${2-} ;;
            --tag) image_tag=${2-} ;;
            --tool) image_tool=${2-} ;;
            *) die 2 "image does not know '$1'; ./warmpath help image explains it" ;;
        esac
        [ -n "${2-}" ] || die 2 "$1 needs a value"
        shift 2
    done
    need_image_tool
    need_toolchain
    ready_to_run
    need_sbom
    take_lock
    image_began=$(now)
    make_image_context || die 1 "the folder that the image is made of could not be filled (logs: target/image-packages.log, target/warmpath-dist.log)"
    say "building $image_tag with $image_tool (log: target/image.log)"
    build_image >"$target/image.log" 2>&1 || {
        tail -n 30 "$target/image.log" >&2
        die 1 "$image_tool could not build the image"
    }
    free_lock
    say "built $image_tag in $(($(now) - image_began)) s"
}

need_image_tool() {
    case $image_tool in
        buildah | podman | docker)
            command -v "$image_tool" >/dev/null 2>&1 || die 1 "there is no $image_tool here"
            return 0
            ;;
        '') ;;
        *) die 2 "--tool is buildah, podman or docker, not '$image_tool'" ;;
    esac
    for image_tool in buildah podman docker; do
        if command -v "$image_tool" >/dev/null 2>&1; then return 0; fi
    done
    image_tool=buildah
    need_packages buildah
}

# What builds images and runs containers, for the tests. Status 77 where it cannot be had.
image_tools_for_tests() {
    if command -v buildah >/dev/null 2>&1 && command -v podman >/dev/null 2>&1; then return 0; fi
    if ! is_root || ! command -v apt-get >/dev/null 2>&1; then
        say "there are no buildah and podman here: no image is built. On Debian: sudo apt-get install buildah podman runc"
        return 77
    fi
    (install_packages buildah podman runc) || return 77
}

# The folder that the image is made of: base, runtime and warmpath. Everything has the time of the commit: the AOT cache fits jars of one time
# only, and images of one commit are to be alike.
make_image_context() {
    rm -rf "$image_context" && mkdir -p "$image_context/base" || return 1
    [ -n "$image_base" ] || make_image_base "$image_context/base" || return 1
    tree=$(dist_tree "$(uname -m)" "$image_context") || return 1
    mv "$tree/lib/runtime" "$image_context/runtime" && mv "$tree" "$image_context/warmpath" || return 1
    # What needs a shell, and what one reads elsewhere.
    rm -r "$image_context/warmpath/bin" "$image_context/warmpath/lib/sh" &&
        find "$image_context/warmpath/share/doc/warmpath" -mindepth 1 -maxdepth 1 ! -name LICENSE ! -name licences -exec rm -r {} + &&
        cp "$root/src/main/docker/jvm.options" "$image_context/warmpath/" &&
        printf -- '-Dio.warmpath.commit=%s\n' "$(source_commit)" >>"$image_context/warmpath/jvm.options" &&
        chmod 644 "$image_context/warmpath/jvm.options" &&
        find "$image_context" -exec touch -h -d "@$(dist_epoch)" {} +
}

# make_image_base FOLDER: Debian's C and C++ libraries, certificates and a user without rights; no program but the loader of programs.
make_image_base() {
    image_packages=$target/image-packages
    unpacked=$image_packages/unpacked
    # A package of another time is another version. As on a system, newer packages have everything in usr, older ones do not.
    rm -rf "$image_packages" && mkdir -p "$unpacked/usr/lib" "$unpacked/usr/lib64" "$1/var/lib/dpkg/status.d" &&
        ln -s usr/lib "$unpacked/lib" && ln -s usr/lib64 "$unpacked/lib64" || return 1
    # The licence of the compiler's libraries lies in a package of its own.
    licence=$(apt-cache depends libgcc-s1 | sed -n 's/.*Depends: \(gcc-[0-9]*-base\)$/\1/p' | head -n 1)
    # shellcheck disable=SC2086 # names are words
    (cd "$image_packages" && apt-get -q download $BASE_PACKAGES "$licence") >"$target/image-packages.log" 2>&1 || return 1
    for package in "$image_packages"/*.deb; do
        dpkg-deb --fsys-tarfile "$package" | tar -x --keep-directory-symlink -C "$unpacked" || return 1
        # Where scanners of images without a package manager look for what is in them.
        name=${package##*/}
        dpkg-deb -f "$package" >"$1/var/lib/dpkg/status.d/${name%%_*}" || return 1
    done
    libraries=$(cd "$unpacked" && echo usr/lib/*-linux-gnu*)
    mkdir -p "$1/$libraries" "$1/usr/share/doc" "$1/etc/ssl/certs" "$1/tmp" && chmod 1777 "$1/tmp" &&
        cp -a "$unpacked/lib" "$unpacked/lib64" "$1/" && cp -a "$unpacked/usr/lib64" "$1/usr/" &&
        cp -a "$unpacked/$libraries"/*.so* "$1/$libraries/" &&
        cat "$unpacked"/usr/share/ca-certificates/mozilla/*.crt >"$1/etc/ssl/certs/ca-certificates.crt" || return 1
    for package in $BASE_PACKAGES "$licence"; do
        mkdir "$1/usr/share/doc/$package" && cp -L "$unpacked/usr/share/doc/$package/copyright" "$1/usr/share/doc/$package/" || return 1
    done
    printf 'root:x:0:0::/:/none\nwarmpath:x:1001:1001::/tmp:/none\n' >"$1/etc/passwd"
    printf 'root:x:0:\nwarmpath:x:1001:\n' >"$1/etc/group"
    printf 'hosts: files dns\n' >"$1/etc/nsswitch.conf"
}

build_image() {
    set -- -f "$root/src/main/docker/Dockerfile.jvm" -t "$image_tag" \
        --label "org.opencontainers.image.version=$(project_version)" --label org.opencontainers.image.licenses=Apache-2.0
    revision=$(git -C "$root" rev-parse -q --verify HEAD 2>/dev/null) && set -- "$@" --label "org.opencontainers.image.revision=$revision"
    [ -z "$image_base" ] || set -- "$@" --build-arg "BASE_IMAGE=$image_base"
    case $image_tool in
        # Without a runtime of containers, whose demands on control groups not every machine meets.
        buildah) buildah bud --isolation chroot --layers --timestamp "$(dist_epoch)" "$@" "$image_context" ;;
        podman) podman build --isolation chroot --timestamp "$(dist_epoch)" "$@" "$image_context" ;;
        docker) SOURCE_DATE_EPOCH=$(dist_epoch) docker build "$@" "$image_context" ;;
    esac
}
