package io.warmpath.config.setting;

import java.math.BigDecimal;
import java.time.Duration;
import java.util.Locale;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.eclipse.microprofile.config.spi.Converter;

/**
 * Durations as operators write them: {@code 250ms}, {@code 2s}, {@code 5m}, {@code 1h}; a bare
 * number counts seconds. Fractions are allowed, to the nanosecond.
 */
public final class TimeSpan implements Converter<Duration> {
    private static final long serialVersionUID = 1L;
    private static final BigDecimal NANOS_PER_SECOND = BigDecimal.valueOf(1_000_000_000);
    private static final Pattern FORM = Pattern.compile("(\\d{1,9}(?:\\.\\d{1,9})?)(ms|s|m|h|d)?");

    /** Throws {@link IllegalArgumentException} with the allowed forms. */
    public static Duration parse(String text) {
        Matcher m = FORM.matcher(text.strip().toLowerCase(Locale.ROOT));
        if (!m.matches()) {
            throw new IllegalArgumentException(
                    "not a duration; write it like 250ms, 2s, 5m, 1h or as seconds");
        }
        Duration unit =
                switch (m.group(2)) {
                    case "ms" -> Duration.ofMillis(1);
                    case "m" -> Duration.ofMinutes(1);
                    case "h" -> Duration.ofHours(1);
                    case "d" -> Duration.ofDays(1);
                    case null, default -> Duration.ofSeconds(1);
                };
        BigDecimal nanos = new BigDecimal(m.group(1)).multiply(nanosOf(unit));
        BigDecimal[] seconds = nanos.divideAndRemainder(NANOS_PER_SECOND);
        return Duration.ofSeconds(seconds[0].longValue(), seconds[1].longValue());
    }

    private static BigDecimal nanosOf(Duration unit) {
        return BigDecimal.valueOf(unit.toNanos());
    }

    @Override
    public Duration convert(String value) {
        return parse(value);
    }
}
