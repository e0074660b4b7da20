package io.warmpath.sim.cache;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.fasterxml.jackson.databind.JsonNode;
import io.warmpath.sim.TestVectors;
import java.nio.ByteBuffer;
import java.util.Arrays;
import java.util.HexFormat;
import org.junit.jupiter.api.Test;

/** The simulator's hashes against hashes made by the engines' own code. */
class BlockHasherTest {
    @Test
    void pages_are_named_as_sglang_names_them() {
        BlockHasher hasher = new SglangPageHasher();
        int compared = 0;
        for (JsonNode page : TestVectors.file("vectors/sglang-page-hashes.json").path("pages")) {
            if (page.path("bigram").asBoolean()
                    || !page.path("cache_salt").isNull()
                    || !page.path("extra_key").isNull()
                    || beyondU32(page)) {
                continue;
            }
            int size = page.path("page_size").intValue();
            int[] tokens = TestVectors.tokens(page.path("tokens"));
            byte[] parent = null;
            for (int i = 0; i < page.path("pages").size(); i++) {
                parent =
                        hasher.digest(
                                parent,
                                Arrays.copyOfRange(tokens, i * size, (i + 1) * size),
                                CacheSpace.NONE);
                assertEquals(
                        page.path("pages").get(i).asText(),
                        HexFormat.of().formatHex(parent),
                        page.path("name").asText() + ", page " + i);
                assertEquals(
                        page.path("ids_i64").get(i).asText(),
                        Long.toString(ByteBuffer.wrap(parent).getLong()));
                compared++;
            }
        }
        assertTrue(compared >= 40, "only " + compared + " pages compared");
    }

    /** Ids of a salted prompt, as a running SGLang 0.5.23 published them. */
    @Test
    void salted_pages_are_named_as_sglang_publishes_them() {
        BlockHasher hasher = new SglangPageHasher();
        int compared = 0;
        for (JsonNode line : TestVectors.lines("captures/sglang-0.5.23-p16.jsonl")) {
            for (JsonNode event : line.path("decoded").path(1)) {
                if (!event.has("cache_salt") || !event.path("parent_block_hash").isNull()) {
                    continue;
                }
                CacheSpace space = new CacheSpace(event.path("cache_salt").asText(), null);
                int[] tokens = TestVectors.tokens(event.path("token_ids"));
                byte[] parent = null;
                for (int i = 0; i < event.path("block_hashes").size(); i++) {
                    parent =
                            hasher.digest(
                                    parent,
                                    Arrays.copyOfRange(tokens, i * 16, (i + 1) * 16),
                                    space);
                    assertEquals(
                            event.path("block_hashes").get(i).bigIntegerValue().longValue(),
                            ByteBuffer.wrap(parent).getLong());
                    compared++;
                }
            }
        }
        assertTrue(compared >= 10, "only " + compared + " salted pages compared");
    }

    @Test
    void blocks_are_named_as_vllm_names_them() {
        int compared = 0;
        for (JsonNode c : TestVectors.file("vectors/vllm-block-hashes.json").path("cases")) {
            if (!c.path("algorithm").asText().equals("sha256_cbor")) {
                continue;
            }
            JsonNode seed = c.path("python_hash_seed");
            VllmBlockHasher hasher =
                    new VllmBlockHasher(
                            seed.isNull() ? VllmBlockHasher.DEFAULT_SEED : seed.asText());
            assertEquals(c.path("none_hash").asText(), HexFormat.of().formatHex(hasher.noneHash()));
            int size = c.path("block_size").intValue();
            int[] tokens = TestVectors.tokens(c.path("tokens"));
            byte[] parent = null;
            for (int i = 0; i < c.path("blocks").size(); i++) {
                parent =
                        hasher.digest(
                                parent,
                                Arrays.copyOfRange(tokens, i * size, (i + 1) * size),
                                CacheSpace.NONE);
                assertEquals(c.path("blocks").get(i).asText(), HexFormat.of().formatHex(parent));
                compared++;
            }
        }
        assertTrue(compared >= 8, "only " + compared + " blocks compared");
    }

    /** Hashes that a running vLLM 0.32.0 published, salted prompts among them. */
    @Test
    void salted_blocks_are_named_as_vllm_publishes_them() {
        VllmBlockHasher hasher = new VllmBlockHasher(VllmBlockHasher.DEFAULT_SEED);
        int salted = 0;
        for (JsonNode line : TestVectors.lines("captures/vllm-0.32.0-cbor-b32.jsonl")) {
            for (JsonNode event : line.path("decoded").path(1)) {
                if (!event.path("type").asText().equals("BlockStored")
                        || !event.path("parent_block_hash").isNull()) {
                    continue;
                }
                JsonNode keys = event.path("extra_keys").path(0);
                String salt = keys.isArray() ? keys.get(0).asText() : null;
                salted += salt == null ? 0 : 1;
                byte[] parent = null;
                int[] tokens = TestVectors.tokens(event.path("token_ids"));
                for (int i = 0; i < event.path("block_hashes").size(); i++) {
                    parent =
                            hasher.digest(
                                    parent,
                                    Arrays.copyOfRange(tokens, i * 32, (i + 1) * 32),
                                    new CacheSpace(salt, null));
                    assertEquals(
                            event.path("block_hashes").get(i).bigIntegerValue().longValue(),
                            ByteBuffer.wrap(parent).getLong(24));
                }
            }
        }
        assertTrue(salted >= 2, "only " + salted + " salted prompts compared");
    }

    private static boolean beyondU32(JsonNode page) {
        for (JsonNode id : page.path("tokens")) {
            if (id.isTextual() && Long.parseLong(id.asText()) > 0xffffffffL) {
                return true;
            }
        }
        return false;
    }
}
