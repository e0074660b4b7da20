package io.warmpath.config.source;

import io.warmpath.config.setting.SettingCatalog;
import io.warmpath.config.setting.SettingKey;
import java.util.List;

/**
 * Text of {@code src/docs/reference/configuration.md}, made from the catalogue; a test fails when
 * the file is stale and writes it anew with {@code -Ddocs.write=true}.
 */
public final class ConfigReference {
    private ConfigReference() {}

    public static String markdown(SettingCatalog catalog) {
        StringBuilder out = new StringBuilder();
        out.append(
                """
                # Configuration

                Made from `WarmpathConfig.java`; do not edit.

                A setting comes from, strongest first: its flag, its environment name (`warmpath.http.port`
                is `WARMPATH_HTTP_PORT`), the other environment names listed here, the YAML file of
                `--config`, the default. Unknown flags, unknown keys in the file and values out of range
                stop the start. Durations are written `250ms`, `2s`, `5m`, `1h`; sizes `64K`, `64M`. In the file
                the level `warmpath` may be left out and words be joined by underscores (`routing:`, under it
                `vllm_cache_aware:`); `routing.policy` is `router.mode`.

                | key | default | form | flags | other environment names | what it does |
                |---|---|---|---|---|---|
                """);
        for (SettingKey key : catalog.keys()) {
            out.append("| ")
                    .append(code(key.name()))
                    .append(" | ")
                    .append(key.shownDefault().isEmpty() ? "" : code(key.shownDefault()))
                    .append(" | ")
                    .append(form(key))
                    .append(" | ")
                    .append(codes(key.setting().allFlags()))
                    .append(" | ")
                    .append(codes(ServeHelp.environment(key)))
                    .append(" | ")
                    .append(key.setting().doc())
                    .append(" |\n");
        }
        return out.toString();
    }

    private static String form(SettingKey key) {
        String unit = key.setting().unit();
        String allowed = key.form() == SettingKey.Form.TEXT ? "" : key.allowed();
        return allowed.isEmpty() ? unit : unit.isEmpty() ? allowed : allowed + " " + unit;
    }

    private static String codes(List<String> words) {
        return String.join(" ", words.stream().map(ConfigReference::code).toList());
    }

    private static String code(String word) {
        return "`" + word + "`";
    }
}
