package io.warmpath.tokens.jinja;

/** Jinja's namespace: the only value whose attributes a template can set. */
record Namespace(PyDict attributes) {}
