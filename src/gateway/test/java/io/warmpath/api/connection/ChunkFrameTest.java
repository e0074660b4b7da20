package io.warmpath.api.connection;

import static org.junit.jupiter.api.Assertions.assertEquals;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufUtil;
import io.netty.buffer.Unpooled;
import java.nio.charset.StandardCharsets;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class ChunkFrameTest {
    private static String written(byte[] b, int from, int length, boolean framed) {
        ByteBuf out = Unpooled.buffer();
        ChunkFrame.write(out, b, from, length, framed);
        return new String(ByteBufUtil.getBytes(out), StandardCharsets.US_ASCII);
    }

    @ParameterizedTest
    @ValueSource(ints = {1, 15, 16, 255, 256, 4095, 4096, 65_535, 65_536})
    void sizes_are_in_hexadecimal_without_leading_zeros(int length) {
        String frame = written(new byte[length], 0, length, true);
        assertEquals(Integer.toHexString(length) + "\r\n" + "\0".repeat(length) + "\r\n", frame);
    }

    @Test
    void a_body_whose_length_was_told_has_no_frame() {
        byte[] b = "a plain part".getBytes(StandardCharsets.US_ASCII);
        assertEquals("plain", written(b, 2, 5, false));
        assertEquals("5\r\nplain\r\n", written(b, 2, 5, true));
    }
}
