package io.warmpath.config.setting;

import java.util.List;
import java.util.Locale;
import java.util.Objects;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * One configuration key: its name, form, default and what {@link Setting} says about it. Immutable.
 *
 * @param name {@code warmpath.http.port}; {@code workers[*]} stands for every entry of the list,
 *     {@code *} for the names of a map
 * @param choices allowed words of a {@link Form#CHOICE}
 * @param defaultValue as written in configuration, null when there is none
 * @param required must be set, if inside a list then in every entry
 */
public record SettingKey(
        String name,
        Form form,
        List<String> choices,
        @Nullable String defaultValue,
        boolean required,
        SettingNotes setting) {

    /** How a value is written. */
    public enum Form {
        TEXT,
        WHOLE,
        NUMBER,
        BOOLEAN,
        DURATION,
        SIZE,
        CHOICE
    }

    /**
     * Says what is wrong with a value, or returns null when nothing is. Returns a phrase that goes
     * on after the key and value, such as {@code must be a whole number from 0 to 65535}.
     */
    public @Nullable String problem(String value) {
        return accepts(value) ? null : "must be " + allowed();
    }

    private boolean accepts(String value) {
        String v = value.strip();
        return switch (form) {
            case TEXT -> !v.isEmpty();
            case BOOLEAN -> v.equalsIgnoreCase("true") || v.equalsIgnoreCase("false");
            case CHOICE -> choices.contains(v.toLowerCase(Locale.ROOT).replace('_', '-'));
            case WHOLE -> within(v, t -> (double) Long.parseLong(t));
            case NUMBER -> within(v, Double::valueOf);
            case DURATION -> between(v, TimeSpan::parse, setting.minTime(), setting.maxTime());
            case SIZE ->
                    between(
                            v,
                            t -> ByteSize.parse(t).bytes(),
                            setting.minSize(),
                            setting.maxSize());
        };
    }

    private boolean within(String value, Function<String, Double> parse) {
        try {
            double n = parse.apply(value);
            return Double.isFinite(n) && n >= setting.min() && n <= setting.max();
        } catch (NumberFormatException e) {
            return false;
        }
    }

    private static <T extends Comparable<T>> boolean between(
            String value, Function<String, T> parse, String min, String max) {
        try {
            T v = parse.apply(value);
            return (min.isEmpty() || v.compareTo(parse.apply(min)) >= 0)
                    && (max.isEmpty() || v.compareTo(parse.apply(max)) <= 0);
        } catch (IllegalArgumentException e) {
            return false;
        }
    }

    /** What may be written, in words: {@code a whole number from 0 to 65535}. */
    public String allowed() {
        return switch (form) {
            case TEXT -> "a text that is not empty";
            case BOOLEAN -> "true or false";
            case CHOICE -> "one of " + String.join(", ", choices);
            case WHOLE -> "a whole number" + range();
            case NUMBER -> "a number" + range();
            case DURATION ->
                    "a duration such as 250ms, 2s or 5m"
                            + range(
                                    setting.minTime().equals("0ms") ? "" : setting.minTime(),
                                    setting.maxTime());
            case SIZE -> "a size such as 64K or 64M" + range(setting.minSize(), setting.maxSize());
        };
    }

    private String range() {
        return range(bound(setting.min()), bound(setting.max()));
    }

    private static String range(String min, String max) {
        if (min.isEmpty()) {
            return max.isEmpty() ? "" : " up to " + max;
        }
        return max.isEmpty() ? " from " + min : " from " + min + " to " + max;
    }

    private static String bound(double n) {
        if (Double.isInfinite(n)) {
            return "";
        }
        return n == Math.rint(n) ? Long.toString((long) n) : Double.toString(n);
    }

    /** Unit or form for tables: the one given, else what the form implies. */
    public String unit() {
        return switch (form) {
            case TEXT, WHOLE, NUMBER -> setting.unit();
            case BOOLEAN -> "true|false";
            case CHOICE -> String.join("|", choices);
            case DURATION -> "duration";
            case SIZE -> "bytes";
        };
    }

    /** Environment name of a plain key, by the rule of MicroProfile Config. */
    public String environmentName() {
        return name.replaceAll("[^A-Za-z0-9]", "_").toUpperCase(Locale.ROOT);
    }

    /** A key inside a list or map has no one environment name or flag of its own. */
    public boolean isPlain() {
        return !name.contains("*");
    }

    /** What holds when nobody sets it, for people; empty when that is nothing. */
    public String shownDefault() {
        return Objects.requireNonNullElse(defaultValue, setting.unset());
    }
}
