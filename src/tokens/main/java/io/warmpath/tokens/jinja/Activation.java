package io.warmpath.tokens.jinja;

import org.jspecify.annotations.Nullable;

/** The variables of the template's body, or of one call of a macro. */
final class Activation {
    /** Null: not set. */
    final @Nullable Object[] slots;

    /** Where the macro stands; for the body of the template it is itself. */
    final Activation outer;

    final Run run;

    Activation(int slots, @Nullable Activation outer, Run run) {
        this.slots = new @Nullable Object[slots];
        this.outer = outer == null ? this : outer;
        this.run = run;
    }

    Activation out(int levels) {
        Activation a = this;
        for (int i = 0; i < levels; i++) {
            a = a.outer;
        }
        return a;
    }
}
