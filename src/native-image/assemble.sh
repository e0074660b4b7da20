#!/bin/sh
# Assembles a native-image builder for JDK 25 on Linux x86-64 from what Maven and Debian serve:
#
#   assemble.sh JDK HOME MAVEN...
#
# JDK    the JDK 25 that becomes part of it, with jdk.internal.vm.ci (Temurin and Debian's have it)
# HOME   the folder that is made: a home as a GraalVM has it, with bin/native-image. Its working files lie in HOME.work
# MAVEN  the Maven command with its options
#
# Parts, all of fixed versions and checked by SHA-256:
#   - the Java parts of GraalVM 25.0.2 from Maven (builder.sha256)
#   - the JDK's C libraries as static archives, compiled from Debian's source of OpenJDK (some five minutes on two cores)
#   - C functions of our own that the builder links into every executable (c/), and its command (native_image.py)
# Each part that is there is not made again. Where the source is not served, WARMPATH_JDK_SOURCE names a file that has it.
# Wants cc, make, autoconf, zip, unzip, and the development files that configure asks for (src/main/sh/native_image.sh).
set -eu

GRAAL=25.0.2
# The JDK that these libraries belong to, and the source from which they are compiled.
SOURCE=25.0.3+9
SOURCE_SHA256=2dd6c441b49705480db1ebfcd03f43d5dcb7f1d4290e98c1fa6eeefae50cfa07
# Modules with C code that an executable may use.
MODULES='java.base java.management jdk.management jdk.net java.prefs java.rmi jdk.security.auth java.instrument'

here=$(CDPATH='' cd -- "$(dirname -- "$0")" && pwd)
jdk=$1
home=$2
shift 2
work=$home.work
jobs=$(getconf _NPROCESSORS_ONLN)

say() { printf 'native-image builder: %s\n' "$*" >&2; }
die() {
    say "$@"
    exit 1
}

# shellcheck disable=SC2086 # fields are words
graal_group() {
    case $1 in
        compiler) echo org.graalvm.compiler ;;
        collections | nativeimage | nativeimage-libgraal | word) echo org.graalvm.sdk ;;
        truffle-compiler) echo org.graalvm.truffle ;;
        espresso-svm) echo org.graalvm.espresso ;;
        *) echo org.graalvm.nativeimage ;;
    esac
}

# One Maven call for all of them: a project that depends on them, none of which brings others.
java_parts() {
    mkdir -p "$work/jars"
    if ! (cd "$work/jars" && sha256sum --quiet -c "$here/builder.sha256") >/dev/null 2>&1; then
        say "downloading the Java parts of GraalVM $GRAAL (55 MB; log: $work/jars.log)"
        {
            printf '<project xmlns="http://maven.apache.org/POM/4.0.0"><modelVersion>4.0.0</modelVersion>\n'
            printf '<groupId>w</groupId><artifactId>w</artifactId><version>1</version><packaging>pom</packaging><dependencies>\n'
            sed "s/^.*  \(.*\)-$GRAAL.jar$/\1/" "$here/builder.sha256" | while IFS= read -r name; do
                printf '<dependency><groupId>%s</groupId><artifactId>%s</artifactId><version>%s</version></dependency>\n' \
                    "$(graal_group "$name")" "$name" "$GRAAL"
            done
            printf '</dependencies></project>\n'
        } >"$work/jars/pom.xml"
        (cd "$work/jars" && "$@" -B -ntp -f pom.xml org.apache.maven.plugins:maven-dependency-plugin:3.8.1:copy-dependencies \
            -DexcludeTransitive=true "-DoutputDirectory=$work/jars") >"$work/jars.log" 2>&1 </dev/null || {
            tail -n 20 "$work/jars.log" >&2
            die "the Java parts cannot be downloaded"
        }
        (cd "$work/jars" && sha256sum --quiet -c "$here/builder.sha256") >&2 || die "a downloaded part is not the one that was expected"
    fi
}

# The source by the name that it has in a Debian mirror's pool, from the mirror of this machine.
jdk_source() {
    archive=$work/openjdk-$SOURCE.tar.xz
    is_source() { [ -f "$1" ] && [ "$(sha256sum <"$1")" = "$SOURCE_SHA256  -" ]; }
    is_source "$archive" && return 0
    if [ -n "${WARMPATH_JDK_SOURCE-}" ]; then
        is_source "$WARMPATH_JDK_SOURCE" || die "$WARMPATH_JDK_SOURCE is not OpenJDK $SOURCE as Debian has it"
        cp "$WARMPATH_JDK_SOURCE" "$archive"
        return 0
    fi
    helper=/usr/lib/apt/apt-helper
    mirror=$(sed -n 's/^URIs: *\([^ ]*\/debian\)\/* *$/\1/p; s/^deb  *\(\[[^]]*\] *\)\{0,1\}\([^ ]*\/debian\)\/* .*/\2/p' \
        /etc/apt/sources.list.d/*.sources /etc/apt/sources.list.d/*.list /etc/apt/sources.list 2>/dev/null | head -n 1)
    [ -x "$helper" ] && [ -n "$mirror" ] || die "this system has no Debian mirror: the JDK's source cannot be downloaded. WARMPATH_JDK_SOURCE=FILE names it"
    say "downloading the source of OpenJDK $SOURCE (74 MB)"
    "$helper" -o APT::Sandbox::User=root download-file "$mirror/pool/main/o/openjdk-25/openjdk-25_$SOURCE.orig.tar.xz" "$archive" \
        "SHA256:$SOURCE_SHA256" >"$work/source.log" 2>&1 || {
        tail -n 3 "$work/source.log" >&2
        die "Debian does not serve the source of OpenJDK $SOURCE any more. WARMPATH_JDK_SOURCE=FILE names it"
    }
}

# Only what has C code is compiled, for a JVM that is not: no HotSpot. Debian takes zlib out of the source.
static_libraries() {
    [ -f "$work/static/complete" ] && return 0
    jdk_source
    say "compiling the JDK's C libraries as static archives (some five minutes; log: $work/static.log)"
    rm -rf "$work/source" "$work/static"
    mkdir -p "$work/source" "$work/static"
    tar -xf "$work/openjdk-$SOURCE.tar.xz" -C "$work/source" --strip-components=1
    (
        cd "$work/source"
        bash configure --with-boot-jdk="$jdk" --with-conf-name=static --with-jvm-variants=server --enable-headless-only \
            --disable-warnings-as-errors --disable-precompiled-headers --disable-ccache --disable-javac-server \
            --with-jobs="$jobs" --with-native-debug-symbols=none --with-version-string="$SOURCE" --with-zlib=system \
            --with-libjpeg=bundled --with-giflib=bundled --with-libpng=bundled --with-lcms=bundled --with-harfbuzz=bundled \
            --with-freetype=bundled
        for module in $MODULES; do
            make CONF=static LOG=warn "JOBS=$jobs" "$module-static-libs"
        done
    ) >"$work/static.log" 2>&1 </dev/null || {
        tail -n 20 "$work/static.log" >&2
        die "the JDK's C libraries cannot be compiled"
    }
    find "$work/source/build/static/support/native" -name '*.a' ! -name libjli.a ! -name libjsig.a -exec cp {} "$work/static/" \;
    # 1.5 GB, of no more use.
    rm -rf "$work/source"
    : >"$work/static/complete"
}

# The JDK's classes call its C functions by name: what the JDK's own libraries offer, the archives must have.
check_libraries() {
    for archive in "$work"/static/*.a; do
        shared=$jdk/lib/$(basename "$archive" .a).so
        [ -f "$shared" ] || continue
        nm -D --defined-only "$shared" | sed -n 's/.* T \(Java_[^@]*\).*/\1/p' | sort >"$work/wanted"
        nm --defined-only "$archive" 2>/dev/null | sed -n 's/.* T \(Java_.*\)/\1/p' | sort >"$work/offered"
        absent=$(comm -23 "$work/wanted" "$work/offered")
        [ -z "$absent" ] || die "OpenJDK $SOURCE is another than $jdk: $(basename "$archive") lacks" $absent
    done
}

# cpu_header TYPE: the struct that a class of the builder describes: a byte for each of its abstract methods, in its order.
cpu_header() {
    printf '/* Generated from %s. */\n#include <stdint.h>\ntypedef struct {\n' "$1"
    "$jdk/bin/javap" -p -cp "$work/jars/svm-$GRAAL.jar:$work/jars/nativeimage-$GRAAL.jar:$work/jars/word-$GRAAL.jar" "$1" |
        sed -n 's/.*abstract boolean \(.*\)();/    uint8_t \1;/p'
    printf '} CPUFeatures;\n'
}

compile() {
    cc -O2 -fPIC -Wall -Wextra -Werror -I "$include" -I "$here/c" -I "$jdk/include" -I "$jdk/include/linux" "$@"
}

# Of what the archives ask of a virtual machine and jvm.c does not have: functions that end the process and say their name.
absent_functions() {
    nm -u "$work"/static/*.a 2>/dev/null | sed -n 's/^ *U \(JVM_.*\)/\1/p' | sort -u >"$work/asked"
    nm --defined-only "$objects/jvm.o" | sed -n 's/.* T \(JVM_.*\)/\1/p' | sort >"$work/offered"
    printf '#include <stdio.h>\n#include <stdlib.h>\n'
    printf '#define ABSENT(name) void name(void) { fputs(#name " has no meaning in a native executable\\n", stderr); abort(); }\n'
    comm -23 "$work/asked" "$work/offered" | sed 's/.*/void &(void);\nABSENT(&)/'
}

c_parts() {
    libraries=$new/lib/svm/clibraries/linux-amd64
    include=$libraries/include
    objects=$work/objects
    rm -rf "$objects"
    mkdir -p "$objects" "$include" "$libraries/glibc" "$new/lib/svm/builder/lib"
    cpu_header 'com.oracle.svm.core.amd64.AMD64LibCHelper$CPUFeatures' >"$include/amd64cpufeatures.h"
    cpu_header 'com.oracle.svm.core.aarch64.AArch64LibCHelper$CPUFeatures' >"$include/aarch64cpufeatures.h"
    cpu_header 'com.oracle.svm.core.riscv64.RISCV64LibCHelper$CPUFeatures' >"$include/riscv64cpufeatures.h"
    cp "$here/c/svm_locale.h" "$include/"
    for name in runtime signals cpu_features_amd64 attach container jvm; do
        compile -c "$here/c/$name.c" -o "$objects/$name.o"
    done
    absent_functions >"$objects/absent.c"
    compile -c "$objects/absent.c" -o "$objects/absent.o"
    (
        cd "$objects"
        ar rcsD "$libraries/glibc/liblibchelper.a" runtime.o signals.o cpu_features_amd64.o attach.o
        ar rcsD "$libraries/glibc/libjvm.a" jvm.o absent.o
        ar rcsD "$libraries/glibc/libsvm_container.a" container.o
    )
    compile "$here/c/check.c" -o "$objects/check" "$libraries/glibc/liblibchelper.a" "$libraries/glibc/libjvm.a" \
        "$libraries/glibc/libsvm_container.a"
    "$objects/check" || die "the C functions do not do what they have to"
    compile -shared "$here/c/reporter.c" -o "$new/lib/svm/builder/lib/libreporterchelper.so"
}

mkdir -p "$work"
java_parts "$@"
static_libraries
check_libraries
new=$work/home
rm -rf "$new"
# Real files, not links: a JVM takes the place of its own library for its home.
cp -a "$jdk" "$new"
chmod -R u+w "$new"
rm -f "$new/lib/src.zip"
printf 'GRAALVM_VERSION="%s"\n' "$GRAAL" >>"$new/release"
mkdir -p "$new/lib/jvmci" "$new/lib/svm/builder" "$new/lib/static/linux-amd64/glibc"
cp "$work/jars/compiler-$GRAAL.jar" "$new/lib/jvmci/graal.jar"
for part in "$work"/jars/*.jar; do
    case $part in */compiler-*) ;; *) cp "$part" "$new/lib/svm/builder/" ;; esac
done
cp "$work"/static/*.a "$new/lib/static/linux-amd64/glibc/"
c_parts
"$jdk/bin/java" "$here/JvmArguments.java" "$new/lib/jvmci/graal.jar" "$new/lib/svm/builder" >"$new/lib/svm/builder-jvm.args"
cp "$here/native_image.py" "$new/bin/native-image"
chmod 0755 "$new/bin/native-image"
rm -rf "$home"
mv "$new" "$home"
say "assembled in $home"
