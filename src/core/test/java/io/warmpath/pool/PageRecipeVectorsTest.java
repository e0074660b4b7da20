package io.warmpath.pool;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.fasterxml.jackson.databind.JsonNode;
import io.warmpath.sim.TestVectors;
import java.util.ArrayList;
import java.util.HexFormat;
import java.util.List;
import java.util.TreeSet;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.DynamicTest;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestFactory;

/**
 * Pages and keys as the engines' own functions made them: SGLang's in ten versions, vLLM's in four.
 */
class PageRecipeVectorsTest {
    private static final JsonNode SGLANG = TestVectors.file("vectors/sglang-page-hashes.json");
    private static final JsonNode VLLM = TestVectors.file("vectors/vllm-block-hashes.json");
    private static final PageDigests JDK = new JdkPageDigests();
    private static final long U32 = 0xffff_ffffL;

    /** No token above u32 passes the gateway, so pages with one are not made. */
    private static boolean wide(JsonNode page) {
        for (JsonNode token : page.path("tokens")) {
            if (token.asLong() > U32) {
                return true;
            }
        }
        return false;
    }

    @TestFactory
    List<DynamicTest> every_page_of_every_sglang_version_is_named_as_it_is_there() {
        List<DynamicTest> tests = new ArrayList<>();
        int wide = 0;
        for (JsonNode page : SGLANG.path("pages")) {
            if (wide(page)) {
                wide++;
                continue;
            }
            for (JsonNode version : page.path("versions")) {
                tests.add(
                        DynamicTest.dynamicTest(
                                page.path("name").asText() + ", " + version.asText(),
                                () -> pages(page, version.asText())));
            }
        }
        assertEquals(3, wide);
        assertTrue(tests.size() > 200, "only " + tests.size() + " cases");
        return tests;
    }

    private static void pages(JsonNode page, String version) {
        int[] tokens = TestVectors.tokens(page.path("tokens"));
        SglangPages recipe =
                new SglangPages(
                        SglangVersion.parse(version).orElseThrow(),
                        page.path("page_size").asInt(),
                        false,
                        page.path("bigram").asBoolean(),
                        SglangRanks.of(1, 1),
                        "",
                        "");
        PoolQuestion question =
                new PoolQuestion(
                        tokens,
                        tokens.length,
                        text(page.path("extra_key")),
                        text(page.path("cache_salt")));
        assertEquals(hashes(page.path("pages")), hexes(recipe.digests(question, JDK)));
    }

    private static @Nullable String text(JsonNode node) {
        return node.isNull() ? null : node.asText();
    }

    private static List<String> hashes(JsonNode list) {
        List<String> all = new ArrayList<>();
        list.forEach(hash -> all.add(hash.asText()));
        return all;
    }

    private static List<String> hexes(byte[] digests) {
        List<String> all = new ArrayList<>();
        for (int i = 0; i < digests.length / PageRecipe.DIGEST_BYTES; i++) {
            all.add(SglangPages.hex(digests, i));
        }
        return all;
    }

    @Test
    void storage_before_0_5_20_does_not_know_of_salts() {
        int[] tokens = {1, 2, 3, 4};
        PoolQuestion plain = new PoolQuestion(tokens);
        PoolQuestion salted = new PoolQuestion(tokens, 4, null, "tenant-a");
        SglangPages old = sglang("0.5.19", 4, false, SglangRanks.of(1, 1), "", "");
        SglangPages young = sglang("0.5.20", 4, false, SglangRanks.of(1, 1), "", "");
        assertArrayEquals(old.digests(plain, JDK), old.digests(salted, JDK));
        assertEquals(1, new TreeSet<>(hexes(old.digests(salted, JDK))).size());
        assertTrue(!hexes(young.digests(plain, JDK)).equals(hexes(young.digests(salted, JDK))));
    }

    private static SglangPages sglang(
            String version, int page, boolean mla, SglangRanks ranks, String tag, String model) {
        return new SglangPages(
                SglangVersion.parse(version).orElseThrow(), page, mla, false, ranks, tag, model);
    }

    @TestFactory
    List<DynamicTest> every_rank_of_every_sglang_version_asks_for_these_keys() {
        List<DynamicTest> tests = new ArrayList<>();
        for (JsonNode one : SGLANG.path("keys")) {
            tests.add(
                    DynamicTest.dynamicTest(
                            one.path("name").asText() + ", " + one.path("version").asText(),
                            () -> keys(one)));
        }
        assertEquals(67, tests.size());
        return tests;
    }

    /** A case is one rank's keys: those, and no other of that rank, are among ours. */
    private static void keys(JsonNode one) {
        JsonNode config = one.path("config");
        SglangPages recipe = recipe(one.path("version").asText(), config);
        List<String> hashes = hashes(one.path("pages"));
        byte[] digests = HexFormat.of().parseHex(String.join("", hashes));
        List<String> ours = new ArrayList<>();
        for (int page = 0; page < hashes.size(); page++) {
            recipe.keys(digests, page, ours);
        }
        assertEquals(hashes.size() * recipe.keysPerPage(), ours.size());
        assertEquals(ours.size(), new TreeSet<>(ours).size(), "a key twice in " + ours);

        List<String> suffixes =
                config.has("dcp_size")
                        ? recipe.dcpSuffixes(
                                config.path("dcp_rank").asInt(),
                                config.path("attn_cp_rank").asInt(),
                                config.path("pp_rank").asInt())
                        : recipe.suffixes(
                                config.path("tp_rank").asInt(), config.path("pp_rank").asInt());
        List<String> ends = new ArrayList<>();
        hashes.forEach(hash -> suffixes.forEach(suffix -> ends.add(hash + suffix)));
        List<String> ofTheRank =
                ours.stream().filter(key -> ends.stream().anyMatch(key::endsWith)).toList();
        assertEquals(hashes(one.path("probed")), ofTheRank);
    }

    private static SglangPages recipe(String version, JsonNode config) {
        int tp = config.path("tp_size").asInt(1);
        int lcm =
                config.path("should_split_heads").asBoolean()
                        ? config.path("tp_lcm_size").asInt()
                        : tp;
        return sglang(
                version,
                config.path("logical_page_size").asInt(64),
                config.path("is_mla_model").asBoolean(),
                new SglangRanks(
                        tp,
                        config.path("pp_size").asInt(1),
                        lcm,
                        config.path("dcp_size").asInt(1),
                        config.path("attn_cp_size").asInt(1)),
                config.path("extra_config").path("extra_backend_tag").asText(),
                config.path("model_name").asText());
    }

    @Test
    void a_page_has_the_parts_of_all_ranks() {
        assertEquals(8, sglang("0.5.23", 64, false, SglangRanks.of(2, 2), "", "").keysPerPage());
        assertEquals(2, sglang("0.5.23", 64, true, SglangRanks.of(8, 2), "", "").keysPerPage());
        assertEquals(
                8,
                sglang("0.5.14", 64, false, new SglangRanks(2, 1, 4, 1, 1), "", "").keysPerPage());
        assertEquals(
                8,
                sglang("0.5.23", 256, true, new SglangRanks(8, 2, 8, 2, 2), "", "").keysPerPage());
    }

    @Test
    void vllm_blocks_are_named_as_the_engine_names_them() {
        int cases = 0;
        for (JsonNode one : VLLM.path("cases")) {
            if (!one.path("algorithm").asText().equals("sha256_cbor")) {
                continue;
            }
            cases++;
            VllmPages recipe =
                    new VllmPages(
                            one.path("block_size").asInt(),
                            one.path("python_hash_seed").asText(""),
                            "m",
                            "",
                            "",
                            1,
                            1,
                            1,
                            1,
                            1);
            assertEquals(
                    hashes(one.path("blocks")),
                    hexes(
                            recipe.digests(
                                    new PoolQuestion(TestVectors.tokens(one.path("tokens"))), JDK)),
                    one.path("python_hash_seed") + ", block " + one.path("block_size"));
        }
        assertEquals(6, cases);
    }

    @Test
    void vllm_keys_are_those_of_its_store_connector() {
        int cases = 0;
        for (JsonNode one : VLLM.path("mooncake_keys")) {
            cases++;
            JsonNode m = one.path("metadata");
            VllmPages recipe =
                    new VllmPages(
                            16,
                            "0",
                            m.path("model_name").asText(),
                            m.path("store_namespace").asText(),
                            m.path("cache_prefix").asText(),
                            m.path("tp_rank").asInt() + 1,
                            m.path("pcp_rank").asInt() + 1,
                            m.path("dcp_rank").asInt() + 1,
                            m.path("pp_rank").asInt() + 1,
                            m.path("group_id").asInt() + 1);
            List<String> keys = new ArrayList<>();
            recipe.keys(HexFormat.of().parseHex(one.path("block_hash").asText()), 0, keys);
            assertEquals(recipe.keysPerPage(), keys.size());
            assertEquals(one.path("key").asText(), keys.getLast());
        }
        assertEquals(6, cases);
    }

    @Test
    void vllm_pages_of_salted_prompts_cannot_be_named() {
        VllmPages recipe = new VllmPages(2, "", "m", "", "", 1, 1, 1, 1, 1);
        int[] tokens = {1, 2, 3, 4};
        assertEquals(64, recipe.digests(new PoolQuestion(tokens), JDK).length);
        assertEquals(0, recipe.digests(new PoolQuestion(tokens, 4, "lora", null), JDK).length);
        assertEquals(0, recipe.digests(new PoolQuestion(tokens, 4, null, "salt"), JDK).length);
    }

    @Test
    void versions_are_read_as_engines_write_them() {
        for (String text :
                List.of("0.5.17", "v0.5.17", "0.5.17.post1", "0.5.17rc2", "0.5.17.dev9+g12ab")) {
            assertEquals(
                    new SglangVersion(0, 5, 17), SglangVersion.parse(text).orElseThrow(), text);
        }
        for (String text : List.of("", "main", "0.5", "0.5.x", "12345.0.0")) {
            assertTrue(SglangVersion.parse(text).isEmpty(), text);
        }
        assertTrue(new SglangVersion(0, 6, 0).since(23));
        assertTrue(!new SglangVersion(0, 4, 30).since(2));
    }
}
