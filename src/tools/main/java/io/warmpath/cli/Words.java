package io.warmpath.cli;

import com.fasterxml.jackson.databind.JsonNode;
import java.time.Duration;
import java.time.Instant;
import java.time.ZoneOffset;
import java.time.format.DateTimeFormatter;
import java.time.format.DateTimeParseException;
import java.time.temporal.ChronoUnit;
import java.util.Locale;

/** Values of the gateway's JSON as people read them; what is absent is a dash. Stateless. */
final class Words {
    static final String NONE = "-";

    private static final DateTimeFormatter TIME_OF_DAY =
            DateTimeFormatter.ofPattern("HH:mm:ss", Locale.ROOT).withZone(ZoneOffset.UTC);
    private static final double THOUSAND = 1e3;
    private static final double MILLION = 1e6;
    private static final double BILLION = 1e9;

    private Words() {}

    /** Without what would move the cursor, or anything else that is no text. */
    static String clean(String text) {
        StringBuilder clean = new StringBuilder(text.length());
        text.codePoints()
                .forEach(
                        c ->
                                clean.appendCodePoint(
                                        Character.isISOControl(c)
                                                        || Character.getType(c) == Character.FORMAT
                                                        || Character.getType(c)
                                                                == Character.SURROGATE
                                                ? '?'
                                                : c));
        return clean.toString();
    }

    static String text(JsonNode value) {
        return value.isMissingNode() || value.isNull() || value.asText().isEmpty()
                ? NONE
                : clean(value.asText());
    }

    /** 1,204; 120k; 3.4M. */
    static String count(JsonNode value) {
        return value.isNumber() ? count(value.asDouble()) : NONE;
    }

    static String count(double n) {
        double size = Math.abs(n);
        if (size < 100 * THOUSAND) {
            return String.format(Locale.ROOT, "%,d", Math.round(n));
        }
        return size < 10 * MILLION
                ? String.format(Locale.ROOT, "%,.0fk", n / THOUSAND)
                : size < 10 * BILLION
                        ? String.format(Locale.ROOT, "%,.1fM", n / MILLION)
                        : String.format(Locale.ROOT, "%,.1fG", n / BILLION);
    }

    /** A share from 0 to 1 as 71.2 %. */
    static String percent(JsonNode share) {
        return share.isNumber() ? percent(share.asDouble()) : NONE;
    }

    static String percent(double share) {
        return Double.isFinite(share) ? String.format(Locale.ROOT, "%.1f %%", share * 100) : NONE;
    }

    /** Milliseconds as 3.2 ms, 41 ms, 12.5 s. */
    static String millis(JsonNode value) {
        if (!value.isNumber()) {
            return NONE;
        }
        double ms = value.asDouble();
        return ms < 10
                ? String.format(Locale.ROOT, "%.1f ms", ms)
                : ms < 10 * THOUSAND
                        ? String.format(Locale.ROOT, "%,.0f ms", ms)
                        : String.format(Locale.ROOT, "%,.1f s", ms / THOUSAND);
    }

    /** With two places behind the point at most. */
    static String number(JsonNode value) {
        return value.isNumber() ? number(value.asDouble()) : NONE;
    }

    static String number(double n) {
        double rounded = Math.rint(n * 100) / 100;
        return rounded == Math.rint(rounded)
                ? String.format(Locale.ROOT, "%,d", (long) rounded)
                : String.format(Locale.ROOT, "%,.2f", rounded);
    }

    /** With a sign. */
    static String difference(double n) {
        return (n > 0 ? "+" : "") + number(n);
    }

    /** 2026-11-24T18:02:31Z. */
    static String time(JsonNode time) {
        try {
            return Instant.parse(time.asText()).truncatedTo(ChronoUnit.SECONDS).toString();
        } catch (DateTimeParseException e) {
            return NONE;
        }
    }

    /** 18:02:31, in UTC as all times of the gateway. */
    static String timeOfDay(JsonNode time) {
        try {
            return TIME_OF_DAY.format(Instant.parse(time.asText()));
        } catch (DateTimeParseException e) {
            return NONE;
        }
    }

    static String timeOfDay(Instant time) {
        return TIME_OF_DAY.format(time);
    }

    /** With one place behind the point. */
    static String rate(JsonNode value) {
        return value.isNumber() ? String.format(Locale.ROOT, "%,.1f", value.asDouble()) : NONE;
    }

    /** Milliseconds as {@link #duration(Duration)}. */
    static String duration(JsonNode millis) {
        return millis.isNumber() ? duration(Duration.ofMillis(millis.asLong())) : NONE;
    }

    /** 3 d 4 h, 2 h 13 min, 5 min, 12 s. */
    static String duration(Duration d) {
        return d.toDays() > 0
                ? d.toDays() + " d " + d.toHoursPart() + " h"
                : d.toHours() > 0
                        ? d.toHours() + " h " + d.toMinutesPart() + " min"
                        : d.toMinutes() > 0
                                ? d.toMinutes() + " min"
                                : Math.max(0, d.toSeconds()) + " s";
    }

    /** The time since then. */
    static String since(JsonNode time, Instant now) {
        try {
            return duration(Duration.between(Instant.parse(time.asText()), now));
        } catch (DateTimeParseException e) {
            return NONE;
        }
    }
}
