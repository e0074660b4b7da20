package io.warmpath.api.connection;

import java.util.Arrays;
import java.util.SplittableRandom;

/**
 * Streams of HTTP/1 requests: made of the grammar, with as many oddities as the seed wants, then
 * damaged. Each is followed by a sound request as a rule, which shows where a reader has ended. One
 * thread.
 */
final class RequestStreams {
    private SplittableRandom random = new SplittableRandom(0);
    private int oddOf; // one in so many parts is odd
    private byte[] bytes = new byte[1 << 12];
    private int length;

    /** The stream of a seed. */
    byte[] make(long seed) {
        random = new SplittableRandom(seed);
        oddOf =
                switch (random.nextInt(4)) {
                    case 0 -> Integer.MAX_VALUE;
                    case 1 -> 60;
                    case 2 -> 24;
                    default -> 8;
                };
        length = 0;
        for (int requests = 1 + random.nextInt(3); requests > 0; requests--) {
            request();
        }
        for (int n = random.nextInt(8) - 4; n > 0 && length > 0; n--) {
            damage();
        }
        if (random.nextInt(4) > 0) {
            put(RequestParts.LAST);
        }
        return Arrays.copyOf(bytes, length);
    }

    /** Where reads of the socket end, for {@link #make}'s stream: none as a rule. */
    static int[] cuts(long seed, int length) {
        SplittableRandom random = new SplittableRandom(~seed);
        int count = random.nextInt(8) - 4;
        return random.ints(Math.max(0, count), 0, length + 1).sorted().toArray();
    }

    private boolean odd() {
        return oddOf != Integer.MAX_VALUE && random.nextInt(oddOf) == 0;
    }

    private byte[] of(byte[][] sound, byte[][] odd) {
        byte[][] from = odd() ? odd : sound;
        return from[random.nextInt(from.length)];
    }

    private void line(byte[] text) {
        put(text);
        put(of(RequestParts.ENDS, RequestParts.ODD_ENDS));
    }

    private void request() {
        put(of(RequestParts.METHODS, RequestParts.ODD_METHODS));
        put(' ');
        put(of(RequestParts.TARGETS, RequestParts.ODD_TARGETS));
        put(' ');
        line(of(RequestParts.VERSIONS, RequestParts.ODD_VERSIONS));
        byte[] body = RequestParts.BODIES[random.nextInt(RequestParts.BODIES.length)];
        boolean hostFirst = random.nextBoolean();
        if (hostFirst) {
            line(of(RequestParts.HOSTS, RequestParts.ODD_HOSTS));
        }
        headers();
        int framing = random.nextInt(4);
        if (framing == 0) {
            line(of(RequestParts.CODINGS, RequestParts.ODD_CODINGS));
            if (odd()) {
                line(contentLength(body.length));
            }
        } else if (framing < 3) {
            line(contentLength(body.length));
            if (odd()) {
                line(of(RequestParts.CODINGS, RequestParts.ODD_CODINGS));
            }
        }
        headers();
        if (!hostFirst) {
            line(of(RequestParts.HOSTS, RequestParts.ODD_HOSTS));
        }
        put(of(RequestParts.ENDS, RequestParts.ODD_ENDS));
        if (framing == 0) {
            chunks(body);
        } else if (framing < 3 || odd()) {
            put(body);
        }
    }

    private void headers() {
        for (int n = random.nextInt(3); n > 0; n--) {
            line(of(RequestParts.HEADERS, RequestParts.ODD_HEADERS));
        }
    }

    private byte[] contentLength(int sound) {
        if (!odd()) {
            return RequestParts.ascii(
                    (random.nextInt(4) == 0 ? "content-length:" : "Content-Length: ") + sound);
        }
        return RequestParts.ascii(
                switch (random.nextInt(14)) {
                    case 0 -> "Content-Length: " + (sound + 1);
                    case 1 -> "Content-Length: " + Math.max(0, sound - 1);
                    case 2 -> "Content-Length: +" + sound;
                    case 3 -> "Content-Length: 0" + sound;
                    case 4 -> "Content-Length: " + sound + ", " + sound;
                    case 5 -> "Content-Length: " + sound + "\r\nContent-Length: " + sound;
                    case 6 -> "Content-Length: " + sound + "\r\nContent-Length: 0";
                    case 7 -> "Content-Length: -" + sound;
                    case 8 -> "Content-Length: 0x" + Integer.toHexString(sound);
                    case 9 -> "Content-Length:";
                    case 10 -> "Content-Length : " + sound;
                    case 11 -> "Content-Length: 18446744073709551616";
                    case 12 -> "Content-Length: " + sound + " " + sound;
                    default -> "Content-Length:\r\n " + sound;
                });
    }

    private void chunks(byte[] body) {
        int at = 0;
        while (at < body.length) {
            int size = 1 + random.nextInt(body.length - at);
            String digits = Integer.toHexString(size);
            put(RequestParts.ascii(odd() ? oddSize(digits) : digits));
            line(of(RequestParts.EXTENSIONS, RequestParts.ODD_EXTENSIONS));
            put(body, at, size);
            put(of(RequestParts.ENDS, RequestParts.ODD_ENDS));
            at += size;
        }
        put(RequestParts.ascii(odd() ? oddSize("0") : "0"));
        line(of(RequestParts.EXTENSIONS, RequestParts.ODD_EXTENSIONS));
        put(of(RequestParts.TRAILERS, RequestParts.ODD_TRAILERS));
        put(of(RequestParts.ENDS, RequestParts.ODD_ENDS));
    }

    private String oddSize(String digits) {
        return switch (random.nextInt(8)) {
            case 0 -> "0x" + digits;
            case 1 -> "+" + digits;
            case 2 -> "-" + digits;
            case 3 -> "000" + digits;
            case 4 -> "0000000000000" + digits;
            case 5 -> " " + digits;
            case 6 -> "";
            default -> "100000000" + digits;
        };
    }

    private void damage() {
        int at = random.nextInt(length);
        int more = 1 + random.nextInt(Math.min(8, length - at));
        switch (random.nextInt(8)) {
            case 0 -> bytes[at] = (byte) random.nextInt();
            case 1 -> bytes[at] ^= (byte) (1 << random.nextInt(8));
            case 2, 3 -> bytes[at] = RequestParts.SPICE[random.nextInt(RequestParts.SPICE.length)];
            case 4 -> {
                System.arraycopy(bytes, at + more, bytes, at, length - at - more);
                length -= more;
            }
            case 5 -> {
                put((byte) 0); // room
                System.arraycopy(bytes, at, bytes, at + 1, length - at - 1);
                bytes[at] = RequestParts.SPICE[random.nextInt(RequestParts.SPICE.length)];
            }
            case 6 -> put(bytes, at, more);
            default -> length = at;
        }
    }

    private void put(int b) {
        put(new byte[] {(byte) b}, 0, 1);
    }

    private void put(byte[] text) {
        put(text, 0, text.length);
    }

    private void put(byte[] text, int from, int more) {
        if (bytes.length - length < more) {
            bytes = Arrays.copyOf(bytes, 2 * (length + more));
        }
        System.arraycopy(text, from, bytes, length, more);
        length += more;
    }
}
