package io.warmpath.tokens.jinja;

/** Python's None. */
enum None {
    NONE
}
