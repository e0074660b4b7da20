package io.warmpath.upstream.answer;

import static java.nio.charset.StandardCharsets.ISO_8859_1;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.Arrays;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Every answer here is read in one piece, and cut in two at every place. */
class AnswerParserTest {
    private static final String CHUNKED = "HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n";

    /** What came out of one answer: {@code 200 body}, {@code bad: why}, with what was missing. */
    private static String read(AnswerParser parser, byte[] all, int... cuts) {
        parser.begin();
        StringBuilder body = new StringBuilder();
        int from = 0;
        for (int i = 0; i <= cuts.length; i++) {
            int to = i == cuts.length ? all.length : cuts[i];
            byte[] piece = new byte[7 + to - from]; // as behind body bytes of the same turn
            System.arraycopy(all, from, piece, 7, to - from);
            int end = parser.parse(piece, 5, 7, piece.length);
            body.append(new String(piece, 5, end - 5, ISO_8859_1));
            from = to;
        }
        AnswerHead head = parser.head();
        if (parser.isBad()) {
            return (head == null ? "" : head.status() + " " + body + " ")
                    + "bad: "
                    + parser.fault();
        }
        if (head == null) {
            return "no head";
        }
        String how = parser.isDone() ? "" : parser.endsAtClose() ? " until close" : " cut";
        return head.status() + " " + body + how;
    }

    private static void reads(String expected, String answer) {
        byte[] all = answer.getBytes(ISO_8859_1);
        AnswerParser parser = new AnswerParser();
        assertEquals(expected, read(parser, all), answer);
        for (int cut = 0; cut <= all.length; cut++) {
            assertEquals(expected, read(parser, all, cut), answer + " cut at " + cut);
        }
    }

    @Test
    void bodies_of_every_framing() {
        reads("200 abc", "HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\nabc");
        reads("200 ", "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n");
        reads("404 x", "HTTP/1.1 404 \r\nContent-Length:1\r\n\r\nx");
        reads("500 x", "HTTP/1.1 500\r\nContent-Length: 1 \r\n\r\nx");
        reads("200 abcdefghijklmnop", CHUNKED + "3\r\nabc\r\n0d\r\ndefghijklmnop\r\n0\r\n\r\n");
        reads("200 ab", CHUNKED + "1;x=\"y\"\r\na\r\n00001 \t;z\r\nb\r\n000\r\n\r\n");
        reads("200 a", CHUNKED + "1\r\na\r\n0\r\nX-Sum: 1\r\nY: 2\r\n\r\n");
        reads("200 rest until close", "HTTP/1.1 200 OK\r\n\r\nrest");
        reads("200 rest until close", "HTTP/1.0 200 OK\r\n\r\nrest");
        reads("204 ", "HTTP/1.1 204 No Content\r\n\r\n");
        reads("304 ", "HTTP/1.1 304 Not Modified\r\nContent-Length: 9\r\n\r\n");
        reads("200 x", "HTTP/1.1 200 OK\r\nContent-Length: 1\r\nContent-Length: 1\r\n\r\nx");
    }

    @Test
    void interim_answers_are_skipped() {
        String go = "HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 Early\r\nLink: x\r\n\r\n";
        reads("200 x", go + "HTTP/1.1 200 OK\r\nContent-Length: 1\r\n\r\nx");
        reads("bad: more than 8 interim answers", "HTTP/1.1 100 C\r\n\r\n".repeat(9));
        reads("bad: a change of protocol that nobody asked for", "HTTP/1.1 101 S\r\n\r\n");
    }

    @Test
    void what_could_be_read_in_two_ways_is_refused() {
        String ok = "HTTP/1.1 200 OK\r\n";
        reads(
                "bad: both a length and chunks",
                ok + "Content-Length: 3\r\nTransfer-Encoding: chunked\r\n\r\n");
        reads("bad: two different lengths", ok + "Content-Length: 3\r\ncontent-length: 4\r\n\r\n");
        for (String length : new String[] {"", "+3", "-3", "3,3", "0x3", "3 3", "9".repeat(19)}) {
            reads(
                    "bad: a length that is not a number",
                    ok + "Content-Length: " + length + "\r\n\r\n");
        }
        for (String coding : new String[] {"gzip", "gzip, chunked", "chunked, chunked", ""}) {
            reads(
                    "bad: a transfer encoding other than chunked",
                    ok + "Transfer-Encoding: " + coding + "\r\n\r\n");
        }
        reads(
                "bad: a transfer encoding other than chunked",
                ok + "Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n\r\n");
        reads("bad: chunks in HTTP/1.0", "HTTP/1.0 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n");
        reads("bad: a header line that ends in LF alone", ok + "A: 1\nB: 2\r\n\r\n");
        reads("bad: a header line with CR alone", ok + "A: 1\rB: 2\r\n\r\n");
        reads("bad: a header line without a proper name", ok + "A : 1\r\n\r\n");
        reads("bad: a header line without a proper name", ok + ": 1\r\n\r\n");
        reads("bad: a header line without a proper name", ok + "no colon\r\n\r\n");
        reads("bad: a header line without a proper name", ok + "A: 1\r\n folded\r\n\r\n");
        reads("bad: a header with a control character", ok + "A: \0\r\n\r\n");
        reads("bad: something else than HTTP/1.1", "HTTP/2.0 200 OK\r\n\r\n");
        reads("bad: something else than HTTP/1.1", "ICY 200 OK\r\n\r\n");
        reads("bad: something else than HTTP/1.1", "\r\nHTTP/1.1 200 OK\r\n\r\n");
        reads("bad: a status that is not three digits", "HTTP/1.1 20 OK\r\n\r\n");
        reads("bad: a status that is not three digits", "HTTP/1.1 2000 OK\r\n\r\n");
        reads("bad: a status that is not three digits", "HTTP/1.1 099 OK\r\n\r\n");
    }

    @Test
    void chunks_are_as_strict_as_any_client() {
        reads("200  bad: a chunk without a size", CHUNKED + "\r\n");
        reads("200  bad: a chunk's size that is not a number", CHUNKED + "1g\r\n");
        reads("200  bad: a chunk without a size", CHUNKED + "-1\r\n");
        reads("200  bad: a chunk without a size", CHUNKED + "0x1\r\n".substring(1));
        reads("200  bad: a chunk's size of more than 8 digits", CHUNKED + "000000001\r\n");
        reads("200  bad: a chunk of 4294967295 bytes", CHUNKED + "ffffffff\r\n");
        reads("200  bad: a chunk's size that is not a number", CHUNKED + "1\na\r\n");
        reads("200  bad: a chunk's size line that ends in CR alone", CHUNKED + "1\ra");
        reads("200 a bad: a chunk longer than it says", CHUNKED + "1\r\nab\r\n");
        reads("200 a bad: a chunk longer than it says", CHUNKED + "1\r\na\rb");
        reads("200 a bad: a chunk longer than it says", CHUNKED + "1\r\na\n");
        reads(
                "200  bad: a chunk's size line with a bad extension",
                CHUNKED + "1;" + "x".repeat(AnswerParser.MAX_CHUNK_EXTENSION + 1) + "\r\n");
        reads("200  bad: a chunk's size line with a bad extension", CHUNKED + "1;a\nb\r\n");
        reads("200  bad: a trailer with a control character", CHUNKED + "0\r\nA: 1\nB: 2\r\n\r\n");
        reads("200  bad: a trailer line that ends in CR alone", CHUNKED + "0\r\nA: 1\rB");
        reads("200  bad: a last line that ends in CR alone", CHUNKED + "0\r\n\rX");
    }

    @Test
    void heads_and_trailers_have_a_limit() {
        String filler = "A: " + "x".repeat(1000) + "\r\n";
        AnswerParser parser = new AnswerParser();
        String tooLong = "HTTP/1.1 200 OK\r\n" + filler.repeat(66);
        assertEquals(
                "bad: a head of more than 65536 bytes",
                read(parser, tooLong.getBytes(ISO_8859_1), 40, 60_000));
        String long8k = "HTTP/1.1 200 OK\r\ncontent-length: 0\r\n" + filler.repeat(60) + "\r\n";
        assertEquals("200 ", read(parser, long8k.getBytes(ISO_8859_1), 40, 30_000));
        String trailers = CHUNKED + "0\r\n" + filler.repeat(9);
        assertEquals(
                "200  bad: trailers of more than 8192 bytes",
                read(parser, trailers.getBytes(ISO_8859_1)));
    }

    @Test
    void bytes_behind_the_end_are_noticed() {
        AnswerParser parser = new AnswerParser();
        byte[] two = "HTTP/1.1 204 N\r\n\r\nHTTP/1.1 204 N\r\n\r\n".getBytes(ISO_8859_1);
        parser.begin();
        parser.parse(two, 0, 0, two.length);
        assertTrue(parser.isDone() && parser.leftOver(two.length));
        byte[] one = Arrays.copyOf(two, two.length / 2);
        parser.begin();
        parser.parse(one, 0, 0, one.length);
        assertTrue(parser.isDone());
        assertFalse(parser.leftOver(one.length));
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "HTTP/1.1 200 OK\r\n|true",
                "HTTP/1.1 200 OK\r\nConnection: close\r\n|false",
                "HTTP/1.1 200 OK\r\nConnection: x, Close\r\n|false",
                "HTTP/1.0 200 OK\r\n|false",
                "HTTP/1.0 200 OK\r\nConnection: Keep-Alive\r\n|true",
                "HTTP/1.1 200 OK\r\nConnection: keep-alive\r\nConnection: close\r\n|false"
            })
    void says_whether_the_connection_can_be_kept(String row) {
        String[] cells = row.split("\\|", -1);
        AnswerParser parser = new AnswerParser();
        read(parser, (cells[0] + "Content-Length: 0\r\n\r\n").getBytes(ISO_8859_1));
        AnswerHead head = parser.head();
        assertNotNull(head);
        assertEquals(Boolean.parseBoolean(cells[1]), head.keepAlive());
    }

    @Test
    void header_values_come_out_as_they_went_in() {
        AnswerParser parser = new AnswerParser();
        String odd = "\u00e9\u00ff\"\\ \t,;";
        read(
                parser,
                ("HTTP/1.1 204 N\r\nX:\t "
                                + odd
                                + "x \r\nx: 2\r\nKeep-Alive: timeout=7, max=9\r\n\r\n")
                        .getBytes(ISO_8859_1));
        AnswerHead head = parser.head();
        assertNotNull(head);
        assertEquals(java.util.List.of(odd + "x", "2"), head.headers().getAll("X"));
        assertEquals(7, head.keepAliveSeconds());
    }

    @Test
    void the_same_head_again_is_not_read_again() {
        AnswerParser parser = new AnswerParser();
        byte[] answer = (CHUNKED + "1\r\na\r\n0\r\n\r\n").getBytes(ISO_8859_1);
        read(parser, answer);
        AnswerHead first = parser.head();
        assertEquals("200 a", read(parser, answer, 9, 20));
        assertSame(first, parser.head());
        assertEquals(
                "404 ",
                read(parser, "HTTP/1.1 404 N\r\nContent-Length: 0\r\n\r\n".getBytes(ISO_8859_1)));
    }

    @Test
    void random_chunks_cut_at_random_places_come_out_whole() {
        long seed = new Random().nextLong();
        Random random = new Random(seed);
        AnswerParser parser = new AnswerParser();
        for (int round = 0; round < 3_000; round++) {
            StringBuilder wire = new StringBuilder(CHUNKED);
            StringBuilder body = new StringBuilder();
            for (int n = random.nextInt(20); n > 0; n--) {
                String data = randomText(random, 1 + random.nextInt(60));
                body.append(data);
                wire.append("0".repeat(random.nextInt(3)))
                        .append(Integer.toHexString(data.length()))
                        .append(random.nextBoolean() ? "" : ";e=" + random.nextInt())
                        .append("\r\n")
                        .append(data)
                        .append("\r\n");
            }
            wire.append(random.nextBoolean() ? "0\r\n\r\n" : "0\r\nT: v\r\n\r\n");
            byte[] all = wire.toString().getBytes(ISO_8859_1);
            int[] cuts = random.ints(random.nextInt(12), 0, all.length + 1).sorted().toArray();
            assertEquals("200 " + body, read(parser, all, cuts), () -> "seed " + seed);
        }
    }

    @Test
    void damaged_answers_never_break_the_parser_and_do_not_depend_on_cuts() {
        long seed = new Random().nextLong();
        Random random = new Random(seed);
        AnswerParser parser = new AnswerParser();
        String[] sound = {
            CHUNKED + "3\r\nabc\r\n1;x\r\nd\r\n0\r\nT: v\r\n\r\n",
            "HTTP/1.1 200 OK\r\nContent-Length: 5\r\nConnection: close\r\n\r\nabcde",
            "HTTP/1.1 100 C\r\n\r\nHTTP/1.0 200 OK\r\nKeep-Alive: timeout=5\r\n\r\nabc",
        };
        String spice = "\r\n\0:; \t0f9,xHT\u00ff";
        int differences = 0;
        for (int round = 0; round < 30_000; round++) {
            byte[] all = sound[round % sound.length].getBytes(ISO_8859_1);
            String whole = read(parser, all);
            for (int n = 1 + random.nextInt(3); n > 0; n--) {
                all[random.nextInt(all.length)] =
                        (byte) spice.charAt(random.nextInt(spice.length()));
            }
            String damaged = read(parser, all);
            differences += damaged.equals(whole) ? 0 : 1;
            int[] cuts = random.ints(random.nextInt(6), 0, all.length + 1).sorted().toArray();
            assertEquals(damaged, read(parser, all, cuts), () -> "seed " + seed);
        }
        assertTrue(differences > 10_000, "damage shows");
    }

    private static String randomText(Random random, int length) {
        StringBuilder text = new StringBuilder();
        for (int i = 0; i < length; i++) {
            text.append("\r\n0a;x".charAt(random.nextInt(6)));
        }
        return text.toString();
    }
}
