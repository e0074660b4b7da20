# Finds what the build needs. Missing packages are gathered first and installed in one go when this user is root and
# the system has apt-get; otherwise the exact line to run is printed and nothing is touched. Sourced by ./warmpath.
#
# find_java              sets JAVA_HOME to a JDK 25, or fails (status 1)
# need_toolchain [tests] sets JAVA_HOME, CXX and MAVEN, or ends the program with what to do
# need_fuzzer, need_aarch64  what only some checks need; end the program with what to do
# shellcheck shell=sh

JAVA_MAJOR=25
CMAKE_MIN=3.21
MAVEN_WANTED=3.9.16
MAVEN_GOOD=3.9
MAVEN_MIN=3.8.6
NATS_SERVER_MODULE=github.com/nats-io/nats-server/v2
NATS_SERVER_WANTED=v2.15.2
MOONCAKE_WANTED='mooncake-transfer-engine-non-cuda==0.3.13.post1'
# The sources of llhttp, from which the judge of HttpDifferenceTest is built.
JUDGE_WANTED='llhttp==9.3.0.0'
JUDGE_SHA256=0d989363e7fb6f270b9d49956e7a3945c26778f8c70a166815264309ac6a8295
AXE_WANTED=axe-core@4.11.0
DEPENDENCY_PLUGIN=org.apache.maven.plugins:maven-dependency-plugin:3.8.1

# Where JDKs are looked for after JAVA_HOME and before PATH; a list of glob patterns (tests replace it).
[ -n "$jdk_globs" ] || jdk_globs="/usr/lib/jvm/*$JAVA_MAJOR* /opt/*jdk*$JAVA_MAJOR* /usr/java/*$JAVA_MAJOR*"

# version_at_least HAVE WANTED: compares up to three numbers.
version_at_least() {
    [ "$(version_number "$1")" -ge "$(version_number "$2")" ]
}

version_number() {
    old_ifs=$IFS
    IFS=.
    # shellcheck disable=SC2086 # split at the dots
    set -- $1
    IFS=$old_ifs
    number=0
    for part in "${1:-0}" "${2:-0}" "${3:-0}"; do
        part=${part%%[!0-9]*}
        number=$((number * 10000 + ${part:-0}))
    done
    echo "$number"
}

# java_major DIR: the major version of the JDK in DIR; empty when it is none (javac is needed to build).
java_major() {
    [ -x "$1/bin/java" ] && [ -x "$1/bin/javac" ] || return 0
    full=
    # The release file is there in every JDK build and costs no JVM start.
    [ -r "$1/release" ] && full=$(sed -n 's/^JAVA_VERSION="\([^"]*\)".*/\1/p' "$1/release")
    [ -n "$full" ] || full=$("$1/bin/java" -version 2>&1 | sed -n 's/.* version "\([^"]*\)".*/\1/p')
    full=${full%%[.+-]*}
    echo "$full"
}

try_java() {
    [ -n "$1" ] && [ "$(java_major "$1")" = "$JAVA_MAJOR" ] || return 1
    JAVA_HOME=$1
    export JAVA_HOME
}

find_java() {
    try_java "${JAVA_HOME-}" && return 0
    # shellcheck disable=SC2086 # the patterns are meant to expand
    for candidate in $jdk_globs; do
        try_java "$candidate" && return 0
    done
    on_path=$(command -v javac || :)
    if [ -n "$on_path" ]; then
        on_path=$(readlink -f "$on_path" || :)
        try_java "${on_path%/bin/javac}" && return 0
    fi
    return 1
}

# A compiler that really accepts C++20; the answer is in CXX.
find_compiler() {
    for candidate in "${CXX-}" g++ c++ clang++; do
        if ! command -v "$candidate" >/dev/null 2>&1; then continue; fi
        if printf '#include <bit>\n#include <span>\nstatic_assert(std::has_single_bit(4u));\n' |
            "$candidate" -std=c++20 -fsyntax-only -x c++ - >/dev/null 2>&1; then
            CXX=$candidate
            export CXX
            return 0
        fi
    done
    return 1
}

has_header() {
    printf '#include <%s>\n' "$1" | "${CXX:-c++}" -E -x c++ - >/dev/null 2>&1
}

cmake_version() {
    cmake --version 2>/dev/null | sed -n '1s/[^0-9]*\([0-9.]*\).*/\1/p'
}

# maven_version COMMAND: such as 3.9.16; empty when it does not run.
maven_version() {
    "$1" -v 2>/dev/null | sed -n 's/.*Apache Maven \([0-9][0-9.]*\).*/\1/p' | head -n 1
}

is_root() { [ "$(id -u)" = 0 ]; }

# Names in $missing what the build lacks, as Debian packages.
missing_packages() {
    missing=
    if ! find_compiler; then missing="$missing g++"; fi
    version_at_least "$(cmake_version)" "$CMAKE_MIN" || missing="$missing cmake"
    command -v make >/dev/null 2>&1 || command -v ninja >/dev/null 2>&1 || missing="$missing make"
    has_header xxhash.h || missing="$missing libxxhash-dev"
    [ -x "$root/.tools/apache-maven-$MAVEN_WANTED/bin/mvn" ] || command -v mvn >/dev/null 2>&1 || missing="$missing maven"
    if [ "${1-}" = tests ]; then
        has_header gtest/gtest.h || missing="$missing libgtest-dev"
        command -v valgrind >/dev/null 2>&1 || missing="$missing valgrind"
        python3 -c 'import ensurepip, venv' >/dev/null 2>&1 || missing="$missing python3-venv"
        command -v strace >/dev/null 2>&1 || missing="$missing strace"
    fi
}

# is_wanted_nats_server FILE: it is the version that the tests are written for.
is_wanted_nats_server() {
    [ -x "$1" ] && [ "$("$1" --version 2>/dev/null)" = "nats-server: $NATS_SERVER_WANTED" ]
}

# The server that the NATS tests talk to, in .tools/nats: always of one version, since what an older one of the system does would
# pass for a fault of ours. The system's is taken where it is that version, else Go builds it (a minute and a half, once). Without
# it those tests are skipped and say so: nothing else depends on it.
need_nats_server() {
    nats=$root/.tools/nats
    is_wanted_nats_server "$nats/nats-server" && return 0
    mkdir -p "$nats"
    for candidate in "$(command -v nats-server)" /usr/sbin/nats-server; do
        if is_wanted_nats_server "$candidate"; then
            cp "$candidate" "$nats/nats-server"
            return 0
        fi
    done
    if command -v go >/dev/null 2>&1; then
        say "building nats-server $NATS_SERVER_WANTED with go into .tools/nats (log: .tools/nats-server.log)"
        rm -f "$nats/nats-server"
        if GOBIN="$nats" go install "$NATS_SERVER_MODULE@$NATS_SERVER_WANTED" </dev/null >"$root/.tools/nats-server.log" 2>&1; then
            return 0
        fi
        say "SKIPPED below: the tests that need nats-server $NATS_SERVER_WANTED, which go could not build"
    else
        say "SKIPPED below: the tests that need nats-server $NATS_SERVER_WANTED; install go and they run"
    fi
}

apt_candidate() {
    apt-cache policy "$1" 2>/dev/null | grep -q 'Candidate: [0-9]'
}

# install_packages NAME...: quiet and non-interactive, the log beside the build's.
install_packages() {
    apt_log=$root/target/warmpath-apt.log
    mkdir -p "$root/target"
    say "installing $* (log: target/warmpath-apt.log)"
    if ! apt_install "$@" && ! { apt-get -q update >>"$apt_log" 2>&1 && apt_install "$@"; }; then
        tail -n 15 "$apt_log" >&2
        die 1 "apt-get could not install them; put that right and run again: apt-get install -y $*"
    fi
}

apt_install() {
    DEBIAN_FRONTEND=noninteractive apt-get -q -y -o DPkg::Lock::Timeout=120 install --no-install-recommends "$@" \
        </dev/null >>"$apt_log" 2>&1
}

need_packages() {
    if ! command -v apt-get >/dev/null 2>&1; then
        die 1 "missing here (Debian's names): $*. Install them with this system's package manager and run again"
    elif is_root; then
        install_packages "$@"
    else
        die 1 "missing: $*. Run: sudo apt-get install -y $*"
    fi
}

# A real Mooncake master and its Python store client for the tests, in .tools/mooncake. Where they cannot be had, this
# says so, and so does each test that needs them.
mooncake_for_tests() {
    mooncake=$root/.tools/mooncake
    [ "$(cat "$mooncake/installed" 2>/dev/null)" = "$MOONCAKE_WANTED" ] && return 0
    mooncake_log=$root/target/mooncake-install.log
    mkdir -p "$root/target" "$root/.tools"
    say "installing $MOONCAKE_WANTED into .tools/mooncake (log: target/mooncake-install.log)"
    rm -rf "$mooncake"
    if python3 -m venv "$mooncake" >"$mooncake_log" 2>&1 &&
        "$mooncake/bin/pip" install --quiet --disable-pip-version-check "$MOONCAKE_WANTED" >>"$mooncake_log" 2>&1 &&
        { mooncake_starts || { mooncake_library && mooncake_starts; }; }; then
        echo "$MOONCAKE_WANTED" >"$mooncake/installed"
    else
        say "NO REAL MOONCAKE MASTER: it cannot be installed here, so the tests use recorded answers only"
    fi
}

# Chromium with its driver, and axe-core in .tools/axe-core, for the tests of the console. Status 77 where they cannot be had.
browser_for_tests() {
    if ! command -v chromium >/dev/null 2>&1 || ! [ -x /usr/bin/chromedriver ]; then
        if ! is_root || ! command -v apt-get >/dev/null 2>&1; then
            say "there is no Chromium with its driver here: the console is not tested. On Debian: sudo apt-get install chromium chromium-driver"
            return 77
        fi
        (install_packages chromium chromium-driver) || return 77
    fi
    axe=$root/.tools/axe-core
    [ "$(cat "$axe/installed" 2>/dev/null)" = "$AXE_WANTED" ] && return 0
    axe_log=$root/target/axe-install.log
    mkdir -p "$root/target"
    rm -rf "$axe"
    mkdir -p "$axe"
    # npm's own message says what is wrong; a package is a tar of a folder.
    if (cd "$axe" && npm pack --silent "$AXE_WANTED" && tar -xzf axe-core-*.tgz --strip-components=1 package/axe.min.js package/LICENSE) >"$axe_log" 2>&1 </dev/null; then
        rm -f "$axe"/*.tgz
        echo "$AXE_WANTED" >"$axe/installed"
    else
        say "$AXE_WANTED cannot be had through npm (log: target/axe-install.log): the console is not tested"
        return 77
    fi
}

# llhttp, which HttpDifferenceTest compares the server with, in .tools/http-judge. Where it cannot be had, this says so, and
# so does that test.
http_judge_for_tests() {
    judge=$root/.tools/http-judge
    judge_source=$root/src/test/c/http_judge.c
    judge_made="$JUDGE_WANTED $(cksum <"$judge_source")"
    [ "$(cat "$judge/installed" 2>/dev/null)" = "$judge_made" ] && return 0
    judge_log=$root/target/http-judge.log
    mkdir -p "$root/target"
    say "building the judge of $JUDGE_WANTED into .tools/http-judge (log: target/http-judge.log)"
    rm -rf "$judge"
    if build_http_judge >"$judge_log" 2>&1; then
        echo "$judge_made" >"$judge/installed"
    else
        say "NO THIRD JUDGE: $JUDGE_WANTED cannot be built here, so inlet and decoder are compared with each other only"
    fi
}

build_http_judge() (
    set -e
    mkdir -p "$judge/source"
    cd "$judge"
    printf '%s --hash=sha256:%s\n' "$JUDGE_WANTED" "$JUDGE_SHA256" >wanted.txt
    python3 -m pip download --quiet --disable-pip-version-check --no-deps --no-binary :all: --require-hashes -r wanted.txt -d .
    tar -xzf llhttp-*.tar.gz -C source --strip-components=1
    "${CC:-cc}" -O2 -I source/lib -o http-judge "$judge_source" source/lib/api.c source/lib/http.c source/lib/llhttp.c
    test "$(printf '\0\0\0\1\0\0\0\0' | ./http-judge | tr -d '\0')" = "$(printf 'S\007waiting')"
)

mooncake_starts() { "$mooncake/bin/python" -c 'import mooncake.store' >>"$mooncake_log" 2>&1; }

# The one system library that the package leaves out and a bare system lacks.
mooncake_library() {
    if is_root && command -v apt-get >/dev/null 2>&1; then
        (install_packages libibverbs1)
    else
        say "it needs a system library: sudo apt-get install -y libibverbs1"
        return 1
    fi
}

# A clang that links libFuzzer and the sanitizers: its run time is a package of its own.
fuzzer_works() {
    mkdir -p "$root/target"
    printf 'extern "C" int LLVMFuzzerTestOneInput(const unsigned char*, unsigned long) { return 0; }\n' |
        clang++ -fsanitize=fuzzer,address,undefined -x c++ - -o "$root/target/warmpath-fuzzer-probe" >/dev/null 2>&1
}

need_fuzzer() {
    fuzzer_works && return 0
    need_packages clang libclang-rt-dev
    fuzzer_works || die 1 "clang cannot link with -fsanitize=fuzzer; install the compiler-rt that belongs to $(command -v clang++ || echo clang)"
}

# The cross compiler for aarch64, and the emulator that runs what it makes.
need_aarch64() {
    missing=
    command -v aarch64-linux-gnu-g++ >/dev/null 2>&1 || missing="$missing g++-aarch64-linux-gnu"
    command -v qemu-aarch64 >/dev/null 2>&1 || command -v qemu-aarch64-static >/dev/null 2>&1 ||
        missing="$missing qemu-user-static"
    # shellcheck disable=SC2086 # names are words
    [ -z "$missing" ] || need_packages $missing
}

# The JDK is apart from the other packages: not every Debian has one, and then there is more to say.
need_java() {
    find_java && return 0
    if command -v apt-get >/dev/null 2>&1; then
        wanted="openjdk-$JAVA_MAJOR-jdk-headless temurin-$JAVA_MAJOR-jdk"
        # A bare image comes without package lists.
        # shellcheck disable=SC2086
        if is_root && ! any_candidate $wanted; then apt-get -q update >/dev/null 2>&1 || :; fi
        for package in $wanted; do
            apt_candidate "$package" || continue
            need_packages "$package"
            find_java && return 0
            die 1 "$package is installed but no JDK $JAVA_MAJOR is under /usr/lib/jvm; set JAVA_HOME to it"
        done
    fi
    say "no JDK $JAVA_MAJOR found in JAVA_HOME, /usr/lib/jvm, /opt or PATH, and this system's package lists have none. Either"
    say "  - Debian 13, Ubuntu 24.04 and later have it:   apt-get install -y openjdk-$JAVA_MAJOR-jdk-headless"
    say "  - Debian 12: enable Eclipse Adoptium's apt repository (its site says how), then:   apt-get install -y temurin-$JAVA_MAJOR-jdk"
    die 1 "  - or unpack any JDK $JAVA_MAJOR archive and run:   JAVA_HOME=/path/to/jdk-$JAVA_MAJOR ./warmpath ..."
}

any_candidate() {
    for package in "$@"; do
        if apt_candidate "$package"; then return 0; fi
    done
    return 1
}

# Sets MAVEN. An old Maven fetches a new one, as an ordinary artifact from wherever it gets its artifacts.
need_maven() {
    java_home_usable || { made_home=$(private_home) && maven_opts="-Duser.home=$made_home $maven_opts"; } || exit 1
    fetched=$root/.tools/apache-maven-$MAVEN_WANTED
    if [ -x "$fetched/bin/mvn" ]; then
        MAVEN=$fetched/bin/mvn
        return 0
    fi
    MAVEN=$(command -v mvn)
    found=$(maven_version "$MAVEN")
    [ -n "$found" ] || die 1 "$MAVEN does not start; run '$MAVEN -v' to see why"
    version_at_least "$found" "$MAVEN_GOOD" && return 0
    say "Maven $found is older than $MAVEN_GOOD: fetching $MAVEN_WANTED into .tools"
    if fetch_maven; then
        MAVEN=$fetched/bin/mvn
    elif version_at_least "$found" "$MAVEN_MIN"; then
        say "Maven $MAVEN_WANTED could not be fetched (log: .tools/maven-fetch.log); going on with $found"
    else
        die 1 "Maven $found is too old and $MAVEN_WANTED could not be fetched (log: .tools/maven-fetch.log); install Maven $MAVEN_GOOD or later"
    fi
}

# Unpacked beside its final place and moved in one step: a broken download never looks like an installed Maven.
fetch_maven() {
    tools=$root/.tools
    rm -rf "$tools/unpack"
    mkdir -p "$tools/unpack"
    # In a directory without pom.xml: the project's own build extensions have no say here.
    # shellcheck disable=SC2086 # options are words
    (cd "$tools/unpack" && "$MAVEN" -B -ntp $maven_opts "$DEPENDENCY_PLUGIN:copy" \
        "-Dartifact=org.apache.maven:apache-maven:$MAVEN_WANTED:tar.gz:bin" "-DoutputDirectory=$tools/unpack") \
        </dev/null >"$tools/maven-fetch.log" 2>&1 || return 1
    tar -xzf "$tools/unpack/apache-maven-$MAVEN_WANTED-bin.tar.gz" -C "$tools/unpack" >>"$tools/maven-fetch.log" 2>&1 || return 1
    rm -rf "$fetched"
    mv "$tools/unpack/apache-maven-$MAVEN_WANTED" "$fetched" || return 1
    rm -rf "$tools/unpack"
}

need_toolchain() {
    missing_packages "$@"
    # shellcheck disable=SC2086 # names are words
    [ -z "$missing" ] || need_packages $missing
    if [ "${1-}" = tests ]; then need_nats_server; fi
    need_java
    find_compiler || die 1 "no compiler accepts -std=c++20; g++ 11 or clang 14 and later do. Set CXX to one"
    version_at_least "$(cmake_version)" "$CMAKE_MIN" ||
        die 1 "cmake $(cmake_version) is older than $CMAKE_MIN; install a newer one"
    need_maven
}
