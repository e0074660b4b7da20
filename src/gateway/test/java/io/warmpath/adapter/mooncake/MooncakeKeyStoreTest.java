package io.warmpath.adapter.mooncake;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.fasterxml.jackson.databind.JsonNode;
import io.vertx.core.Vertx;
import io.warmpath.pool.PoolUnavailableException;
import io.warmpath.pool.PoolUnavailableException.Reason;
import io.warmpath.sim.TestVectors;
import java.io.UncheckedIOException;
import java.net.URI;
import java.time.Duration;
import java.util.ArrayList;
import java.util.BitSet;
import java.util.List;
import java.util.Objects;
import java.util.Set;
import java.util.concurrent.CompletionException;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import java.util.stream.IntStream;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;

/** The client before a double: what masters send, and what other things do. */
class MooncakeKeyStoreTest {
    private static Vertx vertx;

    private final MasterDouble master = new MasterDouble();
    private final MasterDouble other = new MasterDouble();
    private final AtomicLong clock = new AtomicLong();
    private final AtomicInteger forgotten = new AtomicInteger();
    private final List<MooncakeKeyStore> stores = new ArrayList<>();
    private final CountDownLatch release = new CountDownLatch(1);

    @BeforeAll
    static void start() {
        vertx = Vertx.vertx();
    }

    @AfterAll
    static void stop() {
        vertx.close().toCompletionStage().toCompletableFuture().join();
    }

    @AfterEach
    void close() {
        release.countDown();
        stores.forEach(MooncakeKeyStore::close);
        master.close();
        other.close();
    }

    private MooncakeKeyStore store(MooncakeOptions options, URI... masters) {
        MooncakeKeyStore store =
                new MooncakeKeyStore(
                        vertx,
                        List.of(masters),
                        options,
                        clock::get,
                        MooncakeKeyStore.Reach.ANYWHERE);
        store.onForget(forgotten::incrementAndGet);
        stores.add(store);
        return store;
    }

    private MooncakeKeyStore store(URI... masters) {
        return store(options(Duration.ofSeconds(10)), masters);
    }

    private static MooncakeOptions options(Duration timeout) {
        MooncakeOptions d = MooncakeOptions.DEFAULTS;
        return new MooncakeOptions(
                d.keysPerRequest(), d.connections(), timeout, d.maxAnswerBytes(), d.viewCheck());
    }

    private static <T> T now(CompletionStage<T> answer) {
        return answer.toCompletableFuture().join();
    }

    private static PoolUnavailableException failure(CompletionStage<?> answer) {
        CompletionException failure =
                assertThrows(CompletionException.class, () -> answer.toCompletableFuture().join());
        return assertInstanceOf(PoolUnavailableException.class, failure.getCause());
    }

    private static BitSet bits(int... set) {
        BitSet bits = new BitSet();
        IntStream.of(set).forEach(bits::set);
        return bits;
    }

    @Test
    void every_recorded_exchange_is_read_off_the_wire() {
        int exchanges = 0;
        for (JsonNode one : TestVectors.file("vectors/mooncake-http.json").path("exchanges")) {
            if (!one.path("target").asText().startsWith("/batch_query_keys?keys=")
                    || one.path("status").asInt() != 200) {
                continue;
            }
            exchanges++;
            String body = one.path("body").asText();
            List<String> keys = new ArrayList<>();
            BitSet expected = new BitSet();
            TestVectors.json(body)
                    .path("data")
                    .properties()
                    .forEach(
                            entry -> {
                                expected.set(
                                        keys.size(), entry.getValue().path("ok").booleanValue());
                                keys.add(entry.getKey());
                            });
            master.on("/batch_query_keys", (target, wire) -> wire.reply(200, body));
            assertEquals(expected, now(store(master.url()).held(keys)), one.path("name").asText());
        }
        assertTrue(exchanges > 30, "only " + exchanges);
    }

    @Test
    void keys_are_encoded_as_the_master_decodes_them() {
        for (JsonNode one : TestVectors.file("vectors/mooncake-http.json").path("exchanges")) {
            if (one.path("name").asText().equals("batch: slash encoded")
                    || one.path("name").asText().equals("batch: plus encoded")
                    || one.path("name").asText().equals("batch: percent encoded")
                    || one.path("name").asText().equals("batch: space as %20")
                    || one.path("name").asText().equals("batch: utf-8 encoded")
                    || one.path("name").asText().equals("batch: vLLM store key, percent-encoded")) {
                String key =
                        TestVectors.json(one.path("body").asText())
                                .path("data")
                                .fieldNames()
                                .next();
                assertEquals(one.path("target").asText(), MooncakeKeyStore.path(List.of(key)));
            }
        }
        assertEquals(
                "/batch_query_keys?keys=a_0_k,b", MooncakeKeyStore.path(List.of("a_0_k", "b")));
    }

    @Test
    void many_keys_are_asked_in_chunks_and_put_together() {
        List<String> keys = IntStream.range(0, 1000).mapToObj(i -> "key_" + i + "_k").toList();
        master.holds(Set.of("key_0_k", "key_255_k", "key_256_k", "key_999_k"));
        assertEquals(bits(0, 255, 256, 999), now(store(master.url()).held(keys)));
        assertEquals(4, master.asked("/batch_query_keys"));
        assertEquals(new BitSet(), now(store(master.url()).held(List.of())));
    }

    @Test
    void connections_are_kept_and_bounded() {
        MooncakeOptions two =
                new MooncakeOptions(1, 2, Duration.ofSeconds(10), 1 << 20, Duration.ofHours(1));
        master.holds(Set.of("3"));
        MooncakeKeyStore store = store(two, master.url());
        List<String> keys = IntStream.range(0, 40).mapToObj(Integer::toString).toList();
        for (int round = 0; round < 5; round++) {
            assertEquals(bits(3), now(store.held(keys)));
            assertTrue(master.connections() <= 2, master.connections() + " connections");
        }
        assertEquals(1, master.asked("/role"), "one election");
    }

    /**
     * An answer may come before the asking thread has got any further: it was lost then, once in
     * some thousands on a busy machine.
     */
    @Test
    void no_answer_is_lost_however_slow_the_asking_thread_is() throws InterruptedException {
        master.holds(Set.of("k"));
        MooncakeKeyStore store = store(master.url());
        now(store.held(List.of("k")));
        AtomicInteger answered = new AtomicInteger();
        List<Thread> threads = new ArrayList<>();
        for (int i = 0; i < 8; i++) {
            threads.add(
                    Thread.ofPlatform()
                            .start(
                                    () -> {
                                        for (int round = 0; round < 250; round++) {
                                            if (now(store.held(List.of("k"))).get(0)) {
                                                answered.incrementAndGet();
                                            }
                                        }
                                    }));
        }
        for (Thread thread : threads) {
            thread.join();
        }
        assertEquals(2000, answered.get());
    }

    @Test
    void more_than_the_connections_can_take_is_refused_and_says_nothing_about_the_leader() {
        MooncakeOptions narrow =
                new MooncakeOptions(1, 1, Duration.ofSeconds(10), 1 << 20, Duration.ofHours(1));
        master.on(
                "/batch_query_keys",
                (target, wire) -> {
                    release.await();
                    wire.reply(200, MasterDouble.body(MasterDouble.keysOf(target), Set.of()));
                });
        MooncakeKeyStore store = store(narrow, master.url());
        List<String> keys = IntStream.range(0, 200).mapToObj(Integer::toString).toList();
        assertEquals(Reason.BUSY, failure(store.held(keys)).reason());
        release.countDown();
        master.holds(Set.of("7"));
        Awaitility.await().ignoreExceptions().until(() -> now(store.held(List.of("7"))).get(0));
        assertEquals(1, master.asked("/role"));
        assertEquals(0, forgotten.get());
    }

    @Test
    void the_leader_is_found_among_several() {
        master.on("/role", (target, wire) -> wire.reply(200, "standby"));
        other.holds(Set.of("k"));
        MooncakeKeyStore store = store(URI.create("http://127.0.0.1:1"), master.url(), other.url());
        assertEquals(bits(0), now(store.held(List.of("k"))));
        assertEquals(0, master.asked("/batch_query_keys"));
        assertEquals(0, forgotten.get());
    }

    @Test
    void a_master_that_leads_no_more_is_left_for_the_one_that_does() {
        master.holds(Set.of("k"));
        other.on("/role", (target, wire) -> wire.reply(200, "standby"));
        MooncakeKeyStore store = store(master.url(), other.url());
        assertEquals(bits(0), now(store.held(List.of("k"))));

        master.on("/role", (target, wire) -> wire.reply(200, "standby"));
        master.on(
                "/batch_query_keys",
                (target, wire) ->
                        wire.reply(
                                503,
                                "{\"success\":false,\"error_code\":-1011,\"error_message\":"
                                        + "\"service plane is not active\"}"));
        other.on("/role", (target, wire) -> wire.reply(200, "leader"));
        other.holds(Set.of());
        assertEquals(bits(), now(store.held(List.of("k"))), "asked again, of the new leader");
        assertEquals(1, forgotten.get());
    }

    @Test
    void a_change_of_view_is_noticed_and_what_was_known_is_forgotten() {
        master.holds(Set.of("k"));
        master.healthy("7");
        MooncakeKeyStore store = store(master.url());
        now(store.held(List.of("k")));
        clock.addAndGet(MooncakeOptions.DEFAULTS.viewCheck().toNanos());
        now(store.held(List.of("k")));
        Awaitility.await().until(() -> master.asked("/health") == 2);
        assertEquals(0, forgotten.get());

        master.healthy("8");
        Awaitility.await()
                .until(
                        () -> {
                            clock.addAndGet(MooncakeOptions.DEFAULTS.viewCheck().toNanos());
                            now(store.held(List.of("k")));
                            return forgotten.get() == 1;
                        });
    }

    @Test
    void a_master_that_was_started_anew_is_asked_again_and_its_past_forgotten() {
        master.holds(Set.of("k"));
        MooncakeKeyStore store = store(master.url());
        assertEquals(bits(0), now(store.held(List.of("k"))));
        master.close();
        assertEquals(Reason.UNREACHABLE, failure(store.held(List.of("k"))).reason());
        // Somebody else's connection may have the port for a moment.
        try (MasterDouble again =
                Awaitility.await()
                        .ignoreException(UncheckedIOException.class)
                        .until(() -> new MasterDouble(master.port()), Objects::nonNull)) {
            again.holds(Set.of());
            assertEquals(bits(), now(store.held(List.of("k"))));
            assertEquals(1, forgotten.get());
        }
    }

    @Test
    void masters_before_0_3_12_are_refused_with_the_reason() {
        master.on("/kv_events/status", (target, wire) -> wire.reply(404, "404 Not Found"));
        other.on("/role", (target, wire) -> wire.reply(200, "standby"));
        PoolUnavailableException refusal =
                failure(store(other.url(), master.url()).held(List.of("k")));
        assertEquals(Reason.VERSION, refusal.reason());
        assertTrue(refusal.getMessage().contains("before 0.3.12"), refusal.getMessage());
        assertTrue(refusal.getMessage().contains("leases"), refusal.getMessage());
        assertEquals(0, master.asked("/batch_query_keys"), "nothing is asked of it");

        master.on("/role", (target, wire) -> wire.reply(404, "404 Not Found"));
        assertEquals(Reason.VERSION, failure(store(master.url()).held(List.of("k"))).reason());
    }

    @Test
    void a_master_that_is_not_ready_does_not_lead() {
        master.on(
                "/health",
                (target, wire) ->
                        wire.reply(
                                200,
                                "{\"role\":\"leader\",\"ha_state\":\"leader_warmup\","
                                        + "\"service_ready\":false,\"view_version\":3}"));
        PoolUnavailableException refusal = failure(store(master.url()).held(List.of("k")));
        assertEquals(Reason.NO_LEADER, refusal.reason());
        assertTrue(refusal.getMessage().contains("leader_warmup"), refusal.getMessage());
    }

    @Test
    void answers_that_are_none_are_told_as_such() {
        List<MasterDouble.Script> garbage =
                List.of(
                        (target, wire) -> wire.reply(200, "<html>hello</html>"),
                        (target, wire) -> wire.reply(200, ""),
                        (target, wire) -> wire.reply(200, "{\"success\":true,\"data\":{}}"),
                        (target, wire) ->
                                wire.reply(200, "{\"success\":true,\"data\":{\"k\":{\"ok\""),
                        (target, wire) -> wire.reply(404, "404 Not Found"),
                        (target, wire) ->
                                wire.reply(400, "{\"success\":false,\"error\":\"No keys\"}"),
                        (target, wire) -> wire.reply(500, "oops"),
                        (target, wire) ->
                                wire.raw(
                                        "HTTP/1.1 302 Found\r\nlocation: "
                                                + other.url()
                                                + target
                                                + "\r\ncontent-length: 0\r\n\r\n"));
        other.holds(Set.of("k"));
        for (MasterDouble.Script script : garbage) {
            master.on("/batch_query_keys", script);
            PoolUnavailableException failure = failure(store(master.url()).held(List.of("k")));
            assertEquals(Reason.GARBLED, failure.reason(), failure.getMessage());
            assertTrue(
                    failure.getMessage().contains(master.url().toString()), failure.getMessage());
        }
        assertEquals(0, other.targets().size(), "a redirect is not followed");
    }

    @Test
    void what_does_not_speak_http_is_a_failure_and_no_hit() {
        for (String bytes :
                List.of("SSH-2.0-OpenSSH_9\r\n", "\0\1\2\3\r\n\r\n", "HTTP/1.1 abc\r\n\r\n")) {
            master.on(
                    "/batch_query_keys",
                    (target, wire) -> {
                        wire.raw(bytes);
                        wire.hangUp();
                    });
            failure(store(master.url()).held(List.of("k")));
        }
    }

    @Test
    void half_an_answer_is_a_failure() {
        String body = MasterDouble.body(List.of("k"), Set.of("k"));
        master.on(
                "/batch_query_keys",
                (target, wire) -> {
                    wire.raw(MasterDouble.head(200, body.length()) + body.substring(0, 40));
                    wire.hangUp();
                });
        assertEquals(Reason.UNREACHABLE, failure(store(master.url()).held(List.of("k"))).reason());
        assertEquals(2, master.asked("/batch_query_keys"), "once again, not more");
    }

    @Test
    void an_answer_of_ten_megabytes_is_not_read_to_its_end() {
        String filler = "x".repeat(1 << 20);
        master.on(
                "/batch_query_keys",
                (target, wire) -> {
                    wire.raw(MasterDouble.head(200, 10L << 20));
                    for (int i = 0; i < 10; i++) {
                        wire.raw(filler);
                    }
                });
        PoolUnavailableException failure =
                failure(
                        store(
                                        new MooncakeOptions(
                                                256,
                                                1,
                                                Duration.ofSeconds(10),
                                                1 << 20,
                                                Duration.ofSeconds(2)),
                                        master.url())
                                .held(List.of("k")));
        assertEquals(Reason.GARBLED, failure.reason());
        assertTrue(failure.getMessage().contains("more than"), failure.getMessage());
    }

    @Test
    void ten_megabytes_that_are_an_answer_are_read() {
        List<String> keys = List.of("k");
        String body =
                MasterDouble.body(keys, Set.of("k"))
                        .replace(
                                "\"disk_values\":null",
                                "\"disk_values\":\"" + "x".repeat(7 << 20) + "\"");
        master.on("/batch_query_keys", (target, wire) -> wire.reply(200, body));
        assertEquals(bits(0), now(store(master.url()).held(keys)));
    }

    @Test
    void a_slow_master_is_given_up_after_the_time_out() {
        MooncakeOptions quick = options(Duration.ofMillis(100));
        master.on("/batch_query_keys", (target, wire) -> release.await());
        assertEquals(
                Reason.TIMEOUT, failure(store(quick, master.url()).held(List.of("k"))).reason());
        master.on(
                "/batch_query_keys",
                (target, wire) -> {
                    wire.raw(MasterDouble.head(200, 100) + "{");
                    release.await();
                });
        assertEquals(
                Reason.TIMEOUT, failure(store(quick, master.url()).held(List.of("k"))).reason());
        other.on("/role", (target, wire) -> release.await());
        assertEquals(
                Reason.TIMEOUT, failure(store(quick, other.url()).held(List.of("k"))).reason());
    }

    @Test
    void a_host_that_is_not_there_is_told() {
        assertEquals(
                Reason.UNREACHABLE,
                failure(store(URI.create("http://127.0.0.1:1")).held(List.of("k"))).reason());
        PoolUnavailableException gone =
                failure(store(URI.create("http://master.invalid:9003")).held(List.of("k")));
        assertTrue(
                gone.reason() == Reason.UNREACHABLE || gone.reason() == Reason.TIMEOUT,
                gone.getMessage());
        assertTrue(gone.getMessage().contains("master.invalid"), gone.getMessage());
    }

    @Test
    void a_few_of_the_keys_are_shown_without_reading_all() {
        StringBuilder all = new StringBuilder("sglang_mooncake_store_warmup_key1\n");
        IntStream.range(0, 100_000).forEach(i -> all.append("Qwen_").append(i).append("_0_k\n"));
        master.on("/get_all_keys", (target, wire) -> wire.reply(200, all.toString()));
        assertEquals(List.of("Qwen_0_0_k", "Qwen_1_0_k"), now(store(master.url()).some(2)));
        master.on("/get_all_keys", (target, wire) -> wire.reply(200, ""));
        assertEquals(List.of(), now(store(master.url()).some(2)));
    }

    @Test
    void a_closed_store_refuses() {
        MooncakeKeyStore store = store(master.url());
        store.close();
        assertEquals(Reason.CLOSED, failure(store.held(List.of("k"))).reason());
    }
}
