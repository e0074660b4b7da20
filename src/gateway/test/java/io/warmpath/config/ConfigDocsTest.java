package io.warmpath.config;

import static io.warmpath.repository.RecordedText.same;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.warmpath.config.setting.SettingCatalog;
import io.warmpath.config.setting.SettingKey;
import io.warmpath.config.setting.SettingTable;
import io.warmpath.config.setting.SettingTableText;
import io.warmpath.config.source.ConfigReference;
import io.warmpath.config.source.ServeHelp;
import io.warmpath.repository.RecordedText;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;

/** Texts made from the catalogue. */
class ConfigDocsTest {
    private static final SettingCatalog CATALOG =
            new SettingCatalog(SettingReader.keys()); // not what was packed

    @Test
    void the_configuration_reference_is_current() throws IOException {
        same(Path.of("src/docs/reference/configuration.md"), ConfigReference.markdown(CATALOG));
    }

    @Test
    void the_table_that_is_packed_is_current_and_says_all() throws IOException {
        String table = SettingTableText.write(CATALOG.keys());
        same(Path.of("src/gateway/main/resources/io/warmpath/config/setting/settings.tsv"), table);
        assertEquals(CATALOG.keys(), SettingTable.read(table));
        if (!RecordedText.WRITES) { // what is packed is from before
            assertEquals(CATALOG.keys(), SettingTable.read());
        }
    }

    @Test
    void help_is_as_recorded() throws Exception {
        Path folder = Path.of("src/test/resources/config");
        same(folder.resolve("serve-help.txt"), ServeHelp.text(CATALOG, "", 80));
        same(folder.resolve("serve-help-all.txt"), ServeHelp.text(CATALOG, "all", 80));
    }

    @Test
    void help_names_every_key_and_flag() throws Exception {
        String help = ServeHelp.text(CATALOG, "all", 80);
        assertTrue(CATALOG.keys().size() > 30);
        for (SettingKey key : CATALOG.keys()) {
            assertTrue(help.contains(key.name()), key.name());
            for (String flag : key.setting().flags()) {
                assertTrue(help.contains(flag), flag);
            }
            for (String flag : key.setting().offFlags()) {
                assertTrue(help.contains(flag), flag);
            }
        }
    }

    @Test
    void defaults_written_into_runtime_settings_are_those_of_the_keys() throws IOException {
        Matcher m =
                Pattern.compile("\\$\\{(warmpath\\.[a-z.-]+):([^}]*)}")
                        .matcher(
                                Files.readString(
                                        Path.of(
                                                "src/gateway/main/resources/application.properties")));
        int found = 0;
        while (m.find()) {
            found++;
            assertEquals(CATALOG.find(m.group(1)).orElseThrow().defaultValue(), m.group(2));
        }
        assertEquals(6, found, "references to our keys");
    }

    @Test
    void every_doc_is_a_sentence() {
        for (SettingKey key : CATALOG.keys()) {
            String doc = key.setting().doc();
            assertTrue(doc.length() > 10 && !doc.contains("|"), key.name());
        }
    }
}
