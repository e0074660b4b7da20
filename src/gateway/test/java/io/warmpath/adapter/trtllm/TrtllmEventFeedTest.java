package io.warmpath.adapter.trtllm;

import static org.awaitility.Awaitility.await;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.fasterxml.jackson.databind.JsonNode;
import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;
import io.vertx.core.Vertx;
import io.warmpath.adapter.enginehttp.VertxEngineHttp;
import io.warmpath.events.DropReason;
import io.warmpath.events.EventCounters;
import io.warmpath.events.EventFeed.Subscription;
import io.warmpath.events.EventSource;
import io.warmpath.events.SourceSession;
import io.warmpath.events.SourceStatus.Belief;
import io.warmpath.fleet.EventEndpoint;
import io.warmpath.fleet.EventView;
import io.warmpath.prefix.PrefixQuery;
import io.warmpath.prefix.PrefixSpace;
import io.warmpath.prefix.ReferencePrefixIndex;
import io.warmpath.prefix.Tier;
import io.warmpath.prefix.WorkerSlot;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Supplier;
import org.awaitility.core.ConditionFactory;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Over HTTP, from a server that answers recorded bytes, or worse. */
@Timeout(120)
class TrtllmEventFeedTest {
    private static final int SIZE = 4;
    private static final Duration PATIENCE = Duration.ofMillis(500);

    private interface Reply {
        void to(HttpExchange exchange) throws IOException;
    }

    private final CountDownLatch release = new CountDownLatch(1);
    private final ConcurrentLinkedQueue<Reply> replies = new ConcurrentLinkedQueue<>();
    private final AtomicInteger asked = new AtomicInteger();
    private final List<String> paths = new ArrayList<>();
    private volatile Supplier<String> otherwise = () -> "[]";
    private final Vertx vertx = Vertx.vertx();
    private final VertxEngineHttp http =
            new VertxEngineHttp(vertx, PATIENCE, options -> options, worker -> null, null, 1 << 20);
    private final ReferencePrefixIndex index = new ReferencePrefixIndex();
    private final List<WorkerSlot> slots = List.of(index.open(0), index.open(0));
    private final EventCounters counters = new EventCounters();
    private final TrtllmEventFeed feed =
            new TrtllmEventFeed(
                    http,
                    index,
                    counters,
                    new TrtllmEventFeed.Settings(
                            new SourceSession.Timing(
                                    1_000_000_000L, Long.MAX_VALUE, Long.MAX_VALUE),
                            Duration.ofMillis(1),
                            Duration.ofMillis(1),
                            Duration.ofMillis(20)),
                    System::nanoTime);
    private HttpServer server;
    private String endpoint;

    @BeforeEach
    void start() throws IOException {
        server = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
        server.setExecutor(Executors.newVirtualThreadPerTaskExecutor());
        server.createContext("/", this::answer);
        server.start();
        endpoint =
                EventEndpoint.polled(
                                URI.create("http://127.0.0.1:" + server.getAddress().getPort()))
                        .endpoint();
    }

    @AfterEach
    void stop() {
        release.countDown();
        feed.close();
        http.close();
        server.stop(0);
        vertx.close().toCompletionStage().toCompletableFuture().join();
        index.close();
    }

    private void answer(HttpExchange exchange) throws IOException {
        synchronized (paths) {
            paths.add(exchange.getRequestMethod() + " " + exchange.getRequestURI());
        }
        asked.incrementAndGet();
        exchange.getRequestBody().readAllBytes();
        Reply reply = replies.poll();
        if (reply == null) {
            reply = body(otherwise.get());
        }
        try (exchange) {
            reply.to(exchange);
        }
    }

    private static Reply body(String text) {
        byte[] body = text.getBytes(StandardCharsets.UTF_8);
        return e -> {
            e.getResponseHeaders().add("content-type", "application/json");
            e.sendResponseHeaders(200, body.length);
            e.getResponseBody().write(body);
        };
    }

    private static Reply status(int status) {
        return e -> e.sendResponseHeaders(status, -1);
    }

    /** Until {@link #release}. */
    private void held() {
        try {
            assertTrue(release.await(30, TimeUnit.SECONDS), "the test did not end");
        } catch (InterruptedException interrupted) {
            Thread.currentThread().interrupt();
        }
    }

    private Subscription follow(int rank, int ranks) {
        return feed.subscribe(
                new EventSource(
                        "w", rank, slots.subList(0, ranks), endpoint, false, null, "", SIZE));
    }

    private static ConditionFactory soon() {
        return await().pollDelay(Duration.ZERO)
                .pollInterval(Duration.ofMillis(1))
                .atMost(Duration.ofSeconds(20));
    }

    private int depth(int slot, Tier tier, int... prompt) {
        return index.match(new PrefixQuery(prompt, prompt.length, SIZE, PrefixSpace.NONE))
                .depth(slots.get(slot), tier);
    }

    private static String vector(String name) throws IOException {
        for (JsonNode c : EventDecoderTest.vectors().path("cases")) {
            if (c.path("name").asText().equals(name)) {
                return c.path("body").asText();
            }
        }
        throw new IllegalArgumentException("no vector " + name);
    }

    private static String stored(long id, String parent, long hash, int first) {
        StringBuilder tokens = new StringBuilder();
        for (int t = first; t < first + SIZE; t++) {
            tokens.append(t == first ? "" : ",")
                    .append("{\"type\":\"unique_token\",\"token_id\":")
                    .append(t)
                    .append(",\"token_extra_id\":0}");
        }
        return event(
                id,
                "{\"type\":\"stored\",\"parent_hash\":"
                        + parent
                        + ",\"blocks\":[{\"type\":\"stored_block\",\"block_hash\":"
                        + hash
                        + ",\"tokens\":["
                        + tokens
                        + "],\"cache_level\":0,\"priority\":35}]}");
    }

    private static String created() {
        return event(0, "{\"type\":\"created\",\"num_blocks_per_cache_level\":[64,0]}");
    }

    private static String event(long id, String data) {
        return "{\"event_id\":" + id + ",\"data\":" + data + ",\"window_size\":4096}";
    }

    @Test
    void recorded_bytes_become_blocks() throws Exception {
        replies.add(body(vector("the first releases: no windows, no media, no salts")));
        replies.add(body("[" + stored(4, "null", 11, 1) + "," + stored(5, "11", 12, 5) + "]"));
        Subscription source = follow(0, 1);
        soon().until(() -> source.status().sequence() == 5);
        soon().until(() -> depth(0, Tier.GPU, 1, 2, 3, 4, 5, 6, 7, 8, 9) == 2);
        assertEquals(EventView.EXACT, source.state());
        assertEquals(1, counters.dropped(DropReason.SHORT_PAGE), "the end of the prompt");
        synchronized (paths) {
            assertTrue(paths.stream().allMatch("POST /kv_cache_events"::equals), paths.toString());
        }
    }

    @Test
    void ranks_have_numbers_and_caches_of_their_own() throws Exception {
        String ranks = vector("ranks of DP attention, each with numbers of its own");
        replies.add(body(ranks));
        Subscription first = follow(0, 2);
        Subscription second = follow(1, 2);
        soon().until(() -> depth(1, Tier.GPU, 1, 2, 3, 4) == 1);
        assertEquals(0, second.status().gaps());
        assertEquals(1, second.status().sequence());
        assertEquals(0, first.status().sequence());
        replies.add(body("[" + stored(1, "null", 9, 1) + "]")); // the first one's, by no number
        soon().until(() -> depth(0, Tier.GPU, 1, 2, 3, 4) == 1);
        assertEquals(EventView.EXACT, first.state());
        replies.add(body(ranks.replace("\"attention_dp_rank\":1", "\"attention_dp_rank\":7")));
        soon().until(() -> counters.dropped(DropReason.UNKNOWN_RANK) == 2);
    }

    @Test
    void a_missing_number_forgets_what_was_told_before() throws Exception {
        replies.add(body("[" + created() + "," + stored(1, "null", 1, 1) + "]"));
        Subscription source = follow(0, 1);
        soon().until(() -> depth(0, Tier.GPU, 1, 2, 3, 4) == 1);
        soon().until(() -> source.state() == EventView.EXACT);
        replies.add(body("[" + stored(3, "null", 2, 50) + "]"));
        soon().until(() -> source.state() == EventView.GAP);
        assertEquals(0, depth(0, Tier.GPU, 1, 2, 3, 4));
        soon().until(() -> depth(0, Tier.GPU, 50, 51, 52, 53) == 1);
        assertEquals(1, source.status().lost());
        assertTrue(source.status().why().contains("batches 2 were missed"), source.status().why());
    }

    @Test
    void an_engine_that_starts_again_counts_from_zero() throws Exception {
        replies.add(body("[" + created() + "," + stored(1, "null", 1, 1) + "]"));
        Subscription source = follow(0, 1);
        soon().until(() -> depth(0, Tier.GPU, 1, 2, 3, 4) == 1);
        replies.add(body("[" + created() + "]"));
        soon().until(() -> depth(0, Tier.GPU, 1, 2, 3, 4) == 0);
        soon().until(() -> source.state() == EventView.EXACT);
        assertEquals(1, source.status().restarts());
        assertEquals(0, source.status().lost());
    }

    /** A window of eight tokens needs the last two blocks of a prefix. */
    @Test
    void a_sliding_window_says_what_of_a_prefix_is_usable() throws Exception {
        String begin = "{\"type\":\"created\",\"num_blocks_per_cache_level\":[64,0]}";
        replies.add(
                body(
                        "["
                                + String.join(
                                        ",",
                                        event(0, begin).replace("4096", "8"),
                                        event(1, begin),
                                        stored(2, "null", 11, 1).replace("4096", "8"),
                                        stored(3, "11", 12, 5).replace("4096", "8"),
                                        stored(4, "12", 13, 9).replace("4096", "8"),
                                        stored(5, "null", 11, 1),
                                        stored(6, "11", 12, 5),
                                        stored(7, "12", 13, 9))
                                + "]"));
        Subscription source = follow(0, 1);
        int[] prompt = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13};
        soon().until(() -> depth(0, Tier.GPU, prompt) == 3);
        replies.add(body("[" + left(8, 11) + "]"));
        soon().until(() -> source.status().sequence() == 8);
        replies.add(body("[" + stored(9, "13", 14, 20) + "]"));
        soon().until(() -> source.status().sequence() == 9);
        assertEquals(3, depth(0, Tier.GPU, prompt), "the window has gone past the first block");
        replies.add(body("[" + left(10, 12) + "]"));
        soon().until(() -> depth(0, Tier.GPU, prompt) == 0);
        assertEquals(EventView.EXACT, source.state());
        assertEquals(0, counters.dropped(DropReason.SPEC_KIND));
    }

    /** A block left the window. */
    private static String left(long id, long hash) {
        return event(id, "{\"type\":\"removed\",\"block_hashes\":[" + hash + "]}")
                .replace("4096", "8");
    }

    /** A gateway that starts later than the engine, where another one has read before. */
    @Test
    void from_the_middle_on_too_little_is_known_and_said() throws Exception {
        replies.add(body("[" + stored(700, "null", 1, 1) + "]"));
        Subscription source = follow(0, 1);
        soon().until(() -> source.state() == EventView.GAP);
        assertEquals(
                "heard from batch 700 on; what was before is not known", source.status().why());
        soon().until(() -> depth(0, Tier.GPU, 1, 2, 3, 4) == 1);
        // Of two windows the smaller one was taken for the whole attention.
        replies.add(body("[" + stored(701, "null", 5, 60).replace("4096", "9000") + "]"));
        soon().until(() -> depth(0, Tier.GPU, 60, 61, 62, 63) == 1);
        assertEquals(0, depth(0, Tier.GPU, 1, 2, 3, 4));
        soon().until(() -> source.state() == EventView.GAP);
    }

    @Test
    void questions_in_vain_are_counted_and_the_third_one_makes_the_source_count_for_nothing()
            throws Exception {
        replies.add(body("[" + created() + "," + stored(1, "null", 1, 1) + "]"));
        Subscription source = follow(0, 1);
        soon().until(() -> source.state() == EventView.EXACT);
        for (int i = 0; i < 400; i++) {
            replies.add(status(404));
        }
        soon().until(() -> source.state() == EventView.GONE);
        assertEquals("POST /kv_cache_events: it answered 404", source.status().why());
        assertEquals(Belief.NOTHING, source.status().belief());
        assertTrue(counters.pollFailures() >= 3);
        replies.clear();
        soon().until(() -> source.state() == EventView.REPAIRING); // nothing tells what was lost
        replies.add(body("[" + stored(2, "1", 2, 5) + "]"));
        soon().until(() -> source.state() == EventView.EXACT);
        soon().until(() -> depth(0, Tier.GPU, 1, 2, 3, 4, 5, 6, 7, 8) == 2);
    }

    @Test
    void one_question_in_vain_lowers_the_trust_for_as_long() throws Exception {
        replies.add(body("[" + created() + "]"));
        List<String> seen = new ArrayList<>();
        Subscription source =
                feed.subscribe(
                        new EventSource(
                                "w", 0, slots.subList(0, 1), endpoint, false, null, "", SIZE),
                        (s, before, now) -> {
                            synchronized (seen) {
                                seen.add(now.state() + " " + now.belief() + " " + now.why());
                            }
                        },
                        null);
        soon().until(() -> source.state() == EventView.EXACT);
        replies.add(status(503));
        soon().until(
                        () -> {
                            synchronized (seen) {
                                return seen.contains(
                                        "LAGGING PART POST /kv_cache_events: it answered 503");
                            }
                        });
        soon().until(() -> source.state() == EventView.EXACT);
        assertEquals(1, counters.pollFailures());
    }

    @Test
    void an_answer_that_does_not_come_is_not_waited_for() throws Exception {
        replies.add(e -> held());
        replies.add(body("[" + created() + "]"));
        Subscription source = follow(0, 1);
        soon().until(() -> source.state() == EventView.EXACT);
        assertEquals(1, counters.pollFailures());
    }

    @Test
    void of_an_answer_that_is_cut_the_rest_is_missed_and_noticed() throws Exception {
        String cut = ",{\"event_id\":2,\"da";
        replies.add(body("[" + created() + "," + stored(1, "null", 1, 1) + cut));
        Subscription source = follow(0, 1);
        soon().until(() -> depth(0, Tier.GPU, 1, 2, 3, 4) == 1);
        assertEquals(1, counters.pollFailures());
        byte[] half = ("[" + stored(3, "null", 3, 1)).getBytes(StandardCharsets.UTF_8);
        replies.add(
                e -> {
                    e.sendResponseHeaders(200, half.length * 2L);
                    e.getResponseBody().write(half);
                    e.getResponseBody().flush();
                });
        soon().until(() -> counters.pollFailures() == 2);
        replies.add(body("[" + stored(4, "null", 4, 70) + "]"));
        soon().until(() -> source.state() == EventView.GAP);
        assertEquals(0, depth(0, Tier.GPU, 1, 2, 3, 4));
        soon().until(() -> depth(0, Tier.GPU, 70, 71, 72, 73) == 1);
    }

    @Test
    void an_answer_beyond_the_bound_is_a_question_in_vain() throws Exception {
        replies.add(body("[" + " ".repeat(1 << 20) + "]"));
        follow(0, 1);
        soon().until(() -> counters.pollFailures() == 1);
    }

    @Test
    void an_event_that_makes_no_sense_lowers_the_trust() throws Exception {
        replies.add(
                body(
                        "["
                                + created()
                                + ","
                                + event(1, "{\"type\":\"removed\",\"block_hashes\":[{}]}")
                                + "]"));
        Subscription source = follow(0, 1);
        soon().until(() -> source.status().rejected() == 1);
        soon().until(() -> source.state() == EventView.GAP);
        assertEquals(Belief.PART, source.status().belief());
    }

    @Test
    void a_source_that_follows_again_gets_what_is_being_asked_for() throws Exception {
        replies.add(
                e -> {
                    held();
                    body("[" + created() + "," + stored(1, "null", 11, 1) + "]").to(e);
                });
        Subscription before = follow(0, 1);
        soon().until(() -> asked.get() == 1);
        before.close();
        Subscription source = follow(0, 1);
        assertEquals(1, asked.get(), "two that ask take the events from each other");
        release.countDown();
        soon().until(() -> depth(0, Tier.GPU, 1, 2, 3, 4) == 1);
        assertEquals(EventView.EXACT, source.state());
        soon().until(() -> asked.get() > 2);
    }

    @Test
    void whom_nobody_follows_is_not_asked() throws Exception {
        Subscription source = follow(0, 1);
        soon().until(() -> asked.get() > 3);
        source.close();
        int before = asked.get();
        int port = server.getAddress().getPort();
        AtomicInteger other = new AtomicInteger();
        HttpServer second =
                HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
        second.createContext(
                "/",
                e -> {
                    other.incrementAndGet();
                    try (e) {
                        body("[]").to(e);
                    }
                });
        second.start();
        endpoint = endpoint.replace(":" + port, ":" + second.getAddress().getPort());
        try {
            follow(0, 1);
            soon().until(() -> other.get() > 10);
            assertTrue(asked.get() <= before + 1, "one may have been on its way");
        } finally {
            second.stop(0);
        }
    }

    /** Prompts over a few beginnings, so that most have some in common. */
    private static int[] prompt(Random random) {
        int[] prompt = new int[1 + random.nextInt(SIZE * 7)];
        for (int i = 0; i < prompt.length; i++) {
            prompt[i] = i % SIZE == 0 ? random.nextInt(3) : i / SIZE;
        }
        return prompt;
    }

    /** At each look the index knows what the engine has, block by block and level by level. */
    @ParameterizedTest(name = "{0} blocks in host memory")
    @ValueSource(ints = {0, 20})
    void the_index_equals_the_engine_over_random_requests(int host) {
        long seed = System.nanoTime();
        Random random = new Random(seed);
        CacheDouble engine = new CacheDouble(SIZE, 24, host, random);
        otherwise = engine::drain;
        Subscription source = follow(0, 1);
        for (int look = 0; look < 120; look++) {
            if (look == 80) {
                engine.restart();
            }
            for (int i = random.nextInt(12); i >= 0; i--) {
                engine.run(prompt(random));
            }
            List<int[]> prompts = new ArrayList<>();
            for (int i = 0; i < 30; i++) {
                prompts.add(prompt(random));
            }
            soon().untilAsserted(
                            () -> {
                                for (int[] p : prompts) {
                                    assertEquals(
                                            engine.depth(p, 0) + " " + engine.depth(p, 1),
                                            depth(0, Tier.GPU, p) + " " + depth(0, Tier.HOST, p),
                                            "seed " + seed);
                                }
                            });
            assertEquals(EventView.EXACT, source.state(), "seed " + seed);
        }
        assertEquals(0, source.status().lost(), "seed " + seed);
        assertEquals(1, source.status().restarts(), "seed " + seed);
        assertTrue(counters.removedEvents() > 100, "blocks were given up");
    }

    /** Answers that are lost: what is predicted then is what the engine has, or less. */
    @Test
    void lost_answers_never_let_too_much_be_predicted() {
        long seed = System.nanoTime();
        Random random = new Random(seed);
        CacheDouble engine = new CacheDouble(SIZE, 24, 20, random);
        Random faults = new Random(seed + 1);
        otherwise =
                () -> {
                    synchronized (faults) {
                        boolean lost = !engine.isQuiet() && faults.nextInt(12) == 0;
                        String answer = engine.drain();
                        return lost ? "nothing" : answer;
                    }
                };
        Subscription source = follow(0, 1);
        for (int look = 0; look < 150; look++) {
            for (int i = random.nextInt(12); i >= 0; i--) {
                engine.run(prompt(random));
            }
            // Something is told after what may have been lost.
            soon().until(
                            () -> {
                                if (source.status().sequence() == engine.lastId()) {
                                    return true;
                                }
                                if (engine.isQuiet()) {
                                    engine.run(new int[] {1000 + random.nextInt(100_000), 0, 0, 0});
                                }
                                return false;
                            });
            List<int[]> prompts = new ArrayList<>();
            for (int i = 0; i < 30; i++) {
                prompts.add(prompt(random));
            }
            soon().untilAsserted(
                            () -> {
                                for (int[] p : prompts) {
                                    int most = engine.depth(p, 1);
                                    int said = depth(0, Tier.HOST, p);
                                    assertTrue(
                                            said <= most, said + " of " + most + ", seed " + seed);
                                    assertTrue(
                                            depth(0, Tier.GPU, p) <= engine.depth(p, 0),
                                            "seed " + seed);
                                }
                            });
        }
        assertTrue(source.status().lost() > 3, "seed " + seed);
    }
}
