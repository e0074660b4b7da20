package io.warmpath.config.source;

import io.warmpath.config.setting.SettingCatalog;
import io.warmpath.config.setting.SettingKey;
import java.util.ArrayList;
import java.util.List;

/** Text of {@code serve --help}, made from the catalogue. Stateless. */
public final class ServeHelp {
    private static final int WIDTH = 96;
    private static final String INDENT = "      ";

    private ServeHelp() {}

    public static String text(SettingCatalog catalog) {
        StringBuilder out = new StringBuilder();
        out.append(
                """
                usage: warmpath serve [FLAG...]

                Starts the gateway. A setting comes from its flag, else from the environment, else from
                the file of --config, else it has the default shown here. Every key has an environment
                name: warmpath.http.port is WARMPATH_HTTP_PORT.

                Flags:
                """);
        catalog.keys().stream()
                .filter(k -> !k.setting().flags().isEmpty())
                .forEach(k -> entry(out, String.join(", ", k.setting().allFlags()), k));
        out.append("\nFurther keys (file or environment):\n");
        catalog.keys().stream()
                .filter(k -> k.setting().flags().isEmpty())
                .forEach(k -> entry(out, k.name(), k));
        return out.toString();
    }

    private static void entry(StringBuilder out, String head, SettingKey key) {
        out.append("  ").append(head).append('\n');
        List<String> facts = new ArrayList<>();
        if (!key.setting().flags().isEmpty()) {
            facts.add("key " + key.name());
        }
        if (!key.unit().isEmpty()) {
            facts.add("unit " + key.unit());
        }
        String unset = key.shownDefault();
        facts.add(unset.isEmpty() ? "no default" : "default " + unset);
        if (!key.setting().env().isEmpty()) {
            facts.add("env " + String.join(", ", environment(key)));
        }
        wrap(out, key.setting().doc());
        wrap(out, "[" + String.join("; ", facts) + "]");
    }

    /** Alias names without their units. */
    public static List<String> environment(SettingKey key) {
        return key.setting().env().stream().map(e -> e.replaceAll(":.*", "")).toList();
    }

    private static void wrap(StringBuilder out, String text) {
        StringBuilder line = new StringBuilder(INDENT);
        for (String word : text.split(" ", -1)) {
            if (line.length() + word.length() + 1 > WIDTH && line.length() > INDENT.length()) {
                out.append(line).append('\n');
                line.setLength(INDENT.length());
            }
            if (line.length() > INDENT.length()) {
                line.append(' ');
            }
            line.append(word);
        }
        out.append(line).append('\n');
    }
}
