# release VERSION: version, changelog, checks, archives and a tag, all of it in a clone below target/release; this checkout gets the commit
# and the tag only with --really. Nothing is pushed or published. Sourced by ./warmpath.
# shellcheck shell=sh

# Every file that says which version this is, and as what is made of them.
release_files='pom.xml src/core/pom.xml src/tokens/pom.xml src/adapters/pom.xml src/tools/pom.xml src/gateway/pom.xml
src/gateway/main/java/io/warmpath/wiring/Main.java src/gateway/main/resources/META-INF/openapi.yaml native-core/CMakeLists.txt
src/clients/python/pyproject.toml src/clients/publisher/pyproject.toml
src/examples/compose/compose.yaml src/examples/compose/README.md
k8s/helm/warmpath/Chart.yaml k8s/helm/warmpath/README.md k8s/README.md k8s/base/deployment.yaml k8s/components/relay/relay.yaml
Dockerfile.native README.md'

# Other programs' versions that may look like ours, and texts about the past: these may say the old one after a release.
release_exempt='^(CHANGELOG\.md|src/perf/|src/test/|src/[a-z]*/test/|src/docs/.*\.svg|k8s/helm/warmpath/README\.md)'

# release_edit CLONE FROM TO DAY: sets the version and closes the changelog's section, in that clone.
release_edit() {
    old=$(printf '%s' "$2" | sed 's/\./\\./g')
    for file in $release_files; do
        grep -q "$old" "$1/$file" || { say "$file does not say $2: release.sh names it in vain"; return 1; }
        # The version as a whole, not a part of a longer number; a full stop may follow.
        sed "s/\(^\|[^0-9.]\)$old\($\|[^0-9.]\|\.\($\|[^0-9]\)\)/\1$3\2/g" "$1/$file" >"$1/$file.new" && cat "$1/$file.new" >"$1/$file" && rm "$1/$file.new" || return 1
    done
    left=$(git -C "$1" grep -lwF "$2" | grep -Ev "$release_exempt" || :)
    if [ "$2" != "$3" ] && [ -n "$left" ]; then
        say "these still say $2; name them in release.sh:" $left
        return 1
    fi
    # The section of what was not released becomes that of the version, and an empty one stands above it.
    sed "s/^## Unreleased\$/## Unreleased\\
\\
## $3 - $4/" "$1/CHANGELOG.md" >"$1/CHANGELOG.md.new" && mv "$1/CHANGELOG.md.new" "$1/CHANGELOG.md"
}

# The lines of CHANGELOG.md below "Unreleased" and above the next version.
unreleased_changes() {
    sed -n '/^## Unreleased$/,/^## [0-9]/p' "$root/CHANGELOG.md" | grep -c '^- ' || :
}

run_release() {
    version=
    really=
    checks=test
    while [ $# -gt 0 ]; do
        case $1 in
            --really) really=yes ;;
            --checks)
                checks=${2-}
                case $checks in none | check | test | verify) ;; *) die 2 "--checks takes none, check, test or verify, not '$checks'" ;; esac
                shift
                ;;
            -*) die 2 "release does not know '$1'; ./warmpath help release explains it" ;;
            *) [ -z "$version" ] || die 2 "release takes one version; got '$version' and '$1'"; version=$1 ;;
        esac
        shift
    done
    printf '%s\n' "$version" | grep -Eq '^(0|[1-9][0-9]*)\.(0|[1-9][0-9]*)\.(0|[1-9][0-9]*)$' ||
        die 2 "release takes a version such as 0.2.0, not '$version'"
    from=$(project_version)
    version_at_least "$version" "$from" || die 2 "$version is older than $from, which this is"
    git -C "$root" rev-parse -q --verify HEAD >/dev/null 2>&1 || die 1 "this is no clone of a repository: there is nothing to tag"
    ! git -C "$root" rev-parse -q --verify "refs/tags/v$version" >/dev/null || die 1 "there is a tag v$version already"
    [ -z "$(git -C "$root" status --porcelain)" ] || die 1 "there are changes that are not committed; git status lists them"
    [ "$(unreleased_changes)" -gt 0 ] || die 1 'CHANGELOG.md has no changes under "## Unreleased": there is nothing to release'

    clone=$target/release/$version
    rm -rf "$clone"
    mkdir -p "${clone%/*}"
    git clone -q "$root" "$clone" && git -C "$clone" checkout -q --detach "$(git -C "$root" rev-parse HEAD)" || die 1 "the clone failed"
    [ ! -d "$root/.tools" ] || ln -s "$root/.tools" "$clone/.tools"
    step "release: version $version, changelog" release_commit
    [ "$failed" -gt 0 ] || [ "$checks" = none ] || step "release: $checks" "$clone/warmpath" "$checks"
    [ "$failed" -gt 0 ] || step 'release: archives' "$clone/warmpath" dist
    [ "$failed" -gt 0 ] || step 'release: archives, checked' "$clone/warmpath" dist --check
    [ "$failed" -gt 0 ] || step "release: tag v$version" git -C "$clone" -c tag.gpgSign=false tag -a "v$version" -m "Warmpath $version"
    if [ "$failed" = 0 ]; then
        git -C "$clone" show --stat --format='%h %s' HEAD >&2
        if [ -n "$really" ]; then
            step "release: commit and tag come here" release_take
        else
            say "DRY: this checkout is as it was. The commit, the tag and target/dist lie in ${clone#"$root/"}; --really takes commit and tag over"
        fi
    fi
    summary release
}

release_commit() {
    release_edit "$clone" "$from" "$version" "$(date -u +%Y-%m-%d)" &&
        git -C "$clone" add -A &&
        git -C "$clone" commit -q -m "Release $version"
}

# The checkout had no changes; the branch moves on by one commit.
release_take() {
    git -C "$root" fetch -q "$clone" "refs/tags/v$version:refs/tags/v$version" &&
        git -C "$root" merge -q --ff-only "v$version" &&
        say "v$version is tagged here. Publish it: git push --follow-tags, and the files of ${clone#"$root/"}/target/dist"
}
