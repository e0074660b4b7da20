package io.warmpath.config.setting;

import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * All keys as a file beside this class, one line each: reading their annotations takes a fifth of a
 * start. Members are separated by tabs, the parts of lists by blanks; no text has a tab or a line
 * end. {@code SettingTableText} writes it; {@code ConfigDocsTest} fails when it is stale.
 */
public final class SettingTable {
    private static final String FILE = "settings.tsv";
    static final String NO_DEFAULT = "-";
    static final String SOME_DEFAULT = "=";
    private static final int MEMBERS = 18;

    private SettingTable() {}

    /** The one that is packed. */
    public static List<SettingKey> read() {
        try (InputStream in = SettingTable.class.getResourceAsStream(FILE)) {
            if (in == null) {
                throw new IllegalStateException(FILE + " is missing: the jar is not whole");
            }
            return read(new String(in.readAllBytes(), StandardCharsets.UTF_8));
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    public static List<SettingKey> read(String text) {
        List<SettingKey> keys = new ArrayList<>(300);
        int start = 0;
        for (int end = text.indexOf('\n'); end >= 0; end = text.indexOf('\n', start)) {
            keys.add(key(split(text.substring(start, end), '\t')));
            start = end + 1;
        }
        return keys;
    }

    private static SettingKey key(List<String> m) {
        if (m.size() != MEMBERS) {
            throw new IllegalStateException(FILE + " has a line with " + m.size() + " members");
        }
        String fallback = m.get(3);
        return new SettingKey(
                m.get(0),
                SettingKey.Form.valueOf(m.get(1)),
                words(m.get(2)),
                defaultValue(fallback),
                Boolean.parseBoolean(m.get(4)),
                new SettingNotes(
                        m.get(5),
                        m.get(6),
                        m.get(7),
                        words(m.get(8)),
                        words(m.get(9)),
                        words(m.get(10)),
                        Double.parseDouble(m.get(11)),
                        Double.parseDouble(m.get(12)),
                        m.get(13),
                        m.get(14),
                        m.get(15),
                        m.get(16),
                        Boolean.parseBoolean(m.get(17))));
    }

    private static @Nullable String defaultValue(String text) {
        return text.equals(NO_DEFAULT) ? null : text.substring(SOME_DEFAULT.length());
    }

    private static List<String> words(String text) {
        return text.isEmpty() ? List.of() : List.copyOf(split(text, ' '));
    }

    /** Without a regular expression: nothing is compiled yet when this runs. */
    private static List<String> split(String text, char at) {
        List<String> parts = new ArrayList<>();
        int start = 0;
        for (int end = text.indexOf(at); end >= 0; end = text.indexOf(at, start)) {
            parts.add(text.substring(start, end));
            start = end + 1;
        }
        parts.add(text.substring(start));
        return parts;
    }
}
