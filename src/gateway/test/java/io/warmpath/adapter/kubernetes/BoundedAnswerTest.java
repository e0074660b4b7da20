package io.warmpath.adapter.kubernetes;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import java.io.IOException;
import java.io.InputStream;
import java.util.Arrays;
import org.junit.jupiter.api.Test;

class BoundedAnswerTest {
    private static final InputStream ENDLESS =
            new InputStream() {
                @Override
                public int read() {
                    return ' ';
                }

                @Override
                public int read(byte[] b, int from, int length) {
                    Arrays.fill(b, from, from + length, (byte) ' ');
                    return length;
                }
            };

    @Test
    void each_part_has_its_bound() throws IOException {
        try (BoundedAnswer in = new BoundedAnswer(ENDLESS)) {
            byte[] most = new byte[BoundedAnswer.MOST_BYTES];
            assertEquals(most.length, in.read(most));
            in.next();
            assertEquals(' ', in.read());
            assertEquals(most.length - 1, in.read(most, 1, most.length - 1));
            assertThrows(IOException.class, in::read);
        }
    }
}
