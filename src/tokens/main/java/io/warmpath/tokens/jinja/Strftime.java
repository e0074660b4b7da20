package io.warmpath.tokens.jinja;

import java.time.ZonedDateTime;
import java.time.temporal.ChronoUnit;
import java.time.temporal.IsoFields;
import java.util.Locale;

/** Python's strftime of a time without zone, in the C locale. */
final class Strftime {
    private static final String[] DAYS = {
        "Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday"
    };
    private static final String[] MONTHS = {
        "January",
        "February",
        "March",
        "April",
        "May",
        "June",
        "July",
        "August",
        "September",
        "October",
        "November",
        "December"
    };

    private Strftime() {}

    static String format(ZonedDateTime t, String format) {
        StringBuilder out = new StringBuilder();
        for (int i = 0; i < format.length(); i++) {
            char c = format.charAt(i);
            if (c != '%') {
                out.append(c);
                continue;
            }
            boolean bare = i + 1 < format.length() && format.charAt(i + 1) == '-';
            i += bare ? 2 : 1;
            if (i >= format.length()) {
                throw TemplateException.unsupported("a lone % at the end of a time format");
            }
            directive(t, format.charAt(i), bare, out);
        }
        return out.toString();
    }

    private static void directive(ZonedDateTime t, char c, boolean bare, StringBuilder out) {
        int hour12 = (t.getHour() + 11) % 12 + 1;
        switch (c) {
            case 'Y' -> out.append(t.getYear());
            case 'm' -> number(t.getMonthValue(), 2, bare, out);
            case 'd' -> number(t.getDayOfMonth(), 2, bare, out);
            case 'H' -> number(t.getHour(), 2, bare, out);
            case 'I' -> number(hour12, 2, bare, out);
            case 'M' -> number(t.getMinute(), 2, bare, out);
            case 'S' -> number(t.getSecond(), 2, bare, out);
            case 'j' -> number(t.getDayOfYear(), 3, bare, out);
            case 'y' -> number(t.getYear() % 100, 2, bare, out);
            case 'V' -> number(t.get(IsoFields.WEEK_OF_WEEK_BASED_YEAR), 2, bare, out);
            default -> {
                if (bare) {
                    throw TemplateException.unsupported("%-" + c + " in a time format");
                }
                word(t, c, out);
            }
        }
    }

    private static void word(ZonedDateTime t, char c, StringBuilder out) {
        String day = DAYS[t.getDayOfWeek().getValue() - 1];
        String month = MONTHS[t.getMonthValue() - 1];
        switch (c) {
            case 'A' -> out.append(day);
            case 'a' -> out.append(day, 0, 3);
            case 'B' -> out.append(month);
            case 'b', 'h' -> out.append(month, 0, 3);
            case 'p' -> out.append(t.getHour() < 12 ? "AM" : "PM");
            case 'e' -> out.append(String.format(Locale.ROOT, "%2d", t.getDayOfMonth()));
            case 'f' ->
                    out.append(
                            String.format(
                                    Locale.ROOT,
                                    "%06d",
                                    t.truncatedTo(ChronoUnit.MICROS).getNano() / 1000));
            case 'u' -> out.append(t.getDayOfWeek().getValue());
            case 'w' -> out.append(t.getDayOfWeek().getValue() % 7);
            case 'F' -> out.append(format(t, "%Y-%m-%d"));
            case 'T', 'X' -> out.append(format(t, "%H:%M:%S"));
            case 'D', 'x' -> out.append(format(t, "%m/%d/%y"));
            case 'R' -> out.append(format(t, "%H:%M"));
            case 'c' -> out.append(format(t, "%a %b %e %H:%M:%S %Y"));
            case 'Z', 'z' -> {} // the time has no zone
            case 'n' -> out.append('\n');
            case 't' -> out.append('\t');
            case '%' -> out.append('%');
            default -> throw TemplateException.unsupported("%" + c + " in a time format");
        }
    }

    private static void number(int n, int digits, boolean bare, StringBuilder out) {
        String text = Integer.toString(n);
        out.append(bare ? "" : "0".repeat(Math.max(0, digits - text.length()))).append(text);
    }
}
