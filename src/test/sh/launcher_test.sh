#!/bin/sh
# Self-test of ./warmpath: copies the launcher into an empty project in a directory with spaces, and runs it with a PATH
# that holds nothing but basic tools and stubs, so that every "tool is missing" case is real. Prints one line per promise;
# ends with status 1 when one is broken. Needs no JDK, no Maven, no network, no root; takes a few seconds.
set -u
here=$(cd "$(dirname "$0")/../../.." && pwd -P)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
trap 'exit 130' INT TERM
broken=0
promises=0

# ---- the stage --------------------------------------------------------------------------------------------------

# new_stage: an empty project, a PATH with basic tools only, and an empty record of calls.
new_stage() {
    rm -rf "$work/stage"
    project="$work/stage/a project"
    bin=$work/stage/bin
    jdks=$work/stage/jdks
    calls=$work/stage/calls
    mkdir -p "$project/src/gateway/main/java" "$project/src/main" "$project/src/test/sh" "$project/src/test/e2e" \
        "$project/src-cpp" "$project/native-core" "$project/.mvn" "$project/.ci" "$bin" "$jdks"
    cp "$here/warmpath" "$project/"
    cp -R "$here/src/main/sh" "$project/src/main/"
    printf '<project>\n  <version>9.8.7</version>\n</project>\n' >"$project/pom.xml"
    echo 'class A {}' >"$project/src/gateway/main/java/A.java"
    echo 'exit 0' >"$project/src/test/sh/launcher_test.sh"
    echo 'exit 0' >"$project/native-core/check.sh"
    printf '#!/usr/bin/env bash\n' >"$project/.ci/run"
    : >"$calls"
    for tool in sh bash cat sed grep find cksum sort head tail tee mkdir rm mv cp date dirname basename readlink sleep tar \
        gzip xargs touch chmod tr ls env cut awk; do
        ln -s "$(command -v "$tool")" "$bin/$tool"
    done
    for tool in cmake make python3 strace valgrind; do
        stub "$tool" 'if [ "${1-}" = --version ]; then echo "cmake version 3.25.1"; fi'
    done
    nats=$(sed -n 's/^NATS_SERVER_WANTED=//p' "$here/src/main/sh/toolchain.sh")
    stub nats-server "echo 'nats-server: $nats'"
    stub g++ 'exit 0'
    stub id 'echo 1000'
    stub getent "echo user:x:1000:1000::$work/stage:/bin/sh"
    stub getconf 'echo 4'
    stub_mvn "$bin/mvn" 3.9.9
    new_jdk jdk-25.0.3 25.0.3
}

stub() {
    rm -f "$bin/$1" # a link to this machine's own, maybe
    printf '#!/bin/sh\n%s\n' "$2" >"$bin/$1"
    chmod +x "$bin/$1"
}

# stub_mvn FILE VERSION: answers -v, hands out a newer Maven unless FETCH=no, and "builds" the jar unless BUILD=no.
stub_mvn() {
    cat >"$1" <<STUB
#!/bin/sh
case "\$*" in
    -v) echo 'Apache Maven $2'; exit 0 ;;
    *dependency-plugin*:copy*)
        echo "fetch by $2" >>"$calls"
        [ "\${FETCH-yes}" = yes ] || exit 1
        for argument in "\$@"; do
            case \$argument in -DoutputDirectory=*) out=\${argument#-DoutputDirectory=} ;; esac
        done
        mkdir -p "\$out/pack/apache-maven-3.9.16/bin"
        sed 's/Apache Maven $2/Apache Maven 3.9.16/; s/ by $2/ by 3.9.16/' "\$0" >"\$out/pack/apache-maven-3.9.16/bin/mvn"
        chmod +x "\$out/pack/apache-maven-3.9.16/bin/mvn"
        tar -czf "\$out/apache-maven-3.9.16-bin.tar.gz" -C "\$out/pack" apache-maven-3.9.16
        exit 0 ;;
esac
echo "mvn by $2: \$* JAVA_HOME=\$JAVA_HOME" >>"$calls"
echo '[INFO] --- compiler:3.15.0:compile (default-compile) @ warmpath-gateway ---'
[ "\${BUILD-yes}" = yes ] || { echo '[ERROR] A.java:[1,1] cannot find symbol'; exit 1; }
[ "\${TESTS-yes}" = yes ] || echo '[ERROR] There are test failures.'
mkdir -p target/gateway/quarkus-app target/tools
echo jar >target/gateway/quarkus-app/quarkus-run.jar
echo jar >target/tools/warmpath-tools.jar
STUB
    chmod +x "$1"
}

# new_jdk NAME VERSION: a JDK whose java prints its process, directory and arguments.
new_jdk() {
    mkdir -p "$jdks/$1/bin"
    printf 'JAVA_VERSION="%s"\n' "$2" >"$jdks/$1/release"
    cat >"$jdks/$1/bin/java" <<'STUB'
#!/bin/sh
for argument in "$@"; do
    case $argument in -XX:AOTCacheOutput=*) recording=${argument#*=} ;; esac
done
if [ -n "${recording-}" ]; then
    echo "train: $*" >>"CALLS"
    env | grep '^WARMPATH_WORKERS' >>"CALLS"
    [ ! -e "CALLS.broken" ] || exit 1
    echo cache >"$recording"
    exit 0
fi
echo "pid $$"
echo "cwd $(pwd -P)"
for argument in "$@"; do echo "arg <$argument>"; done
env | grep '^WARMPATH_' || echo 'no settings'
STUB
    sed "s|CALLS|$calls|" "$jdks/$1/bin/java" >"$jdks/$1/bin/java.new"
    mv "$jdks/$1/bin/java.new" "$jdks/$1/bin/java"
    printf '#!/bin/sh\n' >"$jdks/$1/bin/javac"
    chmod +x "$jdks/$1/bin/java" "$jdks/$1/bin/javac"
}

# launch ARGUMENTS...: status in $status, output in $out, messages in $err. Extra environment in $with.
with=
launch() {
    status=0
    # shellcheck disable=SC2086 # $with is a list of assignments
    "$bin/env" -i PATH="$bin" HOME="$work/stage" WARMPATH_JDK_GLOBS="$jdks/*25*" $with \
        "$project/warmpath" "$@" >"$work/stage/out" 2>"$work/stage/err" || status=$?
    out=$(cat "$work/stage/out")
    err=$(cat "$work/stage/err")
}

# promise TITLE CONDITION: the condition is shell code, evaluated here.
promise() {
    promises=$((promises + 1))
    if eval "$2"; then
        echo "  ok      $1"
    else
        broken=$((broken + 1))
        echo "  BROKEN  $1"
        { echo "status: ${status-}"; echo "out: ${out-}"; echo "err: ${err-}"; echo "calls:"; cat "$calls"; } | sed 's/^/          /'
    fi
}

status_is() { [ "$status" = "$1" ]; }
out_has() { printf '%s\n' "$out" | grep -qF -- "$1"; }
err_has() { printf '%s\n' "$err" | grep -qF -- "$1"; }
called() { grep -qF -- "$1" "$calls"; }
calls_of() { [ "$(grep -c -- "$1" "$calls")" = "$2" ]; }
fails_and_says() { [ "$status" != 0 ] && err_has "$1"; }

# ---- promises ---------------------------------------------------------------------------------------------------

echo 'help'
new_stage
launch
promise 'no command prints the help' 'status_is 0 && out_has "Usage: ./warmpath COMMAND"'
launch --version
promise 'the version is the one in pom.xml' 'out_has "warmpath 9.8.7"'
launch serv
promise 'an unknown command is refused with status 2' 'status_is 2 && err_has "there is no command"'
for name in demo serve sim capture render dev build native docs sbom audit check test verify coverage k8s-check fuzz bench fmt; do
    launch help
    promise "help lists $name" 'out_has "  $name "'
    launch help "$name"
    promise "help $name explains it" 'status_is 0 && out_has "./warmpath $name"'
done
launch build --help
promise 'build --help starts no Maven' 'calls_of mvn 0'

echo 'JDK'
new_stage
new_jdk jdk-17 17.0.15
with="JAVA_HOME=$jdks/jdk-17"
launch build
promise 'a JAVA_HOME that is not 25 is passed over' 'status_is 0 && called "JAVA_HOME=$jdks/jdk-25.0.3"'
new_stage
new_jdk other/25-mine 25.0.9
with="JAVA_HOME=$jdks/other/25-mine"
launch build
promise 'a JAVA_HOME that is a 25 is taken first' 'called "JAVA_HOME=$jdks/other/25-mine"'
new_stage
with=
new_jdk jdk-25-a-runtime 25.0.1
rm "$jdks/jdk-25-a-runtime/bin/javac"
launch build
promise 'a runtime without compiler is passed over' 'called "JAVA_HOME=$jdks/jdk-25.0.3"'
new_stage
new_jdk jdk-25.9 21.0.1
rm -rf "$jdks/jdk-25.0.3"
launch build
promise 'a directory named 25 with another JDK in it is passed over' 'fails_and_says "no JDK 25 found"'
new_stage
mkdir -p "$work/stage/elsewhere"
mv "$jdks/jdk-25.0.3" "$work/stage/elsewhere/jdk"
ln -s "$work/stage/elsewhere/jdk/bin/javac" "$bin/javac"
launch build
promise 'a JDK 25 on the PATH is found through its link' 'called "JAVA_HOME=$work/stage/elsewhere/jdk"'
new_stage
rm "$jdks/jdk-25.0.3/release"
printf '#!/bin/sh\necho %s >&2\n' "'openjdk version \"25.0.3\" 2026-04-21'" >"$jdks/jdk-25.0.3/bin/java"
launch build
promise 'a JDK without release file is asked for its version' 'status_is 0'
new_stage
rm -rf "$jdks/jdk-25.0.3"
stub apt-get 'exit 0'
stub apt-cache 'echo "  Candidate: (none)"'
launch build
promise 'no JDK 25 to be had: both ways are named' 'fails_and_says "apt-get install -y openjdk-25-jdk-headless" && err_has "apt-get install -y temurin-25-jdk"'
promise 'and nothing is built' 'calls_of "mvn by" 0'

echo 'packages'
new_stage
rm "$bin/g++" "$bin/cmake" "$bin/mvn"
stub apt-get "echo \"apt-get \$*\" >>'$calls'"
launch build
promise 'not root: the exact line is printed' 'fails_and_says "Run: sudo apt-get install -y g++ cmake libxxhash-dev maven"'
promise 'not root: apt-get is not called' 'calls_of apt-get 0'
new_stage
stub id 'echo 0'
rm "$bin/cmake"
# The stub "installs" cmake.
stub apt-get "echo \"apt-get \$*\" >>'$calls'; printf '#!/bin/sh\necho cmake version 3.25.1\n' >'$bin/cmake'; chmod +x '$bin/cmake'"
launch build
promise 'root: only what is missing is installed, then the build goes on' 'status_is 0 && called "--no-install-recommends cmake"'
promise 'root: one call of apt-get, without update' 'calls_of apt-get 1'
new_stage
stub id 'echo 0'
rm "$bin/cmake"
stub apt-get "echo \"apt-get \$*\" >>'$calls'; echo 'E: no such package'; exit 100"
launch build
promise 'root: a failing apt-get ends the run with its words' 'fails_and_says "E: no such package" && err_has "run again: apt-get install -y cmake"'
promise 'root: the package lists are renewed once before giving up' 'calls_of "-q update" 1'
new_stage
stub cmake 'echo cmake version 3.18.4'
launch build
promise 'a cmake that is too old is missing' 'fails_and_says cmake'
new_stage
stub g++ 'exit 1'
launch build
promise 'a compiler that does not know C++20 is missing' 'fails_and_says "g++"'
new_stage
stub id 'echo 0'
rm -rf "$jdks/jdk-25.0.3"
stub apt-cache 'case $2 in temurin*) echo "  Candidate: 25.0.3" ;; *) echo "  Candidate: (none)" ;; esac'
stub apt-get "echo \"apt-get \$*\" >>'$calls'; mkdir -p '$jdks/temurin-25/bin'; echo 'JAVA_VERSION=\"25.0.3\"' >'$jdks/temurin-25/release'
printf '#!/bin/sh\n' >'$jdks/temurin-25/bin/java'; cp '$jdks/temurin-25/bin/java' '$jdks/temurin-25/bin/javac'; chmod +x '$jdks/temurin-25/bin/java' '$jdks/temurin-25/bin/javac'"
launch build
promise 'root: the JDK package that this system has is installed' 'status_is 0 && called "--no-install-recommends temurin-25-jdk"'

echo 'Maven'
new_stage
launch build
promise 'a Maven that is new enough is used as it is' 'calls_of fetch 0 && called "mvn by 3.9.9"'
new_stage
stub_mvn "$bin/mvn" 3.8.7
launch build
promise 'an old Maven fetches a newer one, which builds' 'called "fetch by 3.8.7" && called "mvn by 3.9.16"'
rm "$project/target/gateway/quarkus-app/quarkus-run.jar"
launch build
promise 'it is fetched only once' 'calls_of fetch 1'
new_stage
stub_mvn "$bin/mvn" 3.8.7
with=FETCH=no
launch build
promise 'a newer Maven cannot be had: the old one goes on and says so' 'err_has "going on with 3.8.7" && called "mvn by 3.8.7"'
new_stage
stub_mvn "$bin/mvn" 3.6.3
launch build
promise 'a Maven that is too old for anything stops' 'fails_and_says "too old"'
with=

echo 'build'
new_stage
launch build
promise 'the first run builds and shows the phase' 'status_is 0 && err_has "compiling gateway"'
launch build
promise 'the second run does not start Maven' 'calls_of "mvn by" 1'
touch "$project/src/gateway/main/java/A.java"
launch build
promise 'a new time alone is no change' 'calls_of "mvn by" 1'
echo 'class A { }' >"$project/src/gateway/main/java/A.java"
launch build
promise 'a changed source is built' 'calls_of "mvn by" 2'
echo 'int x;' >"$project/src-cpp/x.cpp"
launch build
promise 'a new native source is built' 'calls_of "mvn by" 3'
rm "$project/src-cpp/x.cpp"
launch build
promise 'a removed source is built' 'calls_of "mvn by" 4'
rm "$project/target/gateway/quarkus-app/quarkus-run.jar"
launch build
promise 'a removed jar is built' 'calls_of "mvn by" 5'
rm "$project/target/tools/warmpath-tools.jar"
launch build
promise 'a removed jar of the tools is built' 'calls_of "mvn by" 6'
echo 'class B {}' >"$project/src/gateway/main/java/B.java"
with=BUILD=no
launch build
promise 'a failing build says why and where the log is' 'fails_and_says "cannot find symbol" && err_has warmpath-build.log'
with=
launch build
promise 'what failed is built again' 'calls_of "mvn by" 8'
promise 'no lock is left' '! test -e "$project/target/warmpath-build.lock"'
mkdir -p "$project/target/warmpath-build.lock"
sh -c 'echo $$' >"$project/target/warmpath-build.lock/pid"
echo 'class C {}' >"$project/src/gateway/main/java/C.java"
launch build
promise 'the lock of a dead process is taken over' 'status_is 0 && ! test -e "$project/target/warmpath-build.lock"'
mkdir -p "$project/target/warmpath-build.lock"
echo $$ >"$project/target/warmpath-build.lock/pid"
echo 'class D {}' >"$project/src/gateway/main/java/D.java"
(
    until grep -q 'another build runs' "$work/stage/err" 2>/dev/null; do sleep 0.1; done
    echo freed >>"$calls"
    rm -rf "$project/target/warmpath-build.lock"
) &
launch build
wait
promise 'a second build waits for the first' 'test "$(tail -n 2 "$calls" | head -n 1)" = freed'

echo 'programs'
new_stage
launch serve --worker 'http://h:1' 'two words'
promise 'arguments arrive whole' 'out_has "arg <serve>" && out_has "arg <two words>"'
promise 'standard output belongs to the program' '! out_has "warmpath:"'
promise 'the jar is named by its full path' 'out_has "arg <$project/target/gateway/quarkus-app/quarkus-run.jar>"'
launch sim
promise 'the tools have a jar of their own' 'out_has "arg <$project/target/tools/warmpath-tools.jar>" && ! out_has quarkus-run'
launch serve
promise 'four cores get G1' 'out_has "arg <-XX:+UseG1GC>"'
stub getconf 'echo 2'
launch serve
promise 'two cores get the serial collector' 'out_has "arg <-XX:+UseSerialGC>" && ! out_has UseG1GC'
"$bin/env" -i PATH="$bin" HOME="$work/stage" WARMPATH_JDK_GLOBS="$jdks/*25*" WARMPATH_JAVA_OPTS='-Xmx9g -XX:+UseZGC' \
    "$project/warmpath" serve >"$work/stage/out" 2>"$work/stage/err"
out=$(cat "$work/stage/out")
promise 'variables of the launcher do not reach the gateway as settings' 'out_has "no settings"'
promise 'WARMPATH_JAVA_OPTS wins, and only one collector is named' 'out_has "arg <-Xmx9g>" && ! out_has UseSerialGC'
promise 'a home that Java can use is left alone' '! out_has user.home'
stub getent "echo user:x:1000:1000::/nonexistent:/bin/sh"
with=TMPDIR=$work/stage
echo 'class E {}' >"$project/src/gateway/main/java/E.java"
launch serve
promise 'without a home Java gets one, for the build and for the gateway' \
    'out_has "-Duser.home=$work/stage/warmpath-home-1000" && called "-Duser.home=$work/stage/warmpath-home-1000"'
with=
launch serve --help
promise 'serve --help is answered by the program' 'out_has "arg <--help>"'
for question in status top why drain resume ask; do
    launch "$question" --json
    promise "$question asks from the tools' jar, with a small JVM" \
        'out_has "arg <$question>" && out_has "arg <-Xmx256m>" && out_has "warmpath-tools.jar>" && ! out_has quarkus-run'
done
launch status --help
promise 'status --help is answered by the program' 'out_has "arg <--help>"'
with='WARMPATH_URL=http://h:1'
launch status
promise 'WARMPATH_URL reaches what asks a gateway' 'out_has WARMPATH_URL=http://h:1'
launch serve
promise 'and is no setting of the gateway' 'out_has "no settings"'
with=
mkdir -p "$work/stage/else where"
ln -s "$project/warmpath" "$work/stage/else where/link"
ln -s 'else where/link' "$work/stage/wp"
(cd "$work/stage/else where" && "$bin/env" -i PATH="$bin" WARMPATH_JDK_GLOBS="$jdks/*25*" ../wp sim >"$work/stage/out" 2>"$work/stage/err")
out=$(cat "$work/stage/out")
promise 'it works through links, and keeps the directory it was called in' 'out_has "arg <sim>" && out_has "cwd $work/stage/else where"'
# The process that was started is the one that java runs in.
"$bin/env" -i PATH="$bin" HOME="$work/stage" WARMPATH_JDK_GLOBS="$jdks/*25*" "$project/warmpath" serve >"$work/stage/out" 2>&1 &
started=$!
wait "$started"
out=$(cat "$work/stage/out")
promise 'the launcher becomes the JVM' 'out_has "pid $started"'

echo 'AOT cache'
new_stage
with=WARMPATH_WORKERS=http://h:1
launch serve
promise 'the first serve records a cache, says so, and uses it' \
    'status_is 0 && calls_of "train:" 1 && err_has "recording a start" && out_has "arg <-XX:AOTCache=$project/target/warmpath.aot>"'
promise 'settings do not reach the recording, and do reach the gateway' '! called WARMPATH_WORKERS && out_has WARMPATH_WORKERS'
with=
launch serve
promise 'the second serve records nothing' 'calls_of "train:" 1 && out_has "arg <-XX:AOTCache=" && ! err_has recording'
launch key
promise 'key uses it' 'out_has "arg <-XX:AOTCache="'
launch demo
promise 'demo hands it to the gateways that it starts, and does without' \
    'out_has "arg <-Dwarmpath.demo.aot-cache=$project/target/warmpath.aot>" && out_has "arg <-Dwarmpath.demo.gateway=$project/target/gateway/quarkus-app/quarkus-run.jar>" && ! out_has "arg <-XX:AOTCache="'
launch serve --help
with='WARMPATH_JAVA_OPTS=-Xmx2g'
launch key
promise 'with another size of the heap it is used' 'out_has "arg <-XX:AOTCache="'
with='WARMPATH_JAVA_OPTS=-Xmx40g'
launch key
promise 'with one that makes references longer it is not used' '! out_has AOTCache'
with='WARMPATH_JAVA_OPTS=-XX:+UseZGC'
launch key
promise 'with other options it is not used' '! out_has AOTCache'
launch serve
promise 'and serve records another, with them' 'calls_of "train:" 2 && called "-XX:+UseZGC" && out_has "arg <-XX:AOTCache="'
with=
echo 'class F {}' >"$project/src/gateway/main/java/F.java"
launch key
promise 'after another build it is not used' '! out_has AOTCache'
launch serve --help
promise 'serve --help records nothing' 'calls_of "train:" 2 && ! out_has AOTCache'
launch serve
promise 'after another build serve records another' 'calls_of "train:" 3 && out_has "arg <-XX:AOTCache="'
new_jdk jdk-25.0.4 25.0.4
with="JAVA_HOME=$jdks/jdk-25.0.4"
launch serve
promise 'another JDK records another' 'calls_of "train:" 4'
mkdir -p "$project/target/gateway/quarkus-app/app"
touch -d '+1 hour' "$project/target/gateway/quarkus-app/app/warmpath.jar"
launch serve
promise 'any jar that is newer than the cache needs another' 'calls_of "train:" 5'
with=WARMPATH_AOT=off
launch serve
promise 'WARMPATH_AOT=off does without' '! out_has AOTCache && out_has "no settings" && calls_of "train:" 5'
with=
new_stage
: >"$calls.broken"
launch serve
promise 'a failing recording is told, and the gateway starts' 'status_is 0 && err_has "no AOT cache could be made" && out_has "arg <serve>" && ! out_has AOTCache'
launch serve
promise 'it is not tried again with every start, and that is told' 'calls_of "train:" 1 && err_has warmpath-aot.failed && out_has "arg <serve>"'
promise 'no lock is left by it' '! test -e "$project/target/warmpath-build.lock"'
rm -f "$calls.broken"

echo 'checks'
new_stage
launch check
promise 'check passes and prints a line per step' 'status_is 0 && out_has "check: passed"'
promise 'a tool that is not there is SKIPPED, not passed' 'out_has "SKIPPED"'
promise 'a nats-server of the version that tests want is taken' 'test -x "$project/.tools/nats/nats-server" && ! err_has "tests that need nats-server"'
new_stage
stub nats-server 'echo "nats-server: v2.9.10"'
launch check
promise 'another one on the PATH is not, and what that costs is said' '! test -e "$project/.tools/nats/nats-server" && err_has "SKIPPED below: the tests that need nats-server"'
stub go "echo go >>'$calls'; cp '$here/src/main/sh/toolchain.sh' \"\$GOBIN/nats-server\""
launch check
promise 'go builds the one that is wanted' 'called go && test -e "$project/.tools/nats/nats-server" && ! err_has "SKIPPED below"'
echo 'exit 1' >"$project/native-core/check.sh"
launch check
promise 'a failing step fails the run, after the others have run' 'status_is 1 && out_has "check: FAILED, 1 step(s)"'
new_stage
with=BUILD=no
launch check
promise 'failing Java tests fail the run' 'status_is 1 && out_has "FAILED"'
promise 'and leave no stamp, so the next run builds' '! test -e "$project/target/warmpath-build.stamp"'
with=
new_stage
with=TESTS=no
launch check
promise 'failing tests of a module fail the run, though the modules after it are tested' 'status_is 1 && err_has "tests failed" && out_has "FAILED"'
with=
new_stage
printf '#!/bin/sh\nif then\n' >"$project/native-core/build.sh"
launch check
promise 'a script with a syntax error fails the run' 'status_is 1 && out_has "FAILED"'
new_stage
launch test
promise 'test fails while an end-to-end script is missing' 'status_is 1 && out_has "FAILED"'
promise 'no step is left out where there is time' '! out_has "LEFT OUT"'
new_stage
stub date "test -e '$calls.clock' && echo 9000 || { : >'$calls.clock'; echo 1000; }"
launch test
promise 'a slow machine leaves steps to verify, and says which' 'out_has "LEFT OUT" && err_has "LEFT OUT: native: asan-ubsan" && err_has "LEFT OUT: demo"'
promise 'the tests of the code are not among them' 'out_has "Java: all tests" && ! err_has "LEFT OUT: Java"'

echo 'fuzz'
new_stage
echo "echo \"fuzz.sh \$*\" >>'$calls'" >"$project/native-core/fuzz.sh"
stub clang++ 'exit 0'
launch fuzz
promise 'fuzz searches a minute with every target' 'status_is 0 && called "fuzz.sh 60 all" && out_has "fuzz: passed"'
launch fuzz --target abi_calls --seconds 5
promise 'fuzz takes a target and a time' 'status_is 0 && called "fuzz.sh 5 abi_calls"'
for wrong in '--seconds 0' '--seconds ten' '--seconds' '--target none' '--fast'; do
    # shellcheck disable=SC2086 # words
    launch fuzz $wrong
    promise "fuzz $wrong is wrong use" 'status_is 2 && calls_of fuzz.sh 2'
done
echo 'exit 1' >"$project/native-core/fuzz.sh"
launch fuzz
promise 'what the fuzzer finds fails the run' 'status_is 1 && out_has "fuzz: FAILED"'
new_stage
echo "echo \"fuzz.sh \$*\" >>'$calls'" >"$project/native-core/fuzz.sh"
stub apt-get "echo \"apt-get \$*\" >>'$calls'"
launch fuzz
promise 'without clang, not root: the exact line is printed and nothing is searched' \
    'status_is 1 && err_has "Run: sudo apt-get install -y clang libclang-rt-dev" && calls_of fuzz.sh 0'
launch native aarch64
promise 'without a cross compiler: the exact line is printed' \
    'status_is 1 && err_has "Run: sudo apt-get install -y g++-aarch64-linux-gnu qemu-user-static"'
stub id 'echo 0'
launch fuzz
promise 'root: a clang that still cannot link a fuzzer fails loudly' \
    'status_is 1 && err_has "cannot link with -fsanitize=fuzzer" && calls_of fuzz.sh 0'
stub apt-get "printf '#!/bin/sh\n' >'$bin/clang++'; chmod +x '$bin/clang++'; echo \"apt-get \$*\" >>'$calls'"
launch fuzz
promise 'root: clang is installed, then the search begins' \
    'status_is 0 && called "--no-install-recommends clang libclang-rt-dev" && calls_of fuzz.sh 1'
stub aarch64-linux-gnu-g++ 'exit 0'
stub qemu-aarch64 'exit 0'
echo "echo \"check.sh \$*\" >>'$calls'" >"$project/native-core/check.sh"
launch verify
promise 'verify builds for aarch64 and fuzzes for a minute' \
    'called "check.sh aarch64" && called "fuzz.sh 60 all" && out_has "passed" && ! out_has "verify: passed"'
launch test
promise 'test does neither' 'calls_of "check.sh aarch64" 1 && calls_of "fuzz.sh" 2'
stub id 'echo 1000'
stub apt-get "echo \"apt-get \$*\" >>'$calls'" # one that installs nothing
rm "$bin/clang++" "$bin/aarch64-linux-gnu-g++"
launch verify
promise 'verify fails both steps where their compilers cannot be had' \
    'status_is 1 && printf "%s\n" "$out" | grep -q "FAILED.*native: fuzz" && printf "%s\n" "$out" | grep -q "FAILED.*aarch64"'

echo 'release'
new_stage
ln -s "$(command -v git)" "$bin/git"
# Some names are used in conditions alone, which `promise` evaluates.
# shellcheck disable=SC2034
ours=$(sed -n 's/^  <version>\(.*\)<.*/\1/p' "$here/pom.xml" | head -n 1)
for file in $(sed -n "/^release_files='/,/'\$/p" "$here/src/main/sh/release.sh" | tr -d "'" | sed 's/^release_files=//'); do
    mkdir -p "$project/$(dirname "$file")"
    cp "$here/$file" "$project/$file"
done
printf '# Changelog\n\n## Unreleased\n\n### Added\n\n- A thing.\n' >"$project/CHANGELOG.md"
echo target >"$project/.gitignore"
repository() { git -C "$project" -c user.name=t -c user.email=t@t "$@"; }
repository init -q && repository add -A && repository commit -q -m first
launch release
promise 'release wants a version' 'status_is 2 && err_has "takes a version such as"'
launch release 0.0.9
promise 'release does not go back' 'status_is 2 && err_has "older than $ours"'
echo >>"$project/README.md"
launch release 99.0.1
promise 'release wants everything committed' 'status_is 1 && err_has "not committed"'
repository checkout -q README.md
repository tag v99.0.1
launch release 99.0.1
promise 'release does not make a tag twice' 'status_is 1 && err_has "there is a tag v99.0.1"'
repository tag -d v99.0.1 >/dev/null
# shellcheck disable=SC2034
before=$(repository rev-parse HEAD)
with='GIT_AUTHOR_NAME=t GIT_AUTHOR_EMAIL=t@t GIT_COMMITTER_NAME=t GIT_COMMITTER_EMAIL=t@t'
launch release 99.0.1 --checks none
# shellcheck disable=SC2034
released=$project/target/release/99.0.1
promise 'release says the version in every file of its list, and none says the old one' \
    'printf "%s\n" "$out" | grep -q "passed .*version 99.0.1, changelog" && grep -q "<version>99.0.1<" "$released/src/gateway/pom.xml" &&
    grep -q "VERSION = \"99.0.1\"" "$released/src/gateway/main/java/io/warmpath/wiring/Main.java" &&
    ! git -C "$released" grep -qwF "$ours" -- pom.xml k8s src/gateway'
promise 'release closes the section of the changelog' 'grep -q "^## 99.0.1 - 20" "$released/CHANGELOG.md" && grep -q "^## Unreleased" "$released/CHANGELOG.md"'
promise 'release without archives fails, and leaves the checkout as it was' \
    'status_is 1 && printf "%s\n" "$out" | grep -q "FAILED .*archives" && [ "$(repository rev-parse HEAD)" = "$before" ] && [ -z "$(repository status --porcelain)" ] && [ -z "$(repository tag)" ]'
sed 's/## Unreleased/## 0.0.1/' "$project/CHANGELOG.md" >"$project/c" && mv "$project/c" "$project/CHANGELOG.md"
repository commit -q -a -m second
launch release 99.0.1
promise 'release wants something to release' 'status_is 1 && err_has "nothing to release"'
with=

echo
if [ "$broken" -gt 0 ]; then
    echo "launcher: $broken of $promises promises broken"
    exit 1
fi
echo "launcher: $promises promises kept"
