package io.warmpath.adapter.zmq;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.warmpath.Allocated;
import io.warmpath.events.KvBatch;
import io.warmpath.events.KvEvent;
import io.warmpath.events.MalformedBatchException;
import io.warmpath.prefix.MediaIds;
import java.io.IOException;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.msgpack.core.MessageBufferPacker;
import org.msgpack.core.MessagePack;

/** Shapes that no vector has. Payloads are written by the MessagePack library itself. */
class KvEventDecoderTest {
    private interface Write {
        void to(MessageBufferPacker out) throws IOException;
    }

    private static KvBatch decode(Write events) throws IOException, MalformedBatchException {
        try (MessageBufferPacker out = MessagePack.newDefaultBufferPacker()) {
            out.packArrayHeader(3).packDouble(1.5);
            events.to(out);
            out.packInt(0);
            return new KvEventDecoder().decode(out.toByteArray());
        }
    }

    /** Recorded from Dynamo's mocker 1.3.1: taking the number for a medium lost every removal. */
    @Test
    void a_removal_with_an_adapter_number_in_place_of_the_medium_is_a_removal_from_the_gpu()
            throws Exception {
        KvBatch batch =
                decode(
                        out -> {
                            out.packArrayHeader(1).packArrayHeader(3).packString("BlockRemoved");
                            out.packArrayHeader(2).packLong(7).packLong(8);
                            out.packInt(0);
                        });
        assertEquals(0, batch.badEvents());
        KvEvent.Removed removed =
                assertInstanceOf(KvEvent.Removed.class, batch.events().getFirst());
        assertArrayEquals(new long[] {7, 8}, removed.hashes());
        assertNull(removed.medium());
    }

    @Test
    void a_salt_in_the_first_block_of_a_continued_prompt_is_not_taken_for_one() throws Exception {
        KvEvent.Stored stored = storedWithKeys(true, "x");
        assertNull(stored.salt());
        assertEquals(0, stored.plainBlocks());
    }

    @Test
    void a_salt_in_the_first_block_of_a_prompt_names_the_space() throws Exception {
        KvEvent.Stored stored = storedWithKeys(false, "x");
        assertEquals("x", stored.salt());
        assertEquals(2, stored.plainBlocks());
    }

    private static KvEvent.Stored storedWithKeys(boolean parent, String key) throws Exception {
        KvBatch batch =
                decode(
                        out -> {
                            out.packArrayHeader(1).packMapHeader(parent ? 6 : 5);
                            out.packString("type").packString("BlockStored");
                            out.packString("block_hashes").packArrayHeader(2);
                            out.packLong(1).packLong(2);
                            out.packString("token_ids").packArrayHeader(2).packInt(5).packInt(6);
                            out.packString("block_size").packInt(1);
                            out.packString("extra_keys").packArrayHeader(2);
                            out.packArrayHeader(1).packString(key);
                            out.packNil();
                            if (parent) {
                                out.packString("parent_block_hash").packLong(9);
                            }
                        });
        return assertInstanceOf(KvEvent.Stored.class, batch.events().getFirst());
    }

    private static KvEvent.Stored stored(int blockSize, long[] tokens, Write keys)
            throws Exception {
        KvBatch batch =
                decode(
                        out -> {
                            out.packArrayHeader(1).packMapHeader(5);
                            out.packString("type").packString("BlockStored");
                            out.packString("block_hashes");
                            out.packArrayHeader(tokens.length / blockSize);
                            for (int i = 0; i < tokens.length / blockSize; i++) {
                                out.packLong(i + 1);
                            }
                            out.packString("token_ids").packArrayHeader(tokens.length);
                            for (long token : tokens) {
                                out.packLong(token);
                            }
                            out.packString("block_size").packInt(blockSize);
                            out.packString("extra_keys");
                            keys.to(out);
                        });
        assertEquals(0, batch.badEvents());
        return assertInstanceOf(KvEvent.Stored.class, batch.events().getFirst());
    }

    private static void image(MessageBufferPacker out, String name, int start) throws IOException {
        out.packArrayHeader(2).packString(name).packInt(start);
    }

    /**
     * As vLLM writes it: in each block that an image touches where it began, from the block's first
     * token.
     */
    @Test
    void the_ids_of_an_image_take_the_place_of_its_placeholders() throws Exception {
        long[] tokens = {1, 2, 3, 9, 9, 9, 9, 9, 9, 4, 9, 9, 5, 6, 7, 8};
        KvEvent.Stored stored =
                stored(
                        4,
                        tokens,
                        out -> {
                            out.packArrayHeader(4);
                            out.packArrayHeader(1);
                            image(out, "a", 3);
                            out.packArrayHeader(1);
                            image(out, "a", -1);
                            out.packArrayHeader(2);
                            image(out, "a", -5);
                            image(out, "b", 2);
                            out.packNil();
                        });
        int[] want = {1, 2, 3, 0, 0, 0, 0, 0, 0, 4, 0, 0, 5, 6, 7, 8};
        MediaIds.of("a").put(want, 3, 3, 9);
        MediaIds.of("b").put(want, 10, 10, 12);
        assertArrayEquals(want, stored.tokens());
        assertEquals(4, stored.plainBlocks());
        assertEquals(want[3], want[5]);
        assertTrue(want[3] < 0 && want[4] < 0 && want[3] != want[4] && want[3] != want[10]);
    }

    @Test
    void an_image_ends_where_the_next_one_begins() throws Exception {
        KvEvent.Stored stored =
                stored(
                        4,
                        new long[] {9, 9, 9, 9},
                        out -> {
                            out.packArrayHeader(1).packArrayHeader(3);
                            image(out, "a", 0);
                            image(out, "b", 1);
                            image(out, "a", 3);
                        });
        int[] want = new int[4];
        MediaIds.of("a").put(want, 0, 0, 1);
        MediaIds.of("b").put(want, 1, 1, 3);
        MediaIds.of("a").put(want, 3, 3, 4);
        assertArrayEquals(want, stored.tokens());
    }

    @Test
    void other_keys_end_the_blocks_that_ids_name_and_places_outside_change_nothing()
            throws Exception {
        long[] tokens = {5, 6, 7};
        KvEvent.Stored stored =
                stored(
                        1,
                        tokens,
                        out -> {
                            out.packArrayHeader(3);
                            out.packArrayHeader(1);
                            image(out, "a", 1);
                            out.packArrayHeader(1);
                            out.packArrayHeader(2).packString("a").packString("b");
                            out.packNil();
                        });
        assertArrayEquals(new int[] {5, 6, 7}, stored.tokens());
        assertEquals(1, stored.plainBlocks());
        assertEquals(
                0,
                stored(
                                1,
                                tokens,
                                out -> {
                                    out.packArrayHeader(1).packArrayHeader(1);
                                    out.packBinaryHeader(2).addPayload(new byte[] {1, 2});
                                })
                        .plainBlocks());
    }

    /** SGLang's sentinels of images: 1,000,000 and 62 bits of a hash. */
    @Test
    void ids_wider_than_32_bits_are_those_of_media() throws Exception {
        long wide = 0x1234_5678_9abc_def0L;
        KvEvent.Stored stored =
                stored(1, new long[] {0xffff_ffffL, wide, 7}, MessageBufferPacker::packNil);
        assertArrayEquals(new int[] {-1, 0x9abc_def0, 7}, stored.tokens());
        assertEquals(0x9abc_def0, MediaIds.folded(wide));
        assertEquals(0x8000_0001, MediaIds.folded(0x1_0000_0001L));
    }

    @Test
    void many_levels_of_nesting_are_passed_over_without_recursion() throws Exception {
        int depth = 200_000;
        KvBatch batch =
                decode(
                        out -> {
                            out.packArrayHeader(1).packMapHeader(2);
                            out.packString("type").packString("AllBlocksCleared");
                            out.packString("later");
                            for (int i = 0; i < depth; i++) {
                                out.packArrayHeader(1);
                            }
                            out.packNil();
                        });
        assertEquals(1, batch.unknownFields());
        assertInstanceOf(KvEvent.Cleared.class, batch.events().getFirst());
    }

    /** Two maps whose declared pairs add up to more than an int: a counter of ints would wrap. */
    @Test
    void declared_sizes_that_overflow_an_int_are_refused() {
        byte[] payload = {
            (byte) 0x93,
            1,
            (byte) 0x91,
            (byte) 0x82,
            (byte) 0xa1,
            'k',
            (byte) 0xdf,
            0x7f,
            -1,
            -1,
            -1,
            (byte) 0xdf,
            0x7f,
            -1,
            -1,
            -1,
            0
        };
        assertThrows(MalformedBatchException.class, () -> new KvEventDecoder().decode(payload));
    }

    /** As many values as there are bytes behind it, the second of which is broken. */
    @ParameterizedTest
    @ValueSource(strings = {"block_hashes", "token_ids", "extra_keys"})
    void announced_lists_allocate_what_has_come(String field) throws Exception {
        int bytes = 1 << 20;
        byte[] payload;
        try (MessageBufferPacker out = MessagePack.newDefaultBufferPacker()) {
            out.packArrayHeader(2).packDouble(1.5).packArrayHeader(1).packMapHeader(1);
            out.packString(field).packArrayHeader(bytes).packString("x");
            out.writePayload(new byte[] {(byte) 0xc1}).writePayload(new byte[bytes]);
            payload = out.toByteArray();
        }
        long taken = Allocated.by(() -> new KvEventDecoder().decode(payload));
        assertTrue(taken < bytes, taken + " bytes for " + payload.length);
    }
}
