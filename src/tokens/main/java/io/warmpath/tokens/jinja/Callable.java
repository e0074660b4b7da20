package io.warmpath.tokens.jinja;

/** Something that a template can call. */
interface Callable {
    Object call(Run run, Arguments args);

    /** For messages and {@code repr}. */
    String name();
}
