package io.warmpath.config.source;

import io.warmpath.config.setting.SettingCatalog;
import io.warmpath.config.setting.SettingKey;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.regex.Pattern;
import java.util.stream.Stream;

/**
 * Text of {@code src/docs/reference/configuration.md}, made from the catalogue; a test fails when
 * the file is stale and writes it anew with {@code -Ddocs.write=true}.
 */
public final class ConfigReference {
    private static final Path DOCS = Path.of("src/docs");
    private static final Pattern DOCUMENT =
            Pattern.compile("(?:src/docs/[a-z/-]+/)?([a-z-]+)\\.md");

    private ConfigReference() {}

    public static String markdown(SettingCatalog catalog) {
        StringBuilder out = new StringBuilder();
        out.append(
                """
                # Configuration

                Made from `WarmpathConfig.java` by `ConfigDocsTest`; do not edit.

                A setting comes from, strongest first: its flag, its environment name (`warmpath.http.port`
                is `WARMPATH_HTTP_PORT`), the other environment names listed here, the YAML file of
                `--config`, the default. Unknown flags, unknown keys in the file and values out of range
                stop the start. Durations are written `250ms`, `2s`, `5m`, `1h`; sizes `64K`, `64M`. In the file
                the level `warmpath` may be left out and words be joined by underscores (`routing:`, under it
                `vllm_cache_aware:`); `routing.policy` is `router.mode`.

                `./warmpath serve --help GROUP` prints one of these groups, `--help WORD` what has a word in its name. [Commands](commands.md#flags-by-group)
                lists the flags alone.

                | group | what it is about |
                |---|---|
                """);
        for (SettingGroup group : SettingGroup.values()) {
            out.append("| [%s](#%s) | %s |\n".formatted(group.word(), group.word(), group.about()));
        }
        for (SettingGroup group : SettingGroup.values()) {
            out.append(
                    "\n## %s\n\n| key, flags, other environment names | default; form | what it does |\n|---|---|---|\n"
                            .formatted(group.word()));
            keys(catalog, group).forEach(key -> row(out, key));
        }
        return out.toString();
    }

    private static void row(StringBuilder out, SettingKey key) {
        List<String> names = new ArrayList<>(List.of(key.name()));
        names.addAll(key.setting().allFlags());
        names.addAll(ServeHelp.environment(key));
        out.append("| <a id=\"").append(anchor(key)).append("\"></a>");
        out.append(String.join("<br>", names.stream().map(ConfigReference::code).toList()));
        out.append(" | ")
                .append(key.shownDefault().isEmpty() ? "" : code(key.shownDefault()) + "; ");
        out.append(form(key));
        out.append(" | ").append(linked(key.setting().doc())).append(" |\n");
    }

    private static List<SettingKey> keys(SettingCatalog catalog, SettingGroup group) {
        return catalog.keys().stream().filter(group::has).toList();
    }

    /** For the page of commands: a table of groups, in which each flag leads to its key. */
    public static String flags(SettingCatalog catalog) {
        StringBuilder out = new StringBuilder("| group | flags |\n|---|---|\n");
        for (SettingGroup group : SettingGroup.values()) {
            List<String> flags = new ArrayList<>();
            for (SettingKey key : keys(catalog, group)) {
                for (String flag : key.setting().allFlags()) {
                    flags.add("[%s](configuration.md#%s)".formatted(code(flag), anchor(key)));
                }
            }
            out.append(
                    "| [%s](configuration.md#%s) | %s |\n"
                            .formatted(group.word(), group.word(), String.join(", ", flags)));
        }
        return out.toString();
    }

    /** Documents by their paths, or by their names alone, as links. */
    private static String linked(String doc) {
        return DOCUMENT.matcher(doc)
                .replaceAll(
                        name -> {
                            String page = name.group(1) + ".md";
                            String folder =
                                    Stream.of("how-to", "explanation", "reference")
                                            .filter(f -> Files.exists(DOCS.resolve(f, page)))
                                            .findFirst()
                                            .orElseThrow();
                            return "[%s](../%s/%s)"
                                    .formatted(name.group(1), folder, page)
                                    .replace("../reference/", "");
                        });
    }

    /** As documents link to a key: its name, without what stands for names that one chooses. */
    private static String anchor(SettingKey key) {
        return key.name().replaceAll("[^\\w.-]+", "").replaceAll("\\.+(?=\\.|$)", "");
    }

    private static String form(SettingKey key) {
        String unit = key.setting().unit();
        String allowed = key.form() == SettingKey.Form.TEXT ? "" : key.allowed();
        return allowed.isEmpty() ? unit : unit.isEmpty() ? allowed : allowed + " " + unit;
    }

    private static String code(String word) {
        return "`" + word + "`";
    }
}
