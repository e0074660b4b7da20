# The lists of what the product is made of (CycloneDX). Sourced by ./warmpath.
# shellcheck shell=sh

sbom_dir=$root/target/sbom

# What Maven resolves, with hashes and licences, and beside it what Maven does not know: the sources of the native library. The goal is one of
# the plugin that packs the gateway, so nothing more is downloaded; it packs the gateway too.
make_sbom() {
    need_toolchain
    mkdir -p "$sbom_dir"
    say "writing target/sbom (log: target/warmpath-sbom.log)"
    # shellcheck disable=SC2086 # options are words
    (cd "$root" && "$MAVEN" -B -Dstyle.color=never $maven_opts package -Dmaven.test.skip=true -Psbom \
        -Dquarkus.dependency.sbom.output-file="$sbom_dir/java.cdx.json" -Dquarkus.dependency.sbom.runtime-only=true \
        -Dquarkus.dependency.sbom.schema-version=1.6 -Dquarkus.dependency.sbom.pretty-print=true) \
        </dev/null >"$target/warmpath-sbom.log" 2>&1 || {
        tail -n 20 "$target/warmpath-sbom.log" >&2
        die 1 "Maven could not list the dependencies"
    }
    cp "$root/src/main/sbom/native.cdx.json" "$sbom_dir/native.cdx.json" || die 1 "the list of the native library is missing"
    say "wrote target/sbom/java.cdx.json and native.cdx.json"
}
