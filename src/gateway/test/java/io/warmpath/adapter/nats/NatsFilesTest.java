package io.warmpath.adapter.nats;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import java.io.IOException;
import org.junit.jupiter.api.Test;

/** What a store sends of a file, whatever its description says. */
class NatsFilesTest {
    @Test
    void a_file_grows_with_what_comes_up_to_its_bound() throws IOException {
        NatsFiles.Bounded out = new NatsFiles.Bounded();
        byte[] piece = new byte[1 << 20];
        out.write(7);
        for (int i = 0; i < 63; i++) {
            out.write(piece);
        }
        assertThrows(NatsCall.Damaged.class, () -> out.write(piece));
        assertEquals((63 << 20) + 1, out.bytes.size());
    }
}
