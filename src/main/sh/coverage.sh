# coverage: which changed lines the tests run, with JaCoCo. Sourced by ./warmpath.
# shellcheck shell=sh

JACOCO_WANTED=0.8.14 # the first that reads class files of Java 25

# Sets jacoco_agent and jacoco_cli; fetched once, as ordinary artifacts.
need_jacoco() {
    jacoco=$root/.tools/jacoco
    jacoco_agent=$jacoco/org.jacoco.agent-$JACOCO_WANTED-runtime.jar
    jacoco_cli=$jacoco/org.jacoco.cli-$JACOCO_WANTED-nodeps.jar
    [ -f "$jacoco_agent" ] && [ -f "$jacoco_cli" ] && return 0
    say "fetching JaCoCo $JACOCO_WANTED into .tools/jacoco (log: .tools/jacoco-fetch.log)"
    mkdir -p "$jacoco"
    : >"$root/.tools/jacoco-fetch.log"
    for artifact in "org.jacoco.agent:$JACOCO_WANTED:jar:runtime" "org.jacoco.cli:$JACOCO_WANTED:jar:nodeps"; do
        # In a directory without pom.xml: the project's own build extensions have no say here.
        # shellcheck disable=SC2086 # options are words
        (cd "$jacoco" && "$MAVEN" -B -ntp $maven_opts "$DEPENDENCY_PLUGIN:copy" "-Dartifact=org.jacoco:$artifact" \
            "-DoutputDirectory=$jacoco") </dev/null >>"$root/.tools/jacoco-fetch.log" 2>&1 || {
            say "JaCoCo could not be fetched; the log is .tools/jacoco-fetch.log"
            return 1
        }
    done
}

covered_tests() {
    need_jacoco || return 1
    rm -rf "$target/coverage"
    mkdir -p "$target/coverage"
    # All JVMs of the tests write into one file; the agent locks it.
    java_tests "-DleftOut=slow | measured" \
        "-DtestAgent=-javaagent:$jacoco_agent=destfile=$target/coverage/jacoco.exec,includes=io.warmpath.*"
}

# coverage_from: the commit that lines are compared with.
coverage_from() {
    [ -z "$coverage_base" ] || { echo "$coverage_base"; return 0; }
    base=$(git -C "$root" merge-base HEAD origin/main 2>/dev/null || :)
    [ "$base" != "$(git -C "$root" rev-parse HEAD)" ] || base=
    echo "${base:-HEAD~1}"
}

changed_lines() {
    need_jacoco || return 1
    set --
    for module in core tokens adapters tools gateway; do
        set -- "$@" --classfiles "$target/$module/classes" --sourcefiles "$root/src/$module/main/java"
    done
    "$JAVA_HOME/bin/java" -jar "$jacoco_cli" report "$target/coverage/jacoco.exec" "$@" \
        --xml "$target/coverage/jacoco.xml" --quiet >"$target/coverage/report.log" 2>&1 || {
        tail -n 20 "$target/coverage/report.log" >&2
        return 1
    }
    from=$(coverage_from)
    # A file that was moved has changed where it differs.
    git -C "$root" -c diff.renameLimit=8000 diff --unified=0 --find-renames --no-color --no-ext-diff --src-prefix=a/ --dst-prefix=b/ \
        "$from" -- 'src/*/main/java/*.java' >"$target/coverage/changed.diff" ||
        { say "git knows no commit $from (WARMPATH_COVERAGE_BASE)"; return 1; }
    python3 "$root/src/test/scripts/changed_lines.py" "$target/coverage/jacoco.xml" "$target/coverage/changed.diff" "$from"
}

run_coverage() {
    need_toolchain tests
    step 'Java: the tests of check, recorded' covered_tests
    step 'changed lines' changed_lines
    summary coverage
}
