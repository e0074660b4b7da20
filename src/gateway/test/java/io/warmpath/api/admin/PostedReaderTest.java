package io.warmpath.api.admin;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import io.warmpath.events.PostedBatch;
import io.warmpath.fault.GatewayError;
import io.warmpath.fault.GatewayException;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class PostedReaderTest {
    private static final String BODY =
            "{\"worker\":\"w\",\"dp_rank\":0,\"epoch\":1,\"sequence\":0,\"ts\":1.5,\"events\":["
                    + "{\"type\":\"AllBlocksCleared\"},"
                    + "{\"type\":\"BlockStored\",\"block_hashes\":[7],"
                    + "\"parent_block_hash\":null,\"token_ids\":[0,1],\"block_size\":2,"
                    + "\"medium\":\"GPU\",\"cache_salt\":\"s\"}]}";

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            quoteCharacter = '`',
            textBlock =
                    """
                    "worker":"w"|"worker":7|worker
                    "worker":"w"|"wrker":"w"|wrker
                    "epoch":1,|""|epoch
                    "epoch":1|"epoch":-1|epoch
                    "sequence":0|"sequence":0.5|sequence
                    "dp_rank":0|"dp_rank":4000|dp_rank
                    "ts":1.5|"ts":"now"|ts
                    "type":"BlockStored"|"type":"Stored"|events[1].type
                    "type":"BlockStored"|"type":"BlockStored","x":1|events[1].x
                    [7]|[]|events[1].block_hashes
                    [7]|[0]|events[1].block_hashes[0]
                    [7]|["18446744073709551616"]|events[1].block_hashes[0]
                    [7]|["-9223372036854775809"]|events[1].block_hashes[0]
                    [7]|[7.5]|events[1].block_hashes[0]
                    [0,1]|[0]|events[1].token_ids
                    [0,1]|[0,4294967296]|events[1].token_ids[1]
                    [0,1]|[0,-1]|events[1].token_ids[1]
                    "block_size":2|"block_size":0|events[1].block_size
                    "medium":"GPU"|"medium":"TAPE"|events[1].medium
                    "parent_block_hash":null|"parent_block_hash":0|events[1].parent_block_hash
                    "cache_salt":"s"|"cache_salt":""|events[1].cache_salt
                    """)
    void a_wrong_member_is_named_by_its_path(String right, String wrong, String path) {
        String with = wrong.equals("\"\"") ? "" : wrong;
        assertEquals(path, refusal(BODY.replace(right, with).getBytes(StandardCharsets.UTF_8)));
    }

    @Test
    void the_same_without_the_mistakes_is_read() {
        PostedBatch batch = PostedReader.JSON.read(BODY.getBytes(StandardCharsets.UTF_8));
        assertEquals("w", batch.worker());
        assertEquals(1, batch.epoch());
        assertEquals(2, batch.batch().events().size());
    }

    @Test
    void any_bytes_are_a_bad_request_at_worst() {
        long seed = System.nanoTime();
        Random random = new Random(seed);
        byte[] good = BODY.getBytes(StandardCharsets.UTF_8);
        for (int round = 0; round < 20_000; round++) {
            byte[] bytes = new byte[random.nextInt(64)];
            random.nextBytes(bytes);
            readOrRefused(PostedReader.MSGPACK, bytes, seed);
            byte[] changed = Arrays.copyOf(good, good.length);
            changed[random.nextInt(changed.length)] = (byte) random.nextInt();
            readOrRefused(PostedReader.JSON, changed, seed);
        }
    }

    private static void readOrRefused(PostedReader reader, byte[] bytes, long seed) {
        try {
            reader.read(bytes);
        } catch (GatewayException e) {
            assertEquals(400, e.error().httpStatus(), "seed " + seed);
        }
    }

    private static String refusal(byte[] body) {
        GatewayException e =
                assertThrows(GatewayException.class, () -> PostedReader.JSON.read(body));
        return ((GatewayError.BadRequest) e.error()).param();
    }
}
