package io.warmpath.tokens.jinja;

/**
 * Where the compiler stands.
 *
 * @param soft inside an {@code if}: unknown filters fail when they are reached, not at load
 * @param inLoop break and continue have a loop to act on
 */
record Scope(Symbols symbols, boolean soft, boolean inLoop) {
    Scope softer() {
        return new Scope(symbols, true, inLoop);
    }

    Scope inner(Symbols inner) {
        return new Scope(inner, false, inLoop);
    }
}
