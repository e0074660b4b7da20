package io.warmpath.api.request;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.util.Arrays;
import org.junit.jupiter.api.Test;

/** Strings are stepped over eight bytes at a time; here byte by byte says what is right. */
class JsonBytesTest {
    private static final int LONGEST = 3 * Long.BYTES + 1;

    private final JsonBytes json = new JsonBytes();

    @Test
    void every_byte_is_seen_at_every_place_of_a_string() {
        for (int length = 1; length <= LONGEST; length++) {
            for (int at = 0; at < length; at++) {
                for (int value = 0; value < 256; value++) {
                    byte[] text = plain(length);
                    text[at] = (byte) value;
                    check(text);
                }
            }
        }
    }

    @Test
    void of_two_bytes_that_matter_the_first_decides() {
        for (int at = 1; at < Long.BYTES; at++) {
            for (int pair = 0; pair < 1 << 16; pair++) {
                byte[] text = plain(LONGEST);
                text[0] = (byte) pair;
                text[at] = (byte) (pair >>> 8);
                check(text);
            }
        }
    }

    private static byte[] plain(int length) {
        byte[] text = new byte[length];
        Arrays.fill(text, (byte) 'n'); // behind a backslash it is a line feed
        return text;
    }

    private void check(byte[] text) {
        byte[] quoted = new byte[text.length + 2];
        quoted[0] = '"';
        System.arraycopy(text, 0, quoted, 1, text.length);
        quoted[quoted.length - 1] = '"';
        json.set(quoted, quoted.length);
        assertEquals(slowly(quoted), json.string(1), () -> Arrays.toString(text));
    }

    /** The closing quote, or ODD. */
    private static int slowly(byte[] quoted) {
        for (int p = 1; p < quoted.length; p++) {
            byte c = quoted[p];
            if (c == '"') {
                return p;
            }
            if (c == '\\') {
                p++;
                boolean right = p < quoted.length && "\"\\/bfnrt".indexOf(quoted[p]) >= 0;
                if (!right) {
                    return JsonBytes.ODD;
                }
            } else if (c < 0x20 && (c >= 0 || !isTwoByteCharacter(quoted, p++))) {
                return JsonBytes.ODD;
            }
        }
        return JsonBytes.ODD;
    }

    /** Pairs make those of two bytes, and no longer ones. */
    private static boolean isTwoByteCharacter(byte[] quoted, int p) {
        int lead = quoted[p] & 0xff;
        return lead >= 0xc2 && lead < 0xe0 && (quoted[p + 1] & 0xc0) == 0x80;
    }
}
