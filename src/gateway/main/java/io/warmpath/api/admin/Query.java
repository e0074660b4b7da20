package io.warmpath.api.admin;

import io.warmpath.api.error.InvalidRequest;
import io.warmpath.fault.GatewayException;
import jakarta.ws.rs.core.UriInfo;
import java.time.DateTimeException;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * The parameters in a request's query, none of which is unknown or given twice. An empty one counts
 * as one that is not there. Immutable.
 */
final class Query {
    /** So many seconds, minutes, hours or days back. */
    private static final Pattern BACK = Pattern.compile("(\\d{1,9})(s|m|h|d)?");

    private final Map<String, List<String>> given;

    /**
     * @param known names, as they are listed where another one is given
     * @throws GatewayException that names the parameter
     */
    Query(UriInfo uri, List<String> known) {
        given = uri.getQueryParameters();
        given.forEach(
                (name, values) -> {
                    if (!known.contains(name)) {
                        throw InvalidRequest.bad(
                                name,
                                "`%s` is no parameter here; there are %s."
                                        .formatted(name, String.join(", ", known)));
                    }
                    if (values.size() > 1) {
                        throw InvalidRequest.bad(name, "`" + name + "` is given twice.");
                    }
                });
    }

    /** Null: it is not there. */
    @Nullable String text(String name) {
        List<String> values = given.get(name);
        return values == null || values.isEmpty() || values.getFirst().isEmpty()
                ? null
                : values.getFirst();
    }

    boolean flag(String name, boolean otherwise) {
        String value = text(name);
        if (value == null) {
            return otherwise;
        }
        return switch (value) {
            case "true" -> true;
            case "false" -> false;
            default -> throw InvalidRequest.bad(name, "`" + name + "` must be true or false.");
        };
    }

    /** From 0 on; null: it is not there. */
    @Nullable Long number(String name) {
        String value = text(name);
        try {
            long number = value == null ? 0 : Long.parseLong(value);
            if (number >= 0) {
                return value == null ? null : number;
            }
        } catch (NumberFormatException e) {
            // said below
        }
        throw InvalidRequest.bad(name, "`" + name + "` must be a whole number of 0 or more.");
    }

    /** One of an enum's constants, in lower case; null: it is not there. */
    <E extends Enum<E>> @Nullable E choice(String name, Class<E> type) {
        String value = text(name);
        if (value == null) {
            return null;
        }
        StringBuilder all = new StringBuilder();
        for (E one : type.getEnumConstants()) {
            String word = one.name().toLowerCase(Locale.ROOT);
            if (word.equals(value)) {
                return one;
            }
            all.append(all.isEmpty() ? "" : ", ").append(word);
        }
        throw InvalidRequest.bad(name, "`" + name + "` must be one of " + all + ".");
    }

    /**
     * A moment: in ISO 8601, or as so long ago ({@code 300}, {@code 300s}, {@code 5m}).
     *
     * @return null: it is not there
     */
    @Nullable Instant since(String name, Instant now) {
        String value = text(name);
        if (value == null) {
            return null;
        }
        try {
            Matcher back = BACK.matcher(value);
            if (!back.matches()) {
                return Instant.parse(value);
            }
            long count = Long.parseLong(back.group(1));
            String unit = back.group(2);
            return now.minus(
                    switch (unit == null ? "s" : unit) {
                        case "m" -> Duration.ofMinutes(count);
                        case "h" -> Duration.ofHours(count);
                        case "d" -> Duration.ofDays(count);
                        default -> Duration.ofSeconds(count);
                    });
        } catch (DateTimeException e) {
            throw InvalidRequest.bad(
                    name,
                    "`"
                            + name
                            + "` must be a time such as 2026-01-31T12:00:00Z, or how long ago, such"
                            + " as 300s, 5m or 2h.");
        }
    }
}
