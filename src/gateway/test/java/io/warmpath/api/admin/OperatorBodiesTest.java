package io.warmpath.api.admin;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import io.warmpath.fault.GatewayError;
import io.warmpath.fault.GatewayException;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.io.InputStream;
import org.junit.jupiter.api.Test;

class OperatorBodiesTest {
    private static final int LIMIT = 100;
    private static final GatewayError TOO_LARGE = new GatewayError.BodyTooLarge(LIMIT);

    private final OperatorBodies bodies = new OperatorBodies(2 * LIMIT);

    private static InputStream bytes(int n) {
        return new ByteArrayInputStream(new byte[n]);
    }

    /** Fails whoever reads of it. */
    private static InputStream unread() {
        return new InputStream() {
            @Override
            public int read() {
                throw new AssertionError("it was read");
            }

            @Override
            public int read(byte[] into, int from, int length) {
                return read();
            }
        };
    }

    private int read(InputStream in, String declared) throws IOException {
        return bodies.read(in, declared, LIMIT, TOO_LARGE, body -> body.length);
    }

    private void assertRefused(
            GatewayError.BodyTooLarge expected, InputStream in, String declared) {
        GatewayException refused = assertThrows(GatewayException.class, () -> read(in, declared));
        assertEquals(expected, refused.error());
    }

    @Test
    void a_body_up_to_the_limit_is_read_and_a_larger_one_is_not() throws IOException {
        assertEquals(LIMIT, read(bytes(LIMIT), "100"));
        assertEquals(LIMIT, read(bytes(LIMIT), null));
        assertEquals(0, read(bytes(0), null));
        GatewayError.BodyTooLarge refusal = new GatewayError.BodyTooLarge(LIMIT);
        assertRefused(refusal, bytes(LIMIT + 1), null);
        assertRefused(refusal, unread(), "101");
        assertRefused(refusal, unread(), "99999999999999999999");
        assertEquals(LIMIT, read(bytes(LIMIT), "100"), "nothing of those is held");
        assertEquals(LIMIT, read(bytes(LIMIT), "100"));
    }

    @Test
    void bodies_that_are_read_at_the_same_time_share_a_bound() throws IOException {
        int within =
                bodies.read(
                        bytes(LIMIT),
                        "100",
                        LIMIT,
                        TOO_LARGE,
                        first ->
                                bodies.read(
                                        bytes(60),
                                        "60",
                                        LIMIT,
                                        TOO_LARGE,
                                        second -> {
                                            GatewayException refused =
                                                    assertThrows(
                                                            GatewayException.class,
                                                            () -> read(unread(), "41"));
                                            assertEquals(503, refused.error().httpStatus());
                                            assertEquals(
                                                    1, refused.error().retryAfter().toSeconds());
                                            return read(bytes(40), "40"); // the rest of the room
                                        }));
        assertEquals(40, within);
        assertEquals(LIMIT, read(bytes(LIMIT), null), "all of it is free again");
    }
}
