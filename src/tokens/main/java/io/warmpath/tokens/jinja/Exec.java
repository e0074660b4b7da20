package io.warmpath.tokens.jinja;

/** A statement, ready to be run. Immutable. */
@FunctionalInterface
interface Exec {
    /** How a statement ended. */
    enum End {
        NORMAL,
        BREAK,
        CONTINUE
    }

    End exec(Activation a, StringBuilder out);

    static Exec all(Exec[] parts) {
        if (parts.length == 1) {
            return parts[0];
        }
        return (a, out) -> {
            for (Exec part : parts) {
                End end = part.exec(a, out);
                if (end != End.NORMAL) {
                    return end;
                }
            }
            return End.NORMAL;
        };
    }
}
