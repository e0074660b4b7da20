package io.warmpath.plot;

import java.util.Formatter;
import java.util.Locale;

/** Text that is the same whatever language the machine speaks. Stateless. */
public final class Plain {
    private Plain() {}

    /** As {@link String#format}, with a full stop before decimals. */
    @SuppressWarnings("AnnotateFormatMethod") // its annotation is in no library of ours
    public static String plain(String format, Object... values) {
        return new Formatter(Locale.ROOT).format(format, values).toString();
    }
}
