package io.warmpath.config;

import java.time.Duration;
import java.util.Locale;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.eclipse.microprofile.config.spi.Converter;

/**
 * Durations as operators write them: {@code 250ms}, {@code 2s}, {@code 5m}, {@code 1h}; a bare
 * number counts seconds.
 */
public final class TimeSpan implements Converter<Duration> {
    private static final long serialVersionUID = 1L;
    private static final Pattern FORM = Pattern.compile("(\\d{1,9})(ms|s|m|h|d)?");

    /**
     * @throws IllegalArgumentException with the allowed forms
     */
    public static Duration parse(String text) {
        Matcher m = FORM.matcher(text.strip().toLowerCase(Locale.ROOT));
        if (!m.matches()) {
            throw new IllegalArgumentException(
                    "not a duration; write it like 250ms, 2s, 5m, 1h or as whole seconds");
        }
        long n = Long.parseLong(m.group(1));
        return switch (m.group(2)) {
            case "ms" -> Duration.ofMillis(n);
            case "m" -> Duration.ofMinutes(n);
            case "h" -> Duration.ofHours(n);
            case "d" -> Duration.ofDays(n);
            case null, default -> Duration.ofSeconds(n);
        };
    }

    @Override
    public Duration convert(String value) {
        return parse(value);
    }
}
