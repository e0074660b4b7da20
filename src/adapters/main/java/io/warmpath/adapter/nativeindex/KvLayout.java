package io.warmpath.adapter.nativeindex;

/**
 * Numbers of {@code kvindex.h}, {@code kvtracker.h} and {@code kvtokens.h}: record sizes, field
 * offsets in bytes, kinds and limits. The headers assert the same numbers at compile time; {@code
 * KvLayoutTest} computes them from the headers' text and compares.
 */
final class KvLayout {
    static final int ABI_VERSION = 8;

    /** Flag of kvi_page_digests. */
    static final int BIGRAMS = 1;

    static final int EVENT_SIZE = 40;
    static final int EVENT_SIZE_AT = 0;
    static final int EVENT_KIND_AT = 4;
    static final int EVENT_TIER_AT = 5;
    static final int EVENT_FLAGS_AT = 6;
    static final int EVENT_SLOT_AT = 8;
    static final int EVENT_N_AT = 12;
    static final int EVENT_BLOCK_SIZE_AT = 16;
    static final int EVENT_RESERVED_AT = 20;
    static final int EVENT_PARENT_AT = 24;
    static final int EVENT_SEED_AT = 32;

    static final byte STORED_TOKENS = 1;
    static final byte REMOVED = 3;
    static final byte CLEARED = 4;
    static final short HAS_PARENT = 1;

    static final int APPLIED_SIZE = 40;
    static final int APPLIED_APPLIED_AT = 0;
    static final int APPLIED_ORPHANS_AT = 8;
    static final int APPLIED_UNKNOWN_REMOVED_AT = 16;
    static final int APPLIED_IGNORED_AT = 24;
    static final int APPLIED_MALFORMED_AT = 32;

    static final int HIT_SIZE = 20;
    static final int HIT_SLOT_AT = 0;
    static final int HIT_DEPTH_AT = 4;

    static final int TIER_BLOCKS_SIZE = 32;
    static final int TIER_BLOCKS_BLOCKS_AT = 0;

    static final int STATISTICS_SIZE = 120;
    static final int STATISTICS_SLOTS_AT = 0;
    static final int STATISTICS_BLOCKS_AT = 8;
    static final int STATISTICS_RESIDENCIES_AT = 16;
    static final int STATISTICS_RUNS_AT = 24;
    static final int STATISTICS_ORPHANS_AT = 32;
    static final int STATISTICS_BYTES_AT = 40;
    static final int STATISTICS_GHOSTS_AT = 48;
    static final int STATISTICS_MOVES_AT = 56;
    static final int STATISTICS_CONFLICTS_AT = 64;
    static final int STATISTICS_ORPHANS_GIVEN_UP_AT = 72;
    static final int STATISTICS_REFUSED_AT = 80;
    static final int STATISTICS_BYTES_IN_USE_AT = 88;
    static final int STATISTICS_DECISIONS_AT = 96;
    static final int STATISTICS_DECISIONS_ENDED_BY_TIME_AT = 104;
    static final int STATISTICS_DECISIONS_ENDED_BY_CAPACITY_AT = 112;

    static final int CONFIG_SIZE = 56;
    static final int CONFIG_SIZE_AT = 0;
    static final int CONFIG_GHOST_PERCENT_AT = 4;
    static final int CONFIG_ORPHAN_LIMIT_AT = 8;
    static final int CONFIG_MAX_BLOCKS_AT = 16;
    static final int CONFIG_BYTE_BUDGET_AT = 24;
    static final int CONFIG_DECISION_TTL_AT = 32;
    static final int CONFIG_DECISION_CAPACITY_AT = 40;
    static final int CONFIG_QUERY_BUDGET_AT = 48;
    static final int CONFIG_RESERVED_AT = 52;

    static final int QUERY_SIZE = 24;
    static final int QUERY_OFFSET_AT = 0;
    static final int QUERY_COUNT_AT = 8;
    static final int QUERY_NAME_SPACE_AT = 12;
    static final int QUERY_BUDGET_AT = 16;
    static final int QUERY_RESERVED_AT = 20;

    static final int WATERMARK_SIZE = 16;
    static final int WATERMARK_SOURCE_AT = 0;
    static final int WATERMARK_SEQUENCE_AT = 8;

    static final int SNAPSHOT_SLOT_SIZE = 24;
    static final int SNAPSHOT_SLOT_SLOT_AT = 0;
    static final int SNAPSHOT_SLOT_DOMAIN_AT = 4;
    static final int SNAPSHOT_SLOT_NAME_SPACE_AT = 8;
    static final int SNAPSHOT_SLOT_RANK_AT = 12;
    static final int SNAPSHOT_SLOT_WORKER_AT = 16;

    static final int SNAPSHOT_INFO_SIZE = 48;
    static final int SNAPSHOT_INFO_BYTES_AT = 0;
    static final int SNAPSHOT_INFO_RUNS_AT = 8;
    static final int SNAPSHOT_INFO_DROPPED_RUNS_AT = 16;
    static final int SNAPSHOT_INFO_DROPPED_NAMES_AT = 24;
    static final int SNAPSHOT_INFO_LONGEST_HOLD_AT = 32;
    static final int SNAPSHOT_INFO_WATERMARKS_AT = 40;
    static final int SNAPSHOT_INFO_SLOTS_AT = 44;

    static final int TRACKER_CONFIG_SIZE = 24;
    static final int TRACKER_CONFIG_SIZE_AT = 0;
    static final int TRACKER_CONFIG_BLOCK_SIZE_AT = 4;
    static final int TRACKER_CONFIG_HASHING_AT = 8;
    static final int TRACKER_CONFIG_RESERVED_AT = 12;
    static final int TRACKER_CONFIG_MAX_BLOCKS_AT = 16;

    static final int POSITION = 0;
    static final int CHAINED = 1;

    static final int TRACKER_HIT_SIZE = 8;
    static final int TRACKER_HIT_BACKEND_AT = 0;
    static final int TRACKER_HIT_BLOCKS_AT = 4;

    static final int TRACKER_STATISTICS_SIZE = 32;
    static final int TRACKER_STATISTICS_BACKENDS_AT = 0;
    static final int TRACKER_STATISTICS_BLOCKS_AT = 8;
    static final int TRACKER_STATISTICS_BYTES_AT = 16;
    static final int TRACKER_STATISTICS_EVICTED_AT = 24;

    static final int TOKENIZER_CONFIG_SIZE = 96;
    static final int TOKENIZER_CONFIG_SIZE_AT = 0;
    static final int TOKENIZER_CONFIG_FLAGS_AT = 4;
    static final int TOKENIZER_CONFIG_BYTES_AT = 8;
    static final int TOKENIZER_CONFIG_BYTE_COUNT_AT = 16;
    static final int TOKENIZER_CONFIG_VOCABULARY_AT = 24;
    static final int TOKENIZER_CONFIG_VOCABULARY_COUNT_AT = 72;

    static final int NFC = 1;
    static final int IGNORE_MERGES = 2;

    static final int TOKEN_SIZE = 24;
    static final int TOKEN_OFFSET_AT = 0;
    static final int TOKEN_LENGTH_AT = 8;
    static final int TOKEN_ID_AT = 12;
    static final int TOKEN_FLAGS_AT = 16;
    static final int TOKEN_RESERVED_AT = 20;

    static final int SPECIAL = 1;
    static final int NORMALIZED = 2;
    static final int LSTRIP = 4;
    static final int RSTRIP = 8;

    static final int ADD_SPECIAL = 1;
    static final int PARSE_SPECIAL = 2;
    static final int UTF16 = 4;

    static final int TEXT_QUERY_SIZE = 48;
    static final int TEXT_QUERY_SIZE_AT = 0;
    static final int TEXT_QUERY_FLAGS_AT = 4;
    static final int TEXT_QUERY_TEXT_AT = 8;
    static final int TEXT_QUERY_LENGTH_AT = 16;
    static final int TEXT_QUERY_SEED_AT = 24;
    static final int TEXT_QUERY_MOST_NEW_AT = 32;
    static final int TEXT_QUERY_NAME_SPACE_AT = 40;
    static final int TEXT_QUERY_BLOCK_SIZE_AT = 44;

    static final int TEXT_FOUND_SIZE = 40;
    static final int TEXT_FOUND_TOKENS_AT = 0;
    static final int TEXT_FOUND_KNOWN_TOKENS_AT = 8;
    static final int TEXT_FOUND_NEW_BYTES_AT = 16;
    static final int TEXT_FOUND_BLOCKS_AT = 24;
    static final int TEXT_FOUND_HITS_AT = 28;
    static final int TEXT_FOUND_TOO_MUCH_AT = 32;
    static final int TEXT_FOUND_RESERVED_AT = 36;

    static final int MEMORY_STATISTICS_SIZE = 40;
    static final int MEMORY_STATISTICS_PIECES_AT = 0;
    static final int MEMORY_STATISTICS_BYTES_AT = 8;
    static final int MEMORY_STATISTICS_EVICTED_AT = 16;
    static final int MEMORY_STATISTICS_FOUND_AT = 24;
    static final int MEMORY_STATISTICS_MISSED_AT = 32;

    static final int GPT2 = 0;
    static final int LLAMA3 = 1;
    static final int QWEN2 = 2;
    static final int QWEN35 = 3;
    static final int O200K = 4;
    static final int TEKKEN = 5;
    static final int THREE_DIGITS = 6;
    static final int CJK = 7;
    static final int DEEPSEEK = 8;

    static final int ALL_TIERS = 255;

    static final int MAX_BLOCKS = 16_777_216;

    static final int OK = 0;
    static final int E_MEMORY = -2;
    static final int E_FULL = -3;
    static final int E_SLOT = -4;
    static final int E_ARGUMENT = -1;
    static final int E_CAPACITY = -5;
    static final int E_DAMAGED = -7;
    static final int E_IO = -8;

    private KvLayout() {}
}
