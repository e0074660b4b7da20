# native-image: the gateway as a native executable in target/native-image. Sourced by ./warmpath.
#
# The builder is a GraalVM or Mandrel for JDK 25 where there is one (GRAALVM_HOME, or native-image in PATH), else one that
# src/native-image/assemble.sh puts together in .tools/native-image-builder.
# shellcheck shell=sh

native_folder=$target/native-image
native_stamp=$native_folder/built.stamp
own_builder=$root/.tools/native-image-builder
# What assembling wants beside the build's own tools, as Debian's packages: the JDK's configure asks for all of them.
BUILDER_PACKAGES='autoconf make gcc g++ zip unzip zlib1g-dev libasound2-dev libcups2-dev libfontconfig-dev libx11-dev libxext-dev
    libxrender-dev libxrandr-dev libxtst-dev libxt-dev'

# is_native_image COMMAND: it builds for this JDK's version.
is_native_image() {
    [ -x "$1" ] && "$1" --version 2>/dev/null | head -n 1 | grep -q "^native-image $JAVA_MAJOR\."
}

# One word that changes with any input of our own builder.
builder_key() {
    (cd "$root/src/native-image" && find . -type f -exec cksum {} + | LC_ALL=C sort | cksum)
    cat "$JAVA_HOME/release"
}

# Sets native_image to a command; status 77 where none can be had.
need_native_image() {
    need_java
    for native_image in "${GRAALVM_HOME:+$GRAALVM_HOME/bin/native-image}" "$(command -v native-image || :)"; do
        if is_native_image "$native_image"; then return 0; fi
    done
    native_image=$own_builder/bin/native-image
    [ "$(cat "$own_builder/made-of" 2>/dev/null)" = "$(builder_key)" ] && return 0
    if [ "$(uname -s)-$(uname -m)" != Linux-x86_64 ] || ! command -v apt-get >/dev/null 2>&1; then
        say "there is no native-image for JDK $JAVA_MAJOR (GRAALVM_HOME, PATH), and one is assembled on Debian for x86-64 only"
        return 77
    fi
    absent=
    for package in $BUILDER_PACKAGES; do
        dpkg -s "$package" >/dev/null 2>&1 || absent="$absent $package"
    done
    if [ -n "$absent" ] && ! is_root; then
        say "to assemble a native-image builder, run first: sudo apt-get install -y$absent"
        return 77
    fi
    # shellcheck disable=SC2086 # names are words
    [ -z "$absent" ] || (install_packages $absent) || return 77
    # shellcheck disable=SC2086 # options are words
    sh "$root/src/native-image/assemble.sh" "$JAVA_HOME" "$own_builder" "$MAVEN" $maven_opts || return 77
    builder_key >"$own_builder/made-of"
}

# native_sources: jars and arguments for the builder, by Quarkus, in target/gateway/native-sources.
native_sources() {
    maven package -Dmaven.test.skip=true -Dquarkus.native.enabled=true -Dquarkus.native.sources-only=true \
        -Dquarkus.package.jar.enabled=false
}

# library JAR FOLDER-IN-IT: what lies there goes beside the executable.
library() {
    unzip -q -o -j "$1" "$2/*.so" -d "$native_folder/lib"
}

# build_native_image LEVEL: status 77 where no builder can be had. The executable says the commit that it was built of: a later one that changes
# none of its inputs does not build it anew.
build_native_image() {
    need_toolchain
    need_native_image || return $?
    wanted="$(input_stamp) $1 $("$native_image" --version | cksum)"
    [ -x "$native_folder/warmpath" ] && [ "$(cat "$native_stamp" 2>/dev/null)" = "$wanted" ] && return 0
    take_lock
    rm -f "$native_stamp"
    say "building the executable with $native_image: some ten minutes on two cores and 5 GB of memory (log: target/native-image/build.log)"
    native_sources || return 1
    free_lock
    # The gateway can be built and started meanwhile; another executable waits.
    (lock=$target/native-image.lock && locked_by='another native-image build' && take_lock && make_executable "$1" && free_lock) || return 1
    printf '%s\n' "$wanted" >"$native_stamp"
    say "built target/native-image/warmpath ($(($(wc -c <"$native_folder/warmpath") / 1000000)) MB)"
}

# native_image_is_current: there is one, of this source.
native_image_is_current() {
    [ -x "$native_folder/warmpath" ] || return 1
    case $(cat "$native_stamp" 2>/dev/null) in "$(input_stamp) "*) return 0 ;; esac
    return 1
}

# The largest young generation where -Xmn says nothing: a third of the JVM's cost 2 % more processor time and 27 MiB less (src/perf/RESULTS.md).
NATIVE_YOUNG=16m

# make_executable LEVEL: of target/gateway/native-sources.
make_executable() {
    sources=$target/gateway/native-sources
    rm -rf "$native_folder/lib"
    mkdir -p "$native_folder/lib"
    (cd "$sources" && "$native_image" "@native-image.args" "-Dio.warmpath.commit=$(source_commit)" "-O$1" "-R:MaxNewSize=$NATIVE_YOUNG" -o "$native_folder/warmpath") >"$native_folder/build.log" 2>&1 </dev/null || {
        tail -n 40 "$native_folder/build.log" >&2
        return 1
    }
    # Parts of AWT, which the builder puts beside what might call them: the gateway draws nothing.
    rm -f "$native_folder"/lib*.so
    library "$(find "$sources/lib" -name '*jna-*.jar')" "com/sun/jna/linux-$(jna_architecture)" || return 1
    library "$(find "$sources/lib" -name '*huggingface.tokenizers-*.jar')" "native/lib/linux-$(uname -m)/cpu" || return 1
    cp "$target/adapters/classes/linux-$(jna_architecture)/libkvindex.so" "$native_folder/lib/" || return 1
    cp "$root/LICENSE" "$native_folder/"
}

jna_architecture() {
    case $(uname -m) in
        x86_64) echo x86-64 ;;
        *) uname -m ;;
    esac
}

run_native_image() {
    level=2
    case ${1-} in
        '') ;;
        --quick) level=b ;;
        *) die 2 "native-image does not know '$1'; ./warmpath help native-image explains it" ;;
    esac
    build_native_image "$level"
}

# The steps of verify. Status 77 where no builder can be had; the heap's limit is that of the same test with the JVM.
native_e2e_test() {
    build_native_image 2 || return $?
    build_gateway
    E2E_GATEWAY="$native_folder/warmpath -Xmx512m" sh "$root/src/test/e2e/run.sh"
}

native_attack_test() {
    build_native_image 2 || return $?
    build_gateway
    python3 -B "$root/src/test/attack/run.py" --folder "$target/attack-native" --gateway "$native_folder/warmpath serve"
}

native_probe_test() {
    build_native_image 2 || return $?
    build_gateway
    find_java || need_java
    python3 -B "$root/src/test/e2e/executable.py" --root "$root" --java "$JAVA_HOME/bin/java" -- "$native_folder/warmpath" serve
}

# Start, memory and work, each beside the JVM with its AOT cache and a heap of the same size.
native_start_test() {
    build_native_image 2 || return $?
    ready_to_run
    options=$(jvm_options serve) && use_aot_cache serve || return 1
    # shellcheck disable=SC2086,SC2046 # options are words
    python3 "$root/src/perf/start.py" --runs 3 --requests 60 --streams 1000 --idle 5 --warm 20 --log "$target/native-start.log" \
        --beside "'$root/warmpath' serve" -- "$native_folder/warmpath" $(printf '%s\n' $options | grep '^-Xmx') serve
}

# Dockerfile.native, on the base of our own image and zlib.
native_container_test() {
    image_tools_for_tests || return
    build_native_image 2 || return $?
    ready_to_run
    need_sbom
    BASE_PACKAGES="$BASE_PACKAGES zlib1g"
    native_base=$target/native-base
    rm -rf "$native_base" && mkdir -p "$native_base" && make_image_base "$native_base" || return 1
    {
        printf 'FROM scratch\nCOPY . /\n' | buildah bud --isolation chroot -t localhost/warmpath-native-base:test -f - "$native_base" &&
            buildah bud --isolation chroot --build-arg RUNTIME_IMAGE=localhost/warmpath-native-base:test -t localhost/warmpath:native-test -f "$root/Dockerfile.native" "$root"
    } >"$target/native-container.log" 2>&1 || {
        tail -n 20 "$target/native-container.log" >&2
        return 1
    }
    python3 -B "$root/src/test/image/native.py" --image localhost/warmpath:native-test --root "$root" --java "$JAVA_HOME/bin/java"
}

native_soak_test() {
    build_native_image 2 || return $?
    build_gateway
    find_java || need_java
    python3 "$root/src/test/soak/soak.py" --root "$root" --java "$JAVA_HOME/bin/java" --gateway "$native_folder/warmpath" --duration "$1"
}
