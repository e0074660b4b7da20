package io.warmpath.adapter.zmq;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;

import io.warmpath.events.KvBatch;
import io.warmpath.events.KvEvent;
import io.warmpath.events.MalformedBatchException;
import java.io.IOException;
import org.junit.jupiter.api.Test;
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

    @Test
    void a_later_block_with_an_image_ends_the_plain_blocks() throws Exception {
        KvBatch batch =
                decode(
                        out -> {
                            out.packArrayHeader(1).packMapHeader(5);
                            out.packString("type").packString("BlockStored");
                            out.packString("block_hashes").packArrayHeader(3);
                            out.packLong(1).packLong(2).packLong(3);
                            out.packString("token_ids").packArrayHeader(3);
                            out.packInt(5).packInt(6).packInt(7);
                            out.packString("block_size").packInt(1);
                            out.packString("extra_keys").packArrayHeader(3);
                            out.packNil();
                            out.packArrayHeader(1).packArrayHeader(2).packString("img").packInt(0);
                            out.packNil();
                        });
        KvEvent.Stored stored = assertInstanceOf(KvEvent.Stored.class, batch.events().getFirst());
        assertEquals(1, stored.plainBlocks());
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
}
