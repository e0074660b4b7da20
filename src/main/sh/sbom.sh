# The lists of what the product is made of (CycloneDX), and their audit. Sourced by ./warmpath.
# shellcheck shell=sh

sbom_dir=$root/target/sbom

sbom_maven() {
    # shellcheck disable=SC2086 # options are words
    (cd "$root" && "$MAVEN" -B -Dstyle.color=never $maven_opts "$@") </dev/null >>"$target/warmpath-sbom.log" 2>&1
}

# What Maven resolves, with hashes and licences, and beside it what Maven does not know: the sources of the native library, and
# what the console loads. The goal is one of
# the plugin that packs the gateway, so next to nothing more is downloaded. It takes our own modules from Maven's local repository only: they
# are put there for it and taken away again, so that no build finds old ones there.
make_sbom() {
    need_toolchain
    mkdir -p "$sbom_dir"
    say "writing target/sbom (log: target/warmpath-sbom.log)"
    : >"$target/warmpath-sbom.log"
    take_lock
    listed=0
    { sbom_maven install -Dmaven.test.skip=true -pl '!src/gateway' &&
        sbom_maven quarkus:dependency-sbom -pl src/gateway \
            -Dquarkus.dependency.sbom.output-file="$sbom_dir/java.cdx.json" -Dquarkus.dependency.sbom.runtime-only=true \
            -Dquarkus.dependency.sbom.schema-version=1.6 -Dquarkus.dependency.sbom.pretty-print=true; } || listed=1
    sed -n 's|^\[INFO\] Installing .* to \(.*/io/warmpath/[^/]*/[^/]*\)/[^/]*$|\1|p' "$target/warmpath-sbom.log" | sort -u |
        while IFS= read -r installed; do rm -rf "$installed"; done
    free_lock
    [ "$listed" = 0 ] || {
        tail -n 20 "$target/warmpath-sbom.log" >&2
        die 1 "Maven could not list the dependencies"
    }
    cp "$root/src/main/sbom/native.cdx.json" "$root/src/main/sbom/console.cdx.json" "$sbom_dir" || die 1 "the list of the native library or of the console is missing"
    input_stamp >"$target/warmpath-sbom.stamp"
    say "wrote target/sbom/java.cdx.json, native.cdx.json and console.cdx.json"
}

# need_sbom: the lists are those of this source.
need_sbom() {
    [ "$(cat "$target/warmpath-sbom.stamp" 2>/dev/null)" = "$(input_stamp)" ] || make_sbom
}

# audit ARGUMENTS...: against the lists of this source where none are named.
run_audit() {
    case " $* " in
        *' --sbom '* | *' --help '* | *' -h '*) ;;
        *' --osv '*)
            need_sbom
            set -- "$@" --sbom "$sbom_dir/java.cdx.json" --sbom "$sbom_dir/native.cdx.json" --sbom "$sbom_dir/console.cdx.json"
            ;;
    esac
    run_program audit "$@"
}
