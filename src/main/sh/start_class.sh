#!/bin/sh
# Gives Quarkus' jar the main class that says so when the JVM is too old (io.warmpath.start.Start), and that then calls Quarkus' own.
# Called by Maven; the same jar gives the same bytes.
#
#   start_class.sh JAR_TOOL JAR DATE
set -eu

tool=$1
jar=$2
date=$3
[ -f "$jar" ] || exit 0 # a build of the native executable
manifest=$jar.manifest
trap 'rm -f "$manifest" "$manifest.log"' EXIT
printf 'Main-Class: io.warmpath.start.Start\nWarmpath-Main: io.quarkus.bootstrap.runner.AotQuarkusEntryPoint\n' >"$manifest"
# The tool warns that it replaces the main class.
"$tool" --update --file "$jar" --manifest "$manifest" --date "$date" 2>"$manifest.log" || {
    cat "$manifest.log" >&2
    exit 1
}
