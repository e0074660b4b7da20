package io.warmpath.config.setting;

import java.util.Locale;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.eclipse.microprofile.config.spi.Converter;

/** A number of bytes, written {@code 65536}, {@code 64K}, {@code 64M} or {@code 1G}. */
public record ByteSize(long bytes) {
    private static final Pattern FORM = Pattern.compile("(\\d{1,15})([BKMGT]?)");

    /** Throws {@link IllegalArgumentException} with the allowed forms. */
    public static ByteSize parse(String text) {
        Matcher m = FORM.matcher(text.strip().toUpperCase(Locale.ROOT));
        if (!m.matches()) {
            throw new IllegalArgumentException("not a size; write it like 65536, 64K, 64M or 1G");
        }
        int shift =
                switch (m.group(2)) {
                    case "K" -> 10;
                    case "M" -> 20;
                    case "G" -> 30;
                    case "T" -> 40;
                    default -> 0;
                };
        long number = Long.parseLong(m.group(1));
        if (number > Long.MAX_VALUE >> shift) {
            throw new IllegalArgumentException("too large for a size");
        }
        return new ByteSize(number << shift);
    }

    /** For SmallRye Config. */
    public static final class Reader implements Converter<ByteSize> {
        private static final long serialVersionUID = 1L;

        @Override
        public ByteSize convert(String value) {
            return parse(value);
        }
    }
}
