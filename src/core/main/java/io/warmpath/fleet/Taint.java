package io.warmpath.fleet;

import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * What sets a worker apart: {@code name}, {@code name=value}, either with {@code :NoSchedule} or
 * {@code :PreferNoSchedule} behind it. Immutable. {@code value}: empty when there is none.
 */
public record Taint(String name, String value, Effect effect) {

    /** What it does to requests that say nothing of it. */
    public enum Effect {
        /** Nothing: a mark that requests may ask for. */
        NONE(""),
        /** They go there when the others are that much dearer, or not there. */
        PREFER_NO_SCHEDULE(":PreferNoSchedule"),
        /** They never go there. */
        NO_SCHEDULE(":NoSchedule");

        private final String suffix;

        Effect(String suffix) {
            this.suffix = suffix;
        }
    }

    private static final String WORD = "[A-Za-z0-9](?:[A-Za-z0-9._/-]{0,251}[A-Za-z0-9])?";
    private static final Pattern FORM =
            Pattern.compile("(" + WORD + ")(?:=(" + WORD + "))?(?::([A-Za-z]+))?");

    /** Throws {@link IllegalArgumentException} with a sentence for the operator. */
    public static Taint parse(String text) {
        Matcher m = FORM.matcher(text.strip());
        if (m.matches()) {
            String suffix = m.group(3) == null ? "" : ":" + m.group(3);
            for (Effect effect : Effect.values()) {
                if (effect.suffix.equals(suffix)) {
                    return new Taint(m.group(1), m.group(2) == null ? "" : m.group(2), effect);
                }
            }
        }
        throw new IllegalArgumentException(
                "taint `"
                        + text
                        + "` must look like name, name=value, name:NoSchedule or"
                        + " name=value:PreferNoSchedule");
    }

    @Override
    public String toString() {
        return name + (value.isEmpty() ? "" : "=" + value) + effect.suffix;
    }
}
