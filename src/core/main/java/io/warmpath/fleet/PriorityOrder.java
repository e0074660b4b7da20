package io.warmpath.fleet;

import java.util.Locale;
import java.util.OptionalInt;

/** What an engine makes of the {@code priority} of a request. */
public enum PriorityOrder {
    /** It refuses it, ignores it, or has not said: none is sent. */
    NOT_TAKEN,
    /** As ours: more important when higher. */
    HIGHER_FIRST,
    /** More important when lower. */
    LOWER_FIRST;

    /**
     * The value that this engine has to get; empty when it is to get none.
     *
     * @param priority more important when higher
     */
    public OptionalInt of(int priority) {
        return switch (this) {
            case NOT_TAKEN -> OptionalInt.empty();
            case HIGHER_FIRST -> OptionalInt.of(priority);
            // The lowest of all has no opposite.
            case LOWER_FIRST -> OptionalInt.of(-Math.max(priority, -Integer.MAX_VALUE));
        };
    }

    /** {@code not-taken}, {@code higher-first} or {@code lower-first}. */
    public String word() {
        return name().toLowerCase(Locale.ROOT).replace('_', '-');
    }

    /** Throws {@link IllegalArgumentException} with a sentence for the operator. */
    public static PriorityOrder parse(String word) {
        for (PriorityOrder o : values()) {
            if (o.word().equals(word)) {
                return o;
            }
        }
        throw new IllegalArgumentException(
                "priority `" + word + "` must be higher-first, lower-first or not-taken");
    }
}
