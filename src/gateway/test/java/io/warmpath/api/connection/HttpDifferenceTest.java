package io.warmpath.api.connection;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.warmpath.net.server.ServerReading.Rules;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.LongAdder;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/**
 * Where a request ends, what its headers are and whether it is one: the inlet past the codec, the
 * server's decoder and a judge that is none of ours read the same streams. The server may refuse
 * more than the judge, and in no other way may they differ.
 *
 * <p>{@code -Dtest.http-streams=N} reads N streams, for {@code -Dtest.http-minutes=M} at most;
 * {@code -Dwarmpath.test.seed=S} repeats one.
 */
@Tag("slow")
@Tag("long") // in verify alone
class HttpDifferenceTest {
    private static final long STREAMS = Long.getLong("test.http-streams", 2_000_000);
    private static final int MINUTES = Integer.getInteger("test.http-minutes", 1);
    private static final int THREADS = Integer.getInteger("test.http-threads", 1);
    private static final Long REPLAY = Long.getLong("warmpath.test.seed");
    private static final long FIRST_SEED = 0xd1ff_0000_0000L;
    private static final int BATCH = 256;

    /** Takes what the product takes, and does not look at codings, as no inlet should. */
    private static final HttpReading.Inlet BLIND =
            (b, length) -> {
                byte[] hidden =
                        new String(b, 0, length, StandardCharsets.ISO_8859_1)
                                .replaceAll("(?i)\r\ntransfer-encoding:", "\r\nXransfer-encoding:")
                                .getBytes(StandardCharsets.ISO_8859_1);
                return RawHead.read(hidden, length);
            };

    /** A stream that is read in two ways. */
    private record Difference(long seed, byte[] stream, String why) {
        @Override
        public String toString() {
            return why
                    + "\nseed "
                    + seed
                    + ", stream of "
                    + stream.length
                    + " bytes:\n"
                    + text(stream);
        }
    }

    private static String text(byte[] stream) {
        StringBuilder all = new StringBuilder();
        for (byte b : stream) {
            int c = b & 0xff;
            all.append(
                    c == '\r'
                            ? "\\r"
                            : c == '\n'
                                    ? "\\n\n"
                                    : c < ' ' || c >= 0x7f || c == '\\'
                                            ? String.format("\\x%02x", c)
                                            : String.valueOf((char) c));
        }
        return all.toString();
    }

    /** Counts of one search. */
    private static final class Found {
        final LongAdder streams = new LongAdder();
        final LongAdder requests = new LongAdder();
        final LongAdder refused = new LongAdder();
    }

    /** One thread's readers. */
    private static final class Readers {
        private final Rules rules;
        private final HttpReading.Inlet inlet;
        private final @Nullable HttpJudge judge;

        Readers(Rules rules, HttpReading.Inlet inlet, @Nullable HttpJudge judge) {
            this.rules = rules;
            this.inlet = inlet;
            this.judge = judge;
        }

        @Nullable Difference search(RequestStreams streams, long seed, int count, Found found)
                throws Exception {
            List<byte[]> batch = new ArrayList<>(count);
            for (int i = 0; i < count; i++) {
                batch.add(streams.make(seed + i));
            }
            if (judge != null) {
                judge.ask(batch);
            }
            List<Object> ours = new ArrayList<>(count);
            for (int i = 0; i < count; i++) {
                ours.add(server(batch.get(i), RequestStreams.cuts(seed + i, batch.get(i).length)));
            }
            List<HttpReading> theirs = judge == null ? List.of() : judge.answers(count);
            for (int i = 0; i < count; i++) {
                String why = why(ours.get(i), judge == null ? null : theirs.get(i));
                if (why != null) {
                    return shrunk(new Difference(seed + i, batch.get(i), why));
                }
                HttpReading reading = (HttpReading) ours.get(i);
                found.requests.add(reading.requests());
                found.refused.add(reading.isRefused() ? 1 : 0);
            }
            found.streams.add(count);
            return null;
        }

        private Object server(byte[] stream, int[] cuts) throws Exception {
            try {
                return HttpReading.ofServer(rules, inlet, stream, stream.length, cuts);
            } catch (HttpReading.Disagreement e) {
                return e;
            }
        }

        private static @Nullable String why(Object ours, @Nullable HttpReading theirs) {
            if (ours instanceof HttpReading.Disagreement e) {
                return e.getMessage();
            }
            String wrong = theirs == null ? null : HttpReading.wrong((HttpReading) ours, theirs);
            return wrong == null ? null : wrong + "\nserver:\n" + ours + "judge:\n" + theirs;
        }

        private @Nullable String why(byte[] stream, int[] cuts) throws Exception {
            HttpReading theirs = null;
            if (judge != null) {
                judge.ask(List.of(stream));
                theirs = judge.answers(1).getFirst();
            }
            return why(server(stream, cuts), theirs);
        }

        /** Less and less of it is left out, as long as it is read in two ways. */
        private Difference shrunk(Difference of) throws Exception {
            byte[] stream = of.stream();
            int[] cuts = RequestStreams.cuts(of.seed(), stream.length);
            String why = of.why();
            String whole = why(stream, new int[0]);
            if (whole != null) {
                cuts = new int[0];
                why = whole;
                for (int size = stream.length / 2; size > 0; size /= 2) {
                    for (int at = 0; at + size <= stream.length; ) {
                        byte[] less = without(stream, at, size);
                        String still = why(less, cuts);
                        if (still == null) {
                            at += size;
                        } else {
                            stream = less;
                            why = still;
                        }
                    }
                }
            }
            return new Difference(of.seed(), stream, why + "cuts: " + Arrays.toString(cuts));
        }

        private static byte[] without(byte[] stream, int at, int size) {
            byte[] less = Arrays.copyOf(stream, stream.length - size);
            System.arraycopy(stream, at + size, less, at, less.length - at);
            return less;
        }
    }

    @Test
    void three_readers_read_the_same_requests() throws Exception {
        if (REPLAY != null) {
            try (HttpJudge judge = HttpJudge.start().orElse(null)) {
                Readers readers = new Readers(Rules.STRICT, HttpReading.Inlet.PRODUCT, judge);
                assertNull(readers.search(new RequestStreams(), REPLAY, 1, new Found()));
            }
            return;
        }
        Found found = new Found();
        long start = System.nanoTime();
        AtomicLong next = new AtomicLong();
        AtomicBoolean stop = new AtomicBoolean();
        boolean judged = false;
        List<Future<@Nullable Difference>> searches = new ArrayList<>();
        try (ExecutorService threads = Executors.newFixedThreadPool(THREADS)) {
            for (int i = 0; i < THREADS; i++) {
                Optional<HttpJudge> judge = HttpJudge.start();
                judged = judge.isPresent();
                searches.add(
                        threads.submit(() -> search(judge.orElse(null), next, stop, start, found)));
            }
            for (Future<@Nullable Difference> search : searches) {
                assertNull(search.get());
            }
        } finally {
            stop.set(true);
        }
        double seconds = (System.nanoTime() - start) / 1e9;
        long streams = found.streams.sum();
        System.out.printf(
                "HTTP streams: %,d%s, %,d requests read to their end, %,d streams refused, %.0f s,"
                        + " %,.0f streams/s, seeds from %d%n",
                streams,
                judged ? "" : " WITHOUT A THIRD JUDGE",
                found.requests.sum(),
                found.refused.sum(),
                seconds,
                streams / seconds,
                FIRST_SEED);
        assertTrue(found.requests.sum() > streams / 2, "many are requests");
        assertTrue(found.refused.sum() > streams / 10, "many are none");
    }

    private static @Nullable Difference search(
            @Nullable HttpJudge judge, AtomicLong next, AtomicBoolean stop, long start, Found found)
            throws Exception {
        try (judge) {
            Readers readers = new Readers(Rules.STRICT, HttpReading.Inlet.PRODUCT, judge);
            RequestStreams streams = new RequestStreams();
            long end = start + TimeUnit.MINUTES.toNanos(MINUTES);
            while (!stop.get() && System.nanoTime() < end) {
                long at = next.getAndAdd(BATCH);
                if (at >= STREAMS) {
                    return null;
                }
                Difference difference = readers.search(streams, FIRST_SEED + at, BATCH, found);
                if (difference != null) {
                    stop.set(true);
                    return difference;
                }
            }
            return null;
        }
    }

    private static @Nullable Difference planted(
            Rules rules, HttpReading.Inlet inlet, @Nullable HttpJudge judge) throws Exception {
        Readers readers = new Readers(rules, inlet, judge);
        RequestStreams streams = new RequestStreams();
        for (long seed = FIRST_SEED; seed < FIRST_SEED + 100_000; seed++) {
            Difference difference = readers.search(streams, seed, 1, new Found());
            if (difference != null && text(difference.stream()).contains("ransfer-")) {
                return difference;
            }
        }
        return null;
    }

    /** The control: the rule of before, by which an unknown coding was no body. */
    @Test
    void the_decoder_without_its_rules_is_found_out_by_the_judge() throws Exception {
        try (HttpJudge judge = HttpJudge.start().orElse(null)) {
            assumeTrue(judge != null, "the judge is not built");
            Difference difference = planted(Rules.VERTX, HttpReading.Inlet.PRODUCT, judge);
            assertNotNull(difference);
            System.out.println("planted and found: " + difference);
        }
    }

    /** The control of two readers. */
    @Test
    void an_inlet_that_does_not_look_at_codings_is_found_out_by_the_decoder() throws Exception {
        Difference difference = planted(Rules.STRICT, BLIND, null);
        assertNotNull(difference);
        assertTrue(difference.why().contains("the inlet"), difference::toString);
    }

    /** The judge itself reads, and tells what a bare reader would not know. */
    @Test
    void the_judge_reads_requests() throws IOException {
        try (HttpJudge judge = HttpJudge.start().orElse(null)) {
            assumeTrue(judge != null, "the judge is not built");
            judge.ask(
                    List.of(
                            "POST /a HTTP/1.1\r\nX:  y \r\nContent-Length: 2\r\n\r\nab\r\nGE"
                                    .getBytes(StandardCharsets.US_ASCII),
                            "GET / HTTP/1.1\r\nTransfer-Encoding: xchunked\r\n\r\n"
                                    .getBytes(StandardCharsets.US_ASCII)));
            List<HttpReading> answers = judge.answers(2);
            assertEquals(
                    "H POST /a 1\nX:y\nContent-Length:2\n\nE 2 089c4407b545986a 49\nS waiting\n",
                    answers.getFirst().toString());
            assertTrue(answers.getLast().isRefused());
        }
    }
}
