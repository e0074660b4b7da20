package io.warmpath.api.connection;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.netty.buffer.Unpooled;
import io.netty.channel.embedded.EmbeddedChannel;
import io.netty.handler.codec.http.HttpObject;
import io.netty.handler.codec.http.HttpRequest;
import io.netty.handler.codec.http.HttpRequestDecoder;
import io.netty.util.ReferenceCountUtil;
import io.warmpath.api.request.InferencePath;
import io.warmpath.api.request.RequestParser;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.SplittableRandom;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** What {@link RawHead} takes, the server's decoder takes in the same way. */
class RawHeadTest {
    private static final String START = "POST /v1/chat/completions HTTP/1.1\r\n";
    private static final int FUZZED = Integer.getInteger("test.fuzz", 100_000);
    private static final Long REPLAY = Long.getLong("warmpath.test.seed");

    private static byte[] bytes(String text) {
        return text.getBytes(StandardCharsets.ISO_8859_1);
    }

    private static RawHead read(String text) {
        byte[] b = bytes(text);
        return RawHead.read(b, b.length);
    }

    @Test
    void the_usual_heads_are_read() {
        String head =
                START
                        + "Host: gateway:8000\r\nAuthorization: Bearer a=b\r\naccept:*/*\r\n"
                        + "Connection: Keep-Alive\r\ncontent-LENGTH:  12  \r\nx-empty:\r\n\r\n";
        RawHead read = read(head + "{\"a\":1}");
        assertNotNull(read);
        assertEquals("/v1/chat/completions", read.path().path());
        assertEquals(RequestParser.Endpoint.CHAT, read.path().endpoint());
        assertEquals(12, read.bodyLength());
        assertEquals(head.length(), read.length());
        assertEquals("Bearer a=b", read.headers().get("authorization"));
        assertEquals("*/*", read.headers().get("Accept"));
        assertEquals("", read.headers().get("x-empty"));
        assertEquals("12", read.headers().get("content-length"));
        for (InferencePath path : InferencePath.ALL) {
            RawHead other =
                    read("POST " + path.path() + " HTTP/1.1\r\nhost:a\r\ncontent-length:1\r\n\r\n");
            assertNotNull(other, path.path());
            assertEquals(path, other.path());
        }
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "GET /v1/chat/completions HTTP/1.1\r\nHost: a\r\nContent-Length: 1\r\n\r\n",
                "post /v1/chat/completions HTTP/1.1\r\nHost: a\r\nContent-Length: 1\r\n\r\n",
                "POST /v1/chat/completions HTTP/1.0\r\nHost: a\r\nContent-Length: 1\r\n\r\n",
                "POST /v1/chat/completions  HTTP/1.1\r\nHost: a\r\nContent-Length: 1\r\n\r\n",
                "POST /v1/chat/completions HTTP/1.1\nHost: a\r\nContent-Length: 1\r\n\r\n",
                "POST /v1/chat/completions? HTTP/1.1\r\nHost: a\r\nContent-Length: 1\r\n\r\n",
                "POST /v1/chat/completions/ HTTP/1.1\r\nHost: a\r\nContent-Length: 1\r\n\r\n",
                "POST http://a/v1/chat/completions HTTP/1.1\r\nHost: a\r\nContent-Length: 1\r\n\r\n",
                "POST /v1/models HTTP/1.1\r\nHost: a\r\nContent-Length: 1\r\n\r\n",
                "\r\nPOST /v1/chat/completions HTTP/1.1\r\nHost: a\r\nContent-Length: 1\r\n\r\n"
            })
    void other_requests_are_left(String head) {
        assertNull(read(head));
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "",
                "Host: a",
                "Content-Length: 1",
                "Host: a|Host: a|Content-Length: 1",
                "Host:|Content-Length: 1",
                "Host: a b|Content-Length: 1",
                "Host: a/b|Content-Length: 1",
                "Host: a@b|Content-Length: 1",
                "Host: a|Content-Length: 1|Content-Length: 1",
                "Host: a|Content-Length: 1, 1",
                "Host: a|Content-Length: +1",
                "Host: a|Content-Length: -1",
                "Host: a|Content-Length: 0x1",
                "Host: a|Content-Length: 0",
                "Host: a|Content-Length: 07",
                "Host: a|Content-Length:",
                "Host: a|Content-Length: 1234567890",
                "Host: a|Content-Length : 1",
                "Host: a| Content-Length: 1",
                "Host: a|Content-Length: 1|Transfer-Encoding: chunked",
                "Host: a|Content-Length: 1|TRANSFER-ENCODING: identity",
                "Host: a|Transfer-Encoding: chunked",
                "Host: a|Content-Length: 1|Expect: 100-continue",
                "Host: a|Content-Length: 1|Upgrade: h2c",
                "Host: a|Content-Length: 1|Trailer: x",
                "Host: a|Content-Length: 1|Connection: close",
                "Host: a|Content-Length: 1|Connection: keep-alive, x-secret",
                "Host: a|Content-Length: 1|Connection: x",
                "Host: a|Content-Length: 1|Proxy-Connection: close",
                "Host: a|Content-Length: 1|x: a| folded",
                "Host: a|Content-Length: 1|x: a|\tfolded",
                "Host: a|Content-Length: 1|x: a\tb",
                "Host: a|Content-Length: 1|x: a\0b",
                "Host: a|Content-Length: 1|x: a\u007fb",
                "Host: a|Content-Length: 1|x: \u00e4",
                "Host: a|Content-Length: 1|x\u00e4: a",
                "Host: a|Content-Length: 1|x y: a",
                "Host: a|Content-Length: 1|: a",
                "Host: a|Content-Length: 1|nothing",
                "Host: a|Content-Length: 1|x: a\rb",
                "Host: a|Content-Length: 1|x: a\nb"
            })
    void heads_that_could_be_read_in_two_ways_are_left(String lines) {
        String head = START + lines.replace("|", "\r\n") + (lines.isEmpty() ? "" : "\r\n") + "\r\n";
        assertNull(read(head), head);
    }

    @Test
    void a_head_that_is_not_there_as_a_whole_is_left() {
        String head = START + "Host: a\r\nContent-Length: 1\r\n\r\n";
        for (int cut = 0; cut < head.length(); cut++) {
            assertNull(read(head.substring(0, cut)), head.substring(0, cut));
        }
        assertNotNull(read(head));
        String longer =
                START + "Host: a\r\nContent-Length: 1\r\nx: " + "y".repeat(RawHead.MAX_BYTES);
        assertNull(read(longer + "\r\n\r\n"));
    }

    @Test
    void what_is_taken_is_what_the_decoder_takes() {
        int taken = 0;
        for (int i = 0; i < (REPLAY == null ? FUZZED : 1); i++) {
            long seed = REPLAY == null ? 0x8ead_0000_0000L + i : REPLAY;
            byte[] b = fuzzed(new SplittableRandom(seed));
            RawHead read = RawHead.read(b, b.length);
            if (read != null) {
                taken++;
                sameAsDecoder(read, b, seed);
            }
        }
        assertTrue(REPLAY != null || taken > FUZZED / 20, "only " + taken + " were taken");
    }

    private static final List<String> LINES =
            List.of(
                    "Host: a",
                    "host: b:80",
                    "Content-Length: 7",
                    "content-length: 12",
                    "Content-Length: 007",
                    "Connection: keep-alive",
                    "connection: close",
                    "Transfer-Encoding: chunked",
                    "Accept: */*",
                    "X-A:b",
                    "x-empty: ",
                    "User-Agent: curl/8 (x; y) \"z\"",
                    "Keep-Alive: timeout=5",
                    "Expect: 100-continue",
                    "authorization: Bearer sk-1234");

    private static byte[] fuzzed(SplittableRandom random) {
        StringBuilder head = new StringBuilder(START);
        head.append("Host: gateway\r\n");
        for (int lines = random.nextInt(5); lines > 0; lines--) {
            head.append(LINES.get(random.nextInt(LINES.size()))).append("\r\n");
        }
        head.append("Content-Length: ").append(1 + random.nextInt(40)).append("\r\n\r\n");
        byte[] b = bytes(head.toString());
        for (int changes = random.nextInt(3); changes > 0; changes--) {
            int at = random.nextInt(b.length);
            switch (random.nextInt(3)) {
                case 0 -> b[at] = (byte) random.nextInt(256);
                case 1 -> b[at] = (byte) " \t\r\n:,;\0a0".charAt(random.nextInt(10));
                default -> {
                    byte[] less = Arrays.copyOf(b, b.length - 1);
                    System.arraycopy(b, at + 1, less, at, b.length - at - 1);
                    b = less;
                }
            }
        }
        return b;
    }

    private static void sameAsDecoder(RawHead read, byte[] b, long seed) {
        EmbeddedChannel channel = new EmbeddedChannel(new HttpRequestDecoder());
        byte[] body = new byte[read.bodyLength()];
        channel.writeInbound(
                Unpooled.wrappedBuffer(Arrays.copyOf(b, read.length())),
                Unpooled.wrappedBuffer(body));
        String about = "seed " + seed + ":\n" + new String(b, StandardCharsets.ISO_8859_1);
        HttpRequest request = channel.readInbound();
        assertNotNull(request, about);
        assertTrue(request.decoderResult().isSuccess(), about);
        assertEquals("POST", request.method().name(), about);
        assertEquals(read.path().path(), request.uri(), about);
        assertEquals(
                request.headers().entries().stream().map(Map.Entry::toString).toList(),
                read.headers().entries().stream().map(Map.Entry::toString).toList(),
                about);
        int length = 0;
        for (Object part = channel.readInbound(); part != null; part = channel.readInbound()) {
            assertTrue(((HttpObject) part).decoderResult().isSuccess(), about);
            length += ((io.netty.handler.codec.http.HttpContent) part).content().readableBytes();
            ReferenceCountUtil.release(part);
        }
        assertEquals(read.bodyLength(), length, about);
        channel.finishAndReleaseAll();
    }
}
