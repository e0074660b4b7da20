package io.warmpath.adapter.zmq;

import java.nio.charset.StandardCharsets;
import org.jspecify.annotations.Nullable;

/**
 * The names that engines write into every event, found by their bytes: a message of one block holds
 * eight or more of them, and making each a string anew cost more than all the rest of the message.
 * Immutable. Any thread; O(length), no allocation.
 */
final class KnownWords {
    /** Of batches, of events, and what often stands in their fields. */
    static final KnownWords OF_EVENTS =
            new KnownWords(
                    "ts",
                    "events",
                    "data_parallel_rank",
                    "attn_dp_rank",
                    "dp_rank",
                    "type",
                    "BlockStored",
                    "BlockRemoved",
                    "AllBlocksCleared",
                    "block_hashes",
                    "parent_block_hash",
                    "token_ids",
                    "block_size",
                    "lora_id",
                    "medium",
                    "lora_name",
                    "cache_salt",
                    "session_id",
                    "extra_keys",
                    "group_idx",
                    "kv_cache_spec_kind",
                    "kv_cache_spec_sliding_window",
                    "locality",
                    "ownership",
                    "lookahead_token_ids",
                    "source_kind",
                    "block_mm_infos",
                    "GPU",
                    "CPU",
                    "CPU_PINNED",
                    "LOCAL",
                    "full_attention");

    private final String[] table;
    private final int longest;

    KnownWords(String... words) {
        int size = Integer.highestOneBit(Math.max(1, words.length)) * 4;
        table = new String[size];
        int most = 0;
        for (String word : words) {
            byte[] raw = word.getBytes(StandardCharsets.US_ASCII);
            int at = slot(raw, raw.length);
            while (table[at] != null) {
                at = (at + 1) & (size - 1);
            }
            table[at] = word;
            most = Math.max(most, raw.length);
        }
        longest = most;
    }

    /** The word that the first bytes are; null when it is none of these. */
    @Nullable String find(byte[] raw, int length) {
        if (length > longest) {
            return null;
        }
        for (int at = slot(raw, length); table[at] != null; at = (at + 1) & (table.length - 1)) {
            if (equal(table[at], raw, length)) {
                return table[at];
            }
        }
        return null;
    }

    private static boolean equal(String word, byte[] raw, int length) {
        if (word.length() != length) {
            return false;
        }
        for (int i = 0; i < length; i++) {
            if (word.charAt(i) != raw[i]) {
                return false;
            }
        }
        return true;
    }

    private int slot(byte[] raw, int length) {
        int hash = length;
        for (int i = 0; i < length; i++) {
            hash = 31 * hash + raw[i];
        }
        return (hash ^ (hash >>> 15)) & (table.length - 1);
    }
}
