package io.warmpath.wiring.warmup;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;

import java.io.ByteArrayInputStream;
import java.io.EOFException;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import org.junit.jupiter.api.Test;

class MessagesTest {
    private static Messages of(String text) {
        return new Messages(new ByteArrayInputStream(text.getBytes(StandardCharsets.US_ASCII)));
    }

    private static String body(Messages.Message message) {
        return new String(message.body(), StandardCharsets.US_ASCII);
    }

    @Test
    void messages_follow_each_other_whatever_their_framing() throws IOException {
        Messages messages =
                of(
                        "POST / HTTP/1.1\r\nContent-Length: 3\r\n\r\nabc"
                                + "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"
                                + "2\r\nde\r\n1\r\nf\r\n0\r\n\r\nGET /x HTTP/1.1\r\n\r\n");
        Messages.Message first = messages.read();
        assertEquals("POST / HTTP/1.1", first.firstLine());
        assertEquals("abc", body(first));
        assertEquals("def", body(messages.read()));
        assertEquals("GET /x HTTP/1.1", messages.read().firstLine());
        assertNull(messages.read());
    }

    @Test
    void a_message_that_is_cut_anywhere_is_an_error_and_never_a_short_one() {
        String whole = "HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n2\r\nde\r\n0\r\n\r\n";
        for (int cut = 1; cut < whole.length(); cut++) {
            String part = whole.substring(0, cut);
            assertThrows(EOFException.class, () -> of(part).read(), part);
        }
    }
}
