#!/bin/sh
# Each jar on a JVM that is too old for it: one sentence and status 1, no stack trace. With the oldest JVM that is found here.
#
#   old_java_test.sh JAR...      OLD_JAVA: another JVM's java
set -eu

major_of() { "$1" -version 2>&1 | sed -n 's/^[a-z]* version "\(1\.\)\{0,1\}\([0-9]*\).*/\2/p'; }

old=
old_major=25
for candidate in ${OLD_JAVA:+"$OLD_JAVA"} /usr/lib/jvm/*/bin/java; do
    [ -x "$candidate" ] || continue
    major=$(major_of "$candidate")
    if [ -n "$major" ] && [ "$major" -lt "$old_major" ]; then
        old=$candidate
        old_major=$major
    fi
done
[ -n "$old" ] || {
    echo "SKIPPED: there is no Java older than 25 here (Debian: openjdk-17-jre-headless), what the jars say there was not tried"
    exit 77
}

for jar in "$@"; do
    status=0
    said=$("$old" -jar "$jar" help 2>&1) || status=$?
    wanted="warmpath: needs Java 25 or newer, and this is Java $old_major ("
    lines=$(printf '%s\n' "$said" | wc -l)
    case $said in "$wanted"*) begins=yes ;; *) begins=no ;; esac
    if [ "$status" != 1 ] || [ "$lines" != 1 ] || [ "$begins" != yes ]; then
        echo "$jar on Java $old_major: status $status, and it says:"
        printf '%s\n' "$said"
        exit 1
    fi
done
# Control: without that main class the JVM says it its own way, and this test would see it.
if "$old" -cp "$1" io.quarkus.bootstrap.runner.AotQuarkusEntryPoint help 2>&1 | grep -q '^warmpath: needs Java'; then
    echo "control: any start of $1 is answered like that"
    exit 1
fi
echo "Java $old_major ($old) is refused in one sentence by $# jars"
