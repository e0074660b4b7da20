# docs: the documentation site, and what looks at it. Sourced by ./warmpath.
# shellcheck shell=sh

MERMAID_WANTED=mermaid@12.3.0
site_from=$root/src/main/site
docs_venv=$root/.tools/docs/venv

# Zensical and codespell in .tools/docs/venv. Status 77 where they cannot be had.
docs_tools() {
    cmp -s "$site_from/requirements.txt" "$docs_venv/requirements.txt" && return 0
    docs_log=$root/target/docs-install.log
    mkdir -p "$root/target" "$root/.tools/docs"
    say "installing $(tr '\n' ' ' <"$site_from/requirements.txt")into .tools/docs (log: target/docs-install.log)"
    rm -rf "$docs_venv"
    if python3 -m venv "$docs_venv" >"$docs_log" 2>&1 &&
        "$docs_venv/bin/pip" install --quiet --disable-pip-version-check -r "$site_from/requirements.txt" >>"$docs_log" 2>&1 &&
        "$docs_venv/bin/zensical" --version >>"$docs_log" 2>&1; then
        cp "$site_from/requirements.txt" "$docs_venv/requirements.txt"
    else
        say "NO DOCUMENTATION SITE: the generator cannot be installed here (log: target/docs-install.log)"
        return 77
    fi
}

# What draws diagrams in the browser, in .tools/docs/mermaid. Without npm they stay text, which is told.
docs_diagrams() {
    mermaid=$root/.tools/docs/mermaid/dist/mermaid.min.js
    [ "$(cat "$root/.tools/docs/mermaid/installed" 2>/dev/null)" = "$MERMAID_WANTED" ] && return 0
    rm -rf "$root/.tools/docs/mermaid"
    mkdir -p "$root/.tools/docs/mermaid" "$root/target"
    if (cd "$root/.tools/docs/mermaid" && npm pack --silent "$MERMAID_WANTED" && tar -xzf mermaid-*.tgz --strip-components=1 package/dist/mermaid.min.js package/LICENSE && rm -f mermaid-*.tgz) \
        >"$root/target/docs-diagrams.log" 2>&1 </dev/null; then
        echo "$MERMAID_WANTED" >"$root/.tools/docs/mermaid/installed"
    else
        say "NO DIAGRAMS: $MERMAID_WANTED cannot be had through npm (log: target/docs-diagrams.log); they are shown as text"
        mermaid=
    fi
}

# build_docs [ARGUMENTS OF build.py]
build_docs() {
    docs_tools || return
    docs_diagrams
    python3 -B "$site_from/build.py" "$root" --zensical "$docs_venv/bin/zensical" --version "$(project_version)" --commit "$(source_commit)" \
        ${mermaid:+--mermaid "$mermaid"} "$@"
}

# The site is built, and its links, anchors, pictures and menu are right; the words of the pages are spelt as they should.
check_docs() {
    build_docs || return
    python3 -B "$site_from/check.py" "$target/site" && check_spelling
}

check_spelling() {
    if echo 'teh wrod' | "$docs_venv/bin/codespell" - >/dev/null; then
        say "codespell finds nothing in words that are wrong: spelling is not checked"
        return 1
    fi
    (cd "$root" && find README.md CHANGELOG.md .github k8s native-core src src-cpp -name '*.md' -exec "$docs_venv/bin/codespell" --ignore-words "$site_from/words.txt" {} +)
}

# site_test: the site in a real browser; screenshots are in target/site-shots.
site_test() {
    browser_for_tests && build_docs || return
    site_venv=$(sh "$root/src/test/e2e/venv.sh" console) || return 1
    "$site_venv/bin/python" -B "$root/src/test/site/shots.py" "$target/site" "$target/site-shots"
}

run_docs() {
    docs_status=0
    case ${1-} in
        '') build_docs || docs_status=$? ;;
        --check) check_docs || docs_status=$? ;;
        --serve)
            case ${2-8001} in
                '' | *[!0-9]*) die 2 "--serve takes a port, not '$2'" ;;
            esac
            build_docs --serve "${2-8001}" || docs_status=$?
            ;;
        *) die 2 "docs does not know '$1'; ./warmpath help docs explains it" ;;
    esac
    [ "$docs_status" = 0 ] || exit 1
}
