package io.warmpath.wiring.settings;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.smallrye.config.SmallRyeConfig;
import io.smallrye.config.SmallRyeConfigBuilder;
import io.warmpath.config.WarmpathConfig;
import io.warmpath.config.setting.SettingCatalog;
import io.warmpath.config.source.ConfigCheck;
import io.warmpath.config.source.WarmpathSources;
import io.warmpath.lab.policy.PolicyCatalog;
import io.warmpath.lab.tune.Dials;
import io.warmpath.lab.tune.Settings;
import io.warmpath.routing.BlockWeights;
import io.warmpath.routing.CostKind;
import io.warmpath.routing.RouterMode;
import io.warmpath.routing.RouterOptions;
import io.warmpath.sim.virtual.EngineModel;
import io.warmpath.tools.ToolsMain;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** What {@code lab tune} prints is what a gateway reads from its file. */
class TunedSettingsTest {
    private static final RouterOptions BLOCKS =
            RouterOptions.of(RouterMode.KV).with(CostKind.BLOCKS);

    @TempDir Path folder;

    /** As from the file of {@code --config}. */
    private static RouterOptions read(String yaml) {
        SmallRyeConfig config =
                new SmallRyeConfigBuilder()
                        .withSources(WarmpathSources.yaml("gateway.yaml", yaml))
                        .withMapping(WarmpathConfig.class)
                        .build();
        assertEquals(List.of(), ConfigCheck.problems(SettingCatalog.read(), config), yaml);
        return RouterSettings.options(config.getConfigMapping(WarmpathConfig.class));
    }

    @Test
    void every_point_of_the_search_reaches_the_router_as_it_was_played() {
        List<Dials> all =
                List.of(
                        Dials.blocks(false),
                        Dials.blocks(true),
                        Dials.latency(PolicyCatalog.priors(EngineModel.SMALL)),
                        Dials.latency(PolicyCatalog.priors(EngineModel.LARGE)));
        for (long seed = 1; seed <= 20; seed++) {
            for (Dials dials : all) {
                double[] point = new Random(seed).doubles(dials.start().length).toArray();
                String yaml = dials.settings(point).yaml();
                assertEquals(dials.options(point), read(yaml), "seed " + seed + "\n" + yaml);
            }
        }
    }

    @Test
    void presets_reach_the_router_too() {
        assertEquals(BLOCKS, read(Settings.of(CostKind.BLOCKS).yaml()));
        assertEquals(BLOCKS.with(BlockWeights.DEFAULT.agentic()), read(Settings.agentic().yaml()));
    }

    /** Long documents that many ask about: where a prompt is sent matters, if there is a choice. */
    private String tune(int engines) throws IOException {
        StringBuilder table = new StringBuilder("timestamp,input_length,output_length,hash_ids\n");
        Random random = new Random(1);
        for (int i = 0; i < 400; i++) {
            int document = random.nextInt(40);
            StringBuilder blocks = new StringBuilder();
            for (int b = 0; b < 24; b++) {
                blocks.append(100 * document + b).append(' ');
            }
            table.append("%d,12400,150,%s%n".formatted(i * 250, blocks.toString().strip()));
        }
        Path file = Files.writeString(folder.resolve("documents.csv"), table);
        String[] args = {
            "lab",
            "tune",
            "",
            "--engines",
            "",
            "--policy",
            "kv",
            "--loads",
            "1",
            "--budget",
            "24",
            "--quiet"
        };
        args[2] = file.toString();
        args[4] = String.valueOf(engines);
        ByteArrayOutputStream out = new ByteArrayOutputStream();
        PrintStream to = new PrintStream(out, true, StandardCharsets.UTF_8);
        assertEquals(
                0, ToolsMain.run(args, System.in, to, to), out.toString(StandardCharsets.UTF_8));
        return out.toString(StandardCharsets.UTF_8);
    }

    @Test
    @Tag("slow")
    void a_gain_is_printed_as_a_file_and_where_there_is_no_choice_nothing_is() throws IOException {
        String told = tune(4);
        int answer = told.lastIndexOf("\n# ") + 1;
        assertTrue(answer > 0, told);
        assertTrue(
                told.substring(answer)
                        .matches(
                                "(?s)# -\\S+ % \\+- \\S+ % mean TTFT against kv, 4 seeds, held back\n.*"),
                told);
        assertNotEquals(BLOCKS, read(told.substring(answer)));

        String none = tune(1);
        assertTrue(none.lines().toList().getLast().startsWith("keep kv: "), none);
        assertFalse(none.contains("warmpath:"), none);
    }
}
