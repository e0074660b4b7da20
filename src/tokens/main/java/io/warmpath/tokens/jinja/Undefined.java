package io.warmpath.tokens.jinja;

import org.jspecify.annotations.Nullable;

/**
 * What a template gets for a name, key or attribute that is not there: empty as text, false, an
 * empty sequence; everything else done with it fails with a message that names it.
 */
final class Undefined {
    private final @Nullable String hint;
    private final @Nullable Object of;
    private final Object name;

    private Undefined(@Nullable String hint, @Nullable Object of, Object name) {
        this.hint = hint;
        this.of = of;
        this.name = name;
    }

    static Undefined variable(String name) {
        return new Undefined(null, null, name);
    }

    static Undefined member(Object of, Object name) {
        return new Undefined(null, of, name);
    }

    static Undefined because(String hint) {
        return new Undefined(hint, null, "");
    }

    /** An attribute that the sandbox hides. */
    static Undefined unsafe(Object of, String name) {
        return because(
                "access to attribute %s of '%s' object is unsafe."
                        .formatted(Repr.of(name), Values.typeName(of)));
    }

    String message() {
        if (hint != null) {
            return hint;
        }
        if (of == null) {
            return Repr.of(name) + " is undefined";
        }
        String what = of == None.NONE ? "None" : Values.typeName(of) + " object";
        return name instanceof String
                ? "'" + what + "' has no attribute " + Repr.of(name)
                : what + " has no element " + Repr.of(name);
    }

    TemplateException fails() {
        return TemplateException.failed(message());
    }
}
