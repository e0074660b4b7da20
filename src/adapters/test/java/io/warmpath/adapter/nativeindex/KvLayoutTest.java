package io.warmpath.adapter.nativeindex;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.warmpath.pool.PageRecipe;
import io.warmpath.prefix.PrefixIndex;
import io.warmpath.prefix.Tier;
import io.warmpath.prefix.WorkerSlot;
import io.warmpath.tokens.text.BpeParts;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;

/**
 * The numbers of {@link KvLayout} against {@code kvindex.h}, {@code kvtracker.h} and {@code
 * kvtokens.h}: field offsets computed from the headers' structs by natural alignment, constants
 * from its defines.
 */
class KvLayoutTest {
    private static final Path HEADER = Path.of("native-core", "include", "kvindex.h");
    private static final Path TRACKER = Path.of("native-core", "include", "kvtracker.h");

    private static final List<String> ARRAYS =
            List.of("vocabulary", "added", "merges", "steps", "before", "behind");
    private static final List<String> COUNTS =
            List.of(
                    "vocabulary_count",
                    "added_count",
                    "merge_count",
                    "step_count",
                    "before_count",
                    "behind_count");
    private static final Path TOKENS = Path.of("native-core", "include", "kvtokens.h");

    private final String header = read(HEADER) + read(TRACKER) + read(TOKENS);

    @Test
    void events_have_the_headers_layout() {
        Map<String, Integer> expected = new LinkedHashMap<>();
        expected.put("size", KvLayout.EVENT_SIZE_AT);
        expected.put("kind", KvLayout.EVENT_KIND_AT);
        expected.put("tier", KvLayout.EVENT_TIER_AT);
        expected.put("flags", KvLayout.EVENT_FLAGS_AT);
        expected.put("slot", KvLayout.EVENT_SLOT_AT);
        expected.put("n", KvLayout.EVENT_N_AT);
        expected.put("block_size", KvLayout.EVENT_BLOCK_SIZE_AT);
        expected.put("reserved", KvLayout.EVENT_RESERVED_AT);
        expected.put("parent", KvLayout.EVENT_PARENT_AT);
        expected.put("seed", KvLayout.EVENT_SEED_AT);
        expected.put("(size)", KvLayout.EVENT_SIZE);
        assertEquals(expected, layout("kvi_event"));
    }

    @Test
    void results_have_the_headers_layout() {
        Map<String, Integer> expected = new LinkedHashMap<>();
        expected.put("applied", KvLayout.APPLIED_APPLIED_AT);
        expected.put("orphans", KvLayout.APPLIED_ORPHANS_AT);
        expected.put("unknown_removed", KvLayout.APPLIED_UNKNOWN_REMOVED_AT);
        expected.put("ignored", KvLayout.APPLIED_IGNORED_AT);
        expected.put("malformed", KvLayout.APPLIED_MALFORMED_AT);
        expected.put("(size)", KvLayout.APPLIED_SIZE);
        assertEquals(expected, layout("kvi_applied"));
    }

    @Test
    void what_snapshots_carry_has_the_headers_layout() {
        Map<String, Integer> mark = new LinkedHashMap<>();
        mark.put("source", KvLayout.WATERMARK_SOURCE_AT);
        mark.put("sequence", KvLayout.WATERMARK_SEQUENCE_AT);
        mark.put("(size)", KvLayout.WATERMARK_SIZE);
        assertEquals(mark, layout("kvi_watermark"));
        Map<String, Integer> slot = new LinkedHashMap<>();
        slot.put("slot", KvLayout.SNAPSHOT_SLOT_SLOT_AT);
        slot.put("domain", KvLayout.SNAPSHOT_SLOT_DOMAIN_AT);
        slot.put("name_space", KvLayout.SNAPSHOT_SLOT_NAME_SPACE_AT);
        slot.put("rank", KvLayout.SNAPSHOT_SLOT_RANK_AT);
        slot.put("worker", KvLayout.SNAPSHOT_SLOT_WORKER_AT);
        slot.put("(size)", KvLayout.SNAPSHOT_SLOT_SIZE);
        assertEquals(slot, layout("kvi_snapshot_slot"));
        Map<String, Integer> info = new LinkedHashMap<>();
        info.put("bytes", KvLayout.SNAPSHOT_INFO_BYTES_AT);
        info.put("runs", KvLayout.SNAPSHOT_INFO_RUNS_AT);
        info.put("dropped_runs", KvLayout.SNAPSHOT_INFO_DROPPED_RUNS_AT);
        info.put("dropped_names", KvLayout.SNAPSHOT_INFO_DROPPED_NAMES_AT);
        info.put("longest_hold", KvLayout.SNAPSHOT_INFO_LONGEST_HOLD_AT);
        info.put("watermarks", KvLayout.SNAPSHOT_INFO_WATERMARKS_AT);
        info.put("slots", KvLayout.SNAPSHOT_INFO_SLOTS_AT);
        info.put("(size)", KvLayout.SNAPSHOT_INFO_SIZE);
        assertEquals(info, layout("kvi_snapshot_info"));
        assertEquals(status("KVI_E_MEMORY"), KvLayout.E_MEMORY);
        assertEquals(status("KVI_E_DAMAGED"), KvLayout.E_DAMAGED);
        assertEquals(status("KVI_E_IO"), KvLayout.E_IO);
    }

    @Test
    void hits_have_the_headers_layout() {
        Map<String, Integer> expected = new LinkedHashMap<>();
        expected.put("slot", KvLayout.HIT_SLOT_AT);
        expected.put("depth", KvLayout.HIT_DEPTH_AT);
        expected.put("(size)", KvLayout.HIT_SIZE);
        assertEquals(expected, layout("kvi_hit"));
    }

    @Test
    void blocks_by_tier_have_the_headers_layout() {
        Map<String, Integer> expected = new LinkedHashMap<>();
        expected.put("blocks", KvLayout.TIER_BLOCKS_BLOCKS_AT);
        expected.put("(size)", KvLayout.TIER_BLOCKS_SIZE);
        assertEquals(expected, layout("kvi_tier_blocks"));
    }

    @Test
    void statistics_have_the_headers_layout() {
        Map<String, Integer> expected = new LinkedHashMap<>();
        expected.put("slots", KvLayout.STATISTICS_SLOTS_AT);
        expected.put("blocks", KvLayout.STATISTICS_BLOCKS_AT);
        expected.put("residencies", KvLayout.STATISTICS_RESIDENCIES_AT);
        expected.put("runs", KvLayout.STATISTICS_RUNS_AT);
        expected.put("orphans", KvLayout.STATISTICS_ORPHANS_AT);
        expected.put("bytes", KvLayout.STATISTICS_BYTES_AT);
        expected.put("ghosts", KvLayout.STATISTICS_GHOSTS_AT);
        expected.put("moves", KvLayout.STATISTICS_MOVES_AT);
        expected.put("conflicts", KvLayout.STATISTICS_CONFLICTS_AT);
        expected.put("orphans_given_up", KvLayout.STATISTICS_ORPHANS_GIVEN_UP_AT);
        expected.put("refused", KvLayout.STATISTICS_REFUSED_AT);
        expected.put("bytes_in_use", KvLayout.STATISTICS_BYTES_IN_USE_AT);
        expected.put("decisions", KvLayout.STATISTICS_DECISIONS_AT);
        expected.put("decisions_ended_by_time", KvLayout.STATISTICS_DECISIONS_ENDED_BY_TIME_AT);
        expected.put(
                "decisions_ended_by_capacity", KvLayout.STATISTICS_DECISIONS_ENDED_BY_CAPACITY_AT);
        expected.put("(size)", KvLayout.STATISTICS_SIZE);
        assertEquals(expected, layout("kvi_statistics"));
    }

    @Test
    void the_config_has_the_headers_layout() {
        Map<String, Integer> expected = new LinkedHashMap<>();
        expected.put("size", KvLayout.CONFIG_SIZE_AT);
        expected.put("ghost_percent", KvLayout.CONFIG_GHOST_PERCENT_AT);
        expected.put("orphan_limit", KvLayout.CONFIG_ORPHAN_LIMIT_AT);
        expected.put("max_blocks", KvLayout.CONFIG_MAX_BLOCKS_AT);
        expected.put("byte_budget", KvLayout.CONFIG_BYTE_BUDGET_AT);
        expected.put("decision_ttl", KvLayout.CONFIG_DECISION_TTL_AT);
        expected.put("decision_capacity", KvLayout.CONFIG_DECISION_CAPACITY_AT);
        expected.put("query_budget", KvLayout.CONFIG_QUERY_BUDGET_AT);
        expected.put("reserved", KvLayout.CONFIG_RESERVED_AT);
        expected.put("(size)", KvLayout.CONFIG_SIZE);
        assertEquals(expected, layout("kvi_config"));
    }

    @Test
    void queries_have_the_headers_layout() {
        Map<String, Integer> expected = new LinkedHashMap<>();
        expected.put("offset", KvLayout.QUERY_OFFSET_AT);
        expected.put("count", KvLayout.QUERY_COUNT_AT);
        expected.put("name_space", KvLayout.QUERY_NAME_SPACE_AT);
        expected.put("budget", KvLayout.QUERY_BUDGET_AT);
        expected.put("reserved", KvLayout.QUERY_RESERVED_AT);
        expected.put("(size)", KvLayout.QUERY_SIZE);
        assertEquals(expected, layout("kvi_query"));
        assertTrue(BatchMatch.MOST <= defined("KVI_MAX_QUERIES"));
    }

    @Test
    void the_trackers_structs_have_the_headers_layout() {
        Map<String, Integer> config = new LinkedHashMap<>();
        config.put("size", KvLayout.TRACKER_CONFIG_SIZE_AT);
        config.put("block_size", KvLayout.TRACKER_CONFIG_BLOCK_SIZE_AT);
        config.put("hashing", KvLayout.TRACKER_CONFIG_HASHING_AT);
        config.put("reserved", KvLayout.TRACKER_CONFIG_RESERVED_AT);
        config.put("max_blocks", KvLayout.TRACKER_CONFIG_MAX_BLOCKS_AT);
        config.put("(size)", KvLayout.TRACKER_CONFIG_SIZE);
        assertEquals(config, layout("kvt_config"));
        Map<String, Integer> hit = new LinkedHashMap<>();
        hit.put("backend", KvLayout.TRACKER_HIT_BACKEND_AT);
        hit.put("blocks", KvLayout.TRACKER_HIT_BLOCKS_AT);
        hit.put("(size)", KvLayout.TRACKER_HIT_SIZE);
        assertEquals(hit, layout("kvt_hit"));
        Map<String, Integer> statistics = new LinkedHashMap<>();
        statistics.put("backends", KvLayout.TRACKER_STATISTICS_BACKENDS_AT);
        statistics.put("blocks", KvLayout.TRACKER_STATISTICS_BLOCKS_AT);
        statistics.put("bytes", KvLayout.TRACKER_STATISTICS_BYTES_AT);
        statistics.put("evicted", KvLayout.TRACKER_STATISTICS_EVICTED_AT);
        statistics.put("(size)", KvLayout.TRACKER_STATISTICS_SIZE);
        assertEquals(statistics, layout("kvt_statistics"));
        assertEquals(defined("KVT_POSITION"), KvLayout.POSITION);
        assertEquals(defined("KVT_CHAINED"), KvLayout.CHAINED);
    }

    @Test
    void the_tokenizers_structs_have_the_headers_layout() {
        Map<String, Integer> token = new LinkedHashMap<>();
        token.put("offset", KvLayout.TOKEN_OFFSET_AT);
        token.put("length", KvLayout.TOKEN_LENGTH_AT);
        token.put("id", KvLayout.TOKEN_ID_AT);
        token.put("flags", KvLayout.TOKEN_FLAGS_AT);
        token.put("reserved", KvLayout.TOKEN_RESERVED_AT);
        token.put("(size)", KvLayout.TOKEN_SIZE);
        assertEquals(token, layout("ktk_token"));
        Map<String, Integer> config = new LinkedHashMap<>();
        config.put("size", KvLayout.TOKENIZER_CONFIG_SIZE_AT);
        config.put("flags", KvLayout.TOKENIZER_CONFIG_FLAGS_AT);
        config.put("bytes", KvLayout.TOKENIZER_CONFIG_BYTES_AT);
        config.put("byte_count", KvLayout.TOKENIZER_CONFIG_BYTE_COUNT_AT);
        int at = KvLayout.TOKENIZER_CONFIG_VOCABULARY_AT;
        for (String array : ARRAYS) {
            config.put(array, at);
            at += Long.BYTES;
        }
        at = KvLayout.TOKENIZER_CONFIG_VOCABULARY_COUNT_AT;
        for (String count : COUNTS) {
            config.put(count, at);
            at += Integer.BYTES;
        }
        config.put("(size)", KvLayout.TOKENIZER_CONFIG_SIZE);
        assertEquals(config, layout("ktk_config"));
    }

    @Test
    void the_structs_of_texts_have_the_headers_layout() {
        Map<String, Integer> query = new LinkedHashMap<>();
        query.put("size", KvLayout.TEXT_QUERY_SIZE_AT);
        query.put("flags", KvLayout.TEXT_QUERY_FLAGS_AT);
        query.put("text", KvLayout.TEXT_QUERY_TEXT_AT);
        query.put("length", KvLayout.TEXT_QUERY_LENGTH_AT);
        query.put("seed", KvLayout.TEXT_QUERY_SEED_AT);
        query.put("most_new", KvLayout.TEXT_QUERY_MOST_NEW_AT);
        query.put("name_space", KvLayout.TEXT_QUERY_NAME_SPACE_AT);
        query.put("block_size", KvLayout.TEXT_QUERY_BLOCK_SIZE_AT);
        query.put("(size)", KvLayout.TEXT_QUERY_SIZE);
        assertEquals(query, layout("kvi_text_query"));
        Map<String, Integer> found = new LinkedHashMap<>();
        found.put("tokens", KvLayout.TEXT_FOUND_TOKENS_AT);
        found.put("known_tokens", KvLayout.TEXT_FOUND_KNOWN_TOKENS_AT);
        found.put("new_bytes", KvLayout.TEXT_FOUND_NEW_BYTES_AT);
        found.put("blocks", KvLayout.TEXT_FOUND_BLOCKS_AT);
        found.put("hits", KvLayout.TEXT_FOUND_HITS_AT);
        found.put("too_much", KvLayout.TEXT_FOUND_TOO_MUCH_AT);
        found.put("reserved", KvLayout.TEXT_FOUND_RESERVED_AT);
        found.put("(size)", KvLayout.TEXT_FOUND_SIZE);
        assertEquals(found, layout("kvi_text_found"));
        Map<String, Integer> memory = new LinkedHashMap<>();
        memory.put("pieces", KvLayout.MEMORY_STATISTICS_PIECES_AT);
        memory.put("bytes", KvLayout.MEMORY_STATISTICS_BYTES_AT);
        memory.put("evicted", KvLayout.MEMORY_STATISTICS_EVICTED_AT);
        memory.put("found", KvLayout.MEMORY_STATISTICS_FOUND_AT);
        memory.put("missed", KvLayout.MEMORY_STATISTICS_MISSED_AT);
        memory.put("(size)", KvLayout.MEMORY_STATISTICS_SIZE);
        assertEquals(memory, layout("ktk_memory_statistics"));
    }

    @Test
    void the_tokenizers_constants_are_the_headers() {
        assertEquals(defined("KTK_NFC"), KvLayout.NFC);
        assertEquals(defined("KTK_IGNORE_MERGES"), KvLayout.IGNORE_MERGES);
        assertEquals(defined("KTK_SPECIAL"), KvLayout.SPECIAL);
        assertEquals(defined("KTK_NORMALIZED"), KvLayout.NORMALIZED);
        assertEquals(defined("KTK_LSTRIP"), KvLayout.LSTRIP);
        assertEquals(defined("KTK_RSTRIP"), KvLayout.RSTRIP);
        assertEquals(defined("KTK_ADD_SPECIAL"), KvLayout.ADD_SPECIAL);
        assertEquals(defined("KTK_PARSE_SPECIAL"), KvLayout.PARSE_SPECIAL);
        assertEquals(defined("KTK_UTF16"), KvLayout.UTF16);
        for (BpeParts.Pattern pattern : BpeParts.Pattern.values()) {
            assertEquals(defined("KTK_" + pattern), NativeBpeTokenizer.code(pattern));
        }
    }

    @Test
    void the_buffer_for_results_holds_every_result() {
        long room = new Scratch().out.capacity();
        for (String struct :
                new String[] {
                    "kvi_applied",
                    "kvi_statistics",
                    "kvt_statistics",
                    "kvi_text_found",
                    "ktk_memory_statistics"
                }) {
            assertTrue(room >= layout(struct).get("(size)"), struct);
        }
    }

    @Test
    void constants_are_the_headers() {
        assertEquals(defined("KVI_ABI_VERSION"), KvLayout.ABI_VERSION);
        assertEquals(defined("KVI_STORED_TOKENS"), KvLayout.STORED_TOKENS);
        assertEquals(defined("KVI_REMOVED"), KvLayout.REMOVED);
        assertEquals(defined("KVI_CLEARED"), KvLayout.CLEARED);
        assertEquals(defined("KVI_HAS_PARENT"), KvLayout.HAS_PARENT);
        assertEquals(defined("KVI_BIGRAMS"), KvLayout.BIGRAMS);
        assertEquals(defined("KVI_PAGE_DIGEST"), PageRecipe.DIGEST_BYTES);
        assertEquals(defined("KVI_ALL_TIERS"), KvLayout.ALL_TIERS);
        assertEquals(defined("KVI_MAX_SLOTS"), PrefixIndex.MAX_SLOTS);
        assertEquals(defined("KVI_MAX_DOMAINS"), PrefixIndex.MAX_DOMAINS);
        assertEquals(mask("KVI_SLOT_NUMBER"), new WorkerSlot(-1).index());
        assertEquals(defined("KVI_MAX_BLOCK_SIZE"), PrefixIndex.MAX_BLOCK_SIZE);
        assertEquals(defined("KVI_MAX_BLOCKS"), KvLayout.MAX_BLOCKS);
        assertEquals(defined("KVI_TIERS"), Tier.COUNT);
        for (Tier tier : Tier.values()) {
            assertEquals(defined("KVI_TIER_" + tier.name()), tier.number());
        }
        assertEquals(status("KVI_OK"), KvLayout.OK);
        assertEquals(status("KVI_E_FULL"), KvLayout.E_FULL);
        assertEquals(status("KVI_E_SLOT"), KvLayout.E_SLOT);
        assertEquals(status("KVI_E_CAPACITY"), KvLayout.E_CAPACITY);
        assertEquals(status("KVI_E_ARGUMENT"), KvLayout.E_ARGUMENT);
    }

    @Test
    void control_a_field_that_moved_is_noticed() {
        String moved = header.replace("uint8_t kind;", "uint32_t kind;");
        assertThrows(
                AssertionError.class,
                () -> assertEquals(layout("kvi_event"), layout(moved, "kvi_event")));
    }

    private Map<String, Integer> layout(String struct) {
        return layout(header, struct);
    }

    /** Offset per field in order of declaration, and the size under {@code (size)}. */
    private static Map<String, Integer> layout(String text, String struct) {
        Matcher body =
                Pattern.compile("typedef struct " + struct + " \\{(.*?)\\} " + struct + ";", 32)
                        .matcher(text);
        if (!body.find()) {
            throw new AssertionError(HEADER + " has no struct " + struct);
        }
        Map<String, Integer> offsets = new LinkedHashMap<>();
        int at = 0;
        int alignment = 1;
        Matcher field =
                Pattern.compile("(?:uint(\\d+)_t|const \\w+\\*) (\\w+)(?:\\[(\\w+)\\])?;")
                        .matcher(body.group(1));
        while (field.find()) {
            int bytes = field.group(1) == null ? Long.BYTES : Integer.parseInt(field.group(1)) / 8;
            int count = field.group(3) == null ? 1 : define(text, field.group(3));
            at = up(at, bytes);
            offsets.put(field.group(2), at);
            at += bytes * count;
            alignment = Math.max(alignment, bytes);
        }
        offsets.put("(size)", up(at, alignment));
        return offsets;
    }

    private static int up(int at, int alignment) {
        return (at + alignment - 1) / alignment * alignment;
    }

    private int defined(String name) {
        return define(header, name);
    }

    private int mask(String name) {
        Matcher found = Pattern.compile("#define " + name + " 0x(\\w+)u").matcher(header);
        assertTrue(found.find(), name);
        return Integer.parseInt(found.group(1), 16);
    }

    private static int define(String text, String name) {
        return number(text, "#define " + name + " (\\d+)u");
    }

    private int status(String name) {
        return number(header, "\\b" + name + " = (-?\\d+)");
    }

    private static int number(String text, String pattern) {
        Matcher found = Pattern.compile(pattern).matcher(text);
        if (!found.find()) {
            throw new AssertionError(HEADER + " has nothing like " + pattern);
        }
        return Integer.parseInt(found.group(1));
    }

    private static String read(Path header) {
        try {
            return Files.readString(header);
        } catch (IOException e) {
            throw new AssertionError("run from the project's root: " + header, e);
        }
    }
}
