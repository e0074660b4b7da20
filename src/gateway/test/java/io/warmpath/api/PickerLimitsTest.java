package io.warmpath.api;

import static org.awaitility.Awaitility.await;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.vertx.core.http.HttpClient;
import io.vertx.core.http.HttpServer;
import io.warmpath.api.extproc.BodyMode;
import io.warmpath.api.extproc.ProcessingRequest.Kind;
import io.warmpath.api.extproc.ProcessingRequest.Modes;
import io.warmpath.api.extproc.ProxyMessages;
import io.warmpath.api.picker.PickerMeters;
import io.warmpath.api.picker.PickerOptions;
import io.warmpath.api.picker.PickerServer;
import io.warmpath.fleet.EngineKind;
import io.warmpath.fleet.WorkerState;
import io.warmpath.gateway.request.ClientBounds;
import io.warmpath.net.server.ClientLimits;
import io.warmpath.net.server.ServerConnections;
import io.warmpath.upstream.UpstreamOptions;
import java.net.URI;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

/** More than one proxy may ask of the picker, over HTTP/2 in clear text. */
@ExtendWith(Leaks.class)
class PickerLimitsTest {
    private static final int MEMORY = 200_000;
    private static final int MOST_BODY = 60_000;
    private static final int MOST_STREAMS = 20;
    private static final Duration SPAN = Duration.ofMillis(300);
    private static final Duration LONG = Duration.ofMinutes(5);
    private static final int RESOURCE_EXHAUSTED = 8;
    private static final int DEADLINE_EXCEEDED = 4;

    private final ClientLimits limits = ClientLimits.of(LONG, LONG, LONG, 2, "", System::nanoTime);
    private Gateway gateway;
    private PickerServer picker;
    private HttpClient client;
    private int port;

    @BeforeEach
    void start() throws Exception {
        gateway =
                new Gateway(
                        EnginePath.RAW,
                        Options.of(
                                o ->
                                        o.clients =
                                                new ClientBounds(
                                                        Duration.ZERO,
                                                        Duration.ZERO,
                                                        LONG,
                                                        MEMORY)),
                        UpstreamOptions.defaults(),
                        Runnable::run);
        gateway.fleet.workers(
                List.of(
                        Gateway.worker(
                                0,
                                URI.create("http://127.0.0.11:8000"),
                                EngineKind.VLLM,
                                WorkerState.READY,
                                1)));
        picker =
                gateway.inference.picker(
                        new PickerMeters(gateway.meters),
                        new PickerOptions(
                                62_000,
                                16 << 20,
                                MOST_BODY,
                                0,
                                false,
                                MOST_STREAMS,
                                SPAN,
                                Duration.ofSeconds(3)),
                        engines -> engines,
                        () -> "");
        HttpServer server =
                gateway.vertx
                        .createHttpServer(PickerServer.options())
                        .requestHandler(picker)
                        .listen(0, "127.0.0.1")
                        .toCompletionStage()
                        .toCompletableFuture()
                        .get(10, TimeUnit.SECONDS);
        port = server.actualPort();
        ServerConnections.proxies(port, limits);
        client = ProxyCall.client(gateway.vertx);
    }

    @AfterEach
    void stop() throws Exception {
        gateway.close();
        ServerConnections.proxies(port, null);
    }

    private ProxyCall call() throws Exception {
        return ProxyCall.process(client, port);
    }

    private static byte[] ascii(String text) {
        return text.getBytes(StandardCharsets.US_ASCII);
    }

    private static byte[] head(Modes modes, String path, String... more) {
        String[] usual = {":method", "POST", ":path", path};
        String[] all = Arrays.copyOf(usual, usual.length + more.length);
        System.arraycopy(more, 0, all, usual.length, more.length);
        return ProxyMessages.head(Kind.REQUEST_HEADERS, false, modes, null, null, all);
    }

    private static byte[] chat() {
        return head(Modes.DUPLEX, Gateway.CHAT);
    }

    private static byte[] part(String bytes, boolean end) {
        return ProxyMessages.body(Kind.REQUEST_BODY, ascii(bytes), end);
    }

    /** The head of a message and a part of it. */
    private static byte[] begun(int announced, int sent) {
        return ByteBuffer.allocate(5 + sent).put((byte) 0).putInt(announced).array();
    }

    private long held() {
        return (long) gateway.meters.get("warmpath.request.body.bytes").gauge().value();
    }

    private double shed(String why) {
        return gateway.counter("warmpath.picker.shed", "why", why);
    }

    private void others(ProxyCall other) throws Exception {
        other.send(part(Gateway.ASK, true));
        assertNotNull(other.answer().destination());
    }

    private void nothingIsKept() {
        await().until(() -> gateway.books.open.get() == 0 && held() == 0);
        await().until(() -> gateway.meters.get("warmpath.picker.streams").gauge().value() == 0);
    }

    @Test
    void a_length_that_is_announced_takes_no_memory() throws Exception {
        List<ProxyCall> calls = new ArrayList<>();
        for (int i = 0; i < MOST_STREAMS - 1; i++) {
            calls.add(call().send(begun(16 << 20, 1)));
        }
        await().until(() -> held() == calls.size());
        try (ProxyCall other = call()) {
            other.send(chat());
            others(other);
        }
        calls.forEach(ProxyCall::close);
        nothingIsKept();
    }

    @Test
    void what_waits_counts_as_it_comes_and_ends_its_own_stream_alone() throws Exception {
        try (ProxyCall other = call();
                ProxyCall first = call();
                ProxyCall second = call()) {
            other.send(chat());
            first.send(begun(16 << 20, 60_000));
            await().until(() -> held() > 60_000);
            second.send(begun(16 << 20, 60_000)); // more than half of all, on one connection
            assertEquals(RESOURCE_EXHAUSTED, second.status.get(10, TimeUnit.SECONDS));
            assertEquals(1, shed("memory"));
            others(other);
            assertFalse(first.status.isDone());
        }
        nothingIsKept();
    }

    @Test
    void without_memory_what_runs_goes_on_and_what_begins_does_not() throws Exception {
        try (ProxyCall running = call();
                ProxyCall other = call();
                ProxyCall call = call()) {
            running.send(head(Modes.DUPLEX, "/upload"));
            assertNotNull(running.answer().destination());
            gateway.inference.bodies().full(true);
            call.send(begun(1000, 10));
            assertEquals(RESOURCE_EXHAUSTED, call.status.get(10, TimeUnit.SECONDS));
            other.send(chat());
            assertEquals(503, other.answer().status());
            byte[] piece = part("x".repeat(1000), false);
            running.send(Arrays.copyOf(piece, 500));
            await().until(() -> held() >= 490);
            running.send(Arrays.copyOfRange(piece, 500, piece.length));
            assertEquals(Kind.REQUEST_BODY, running.answer().kind());
            gateway.inference.bodies().full(false);
        }
        nothingIsKept();
    }

    @Test
    void bodies_and_heads_together_take_what_there_is_and_then_get_503() throws Exception {
        List<ProxyCall> calls = new ArrayList<>();
        int refused = 0;
        for (int i = 0; i < 8; i++) {
            ProxyCall call = call();
            calls.add(call);
            call.send(chat()).send(part("x".repeat(40_000), false));
            await().until(() -> held() > 0);
        }
        await().until(() -> calls.stream().anyMatch(c -> !c.isSilent()));
        assertTrue(held() <= MEMORY, () -> "held " + held());
        for (ProxyCall call : calls) {
            if (!call.isSilent()) {
                assertEquals(503, call.answer().status());
                refused++;
            }
        }
        assertTrue(refused > 0);
        calls.forEach(ProxyCall::close);
        nothingIsKept();
    }

    @Test
    void a_head_that_is_too_long_is_431() throws Exception {
        try (ProxyCall other = call();
                ProxyCall call = call()) {
            other.send(chat());
            call.send(head(Modes.DUPLEX, Gateway.CHAT, "x-a", "v".repeat(70_000)));
            assertEquals(431, call.answer().status());
            others(other);
        }
        // The control: one that is just not.
        try (ProxyCall call = call()) {
            call.send(head(Modes.DUPLEX, Gateway.CHAT, "x-a", "v".repeat(60_000)));
            call.send(part(Gateway.ASK, true));
            assertNotNull(call.answer().destination());
        }
        nothingIsKept();
    }

    @Test
    void many_short_headers_count_as_what_they_take() throws Exception {
        String[] many = new String[2 * 2000];
        Arrays.setAll(many, i -> i % 2 == 0 ? "a" : "b");
        try (ProxyCall call = call()) {
            call.send(head(Modes.DUPLEX, Gateway.CHAT, many));
            assertEquals(503, call.answer().status());
        }
        nothingIsKept();
    }

    @Test
    void one_stream_too_many_is_refused_and_the_others_go_on() throws Exception {
        List<ProxyCall> calls = new ArrayList<>();
        for (int i = 0; i < MOST_STREAMS; i++) {
            calls.add(call().send(head(Modes.DUPLEX, "/upload")));
            assertNotNull(calls.getLast().answer().destination());
        }
        try (ProxyCall call = call()) {
            assertEquals(RESOURCE_EXHAUSTED, call.status.get(10, TimeUnit.SECONDS));
        }
        assertEquals(1, shed("streams"));
        calls.getFirst().close();
        await().until(
                        () -> {
                            try (ProxyCall call = call()) {
                                call.send(chat()).send(part(Gateway.ASK, true));
                                return !call.status.isDone() && call.answer().destination() != null;
                            } catch (AssertionError refused) {
                                return false;
                            }
                        });
        calls.forEach(ProxyCall::close);
        nothingIsKept();
    }

    @Test
    void a_proxy_that_is_silent_in_its_turn_is_answered_or_ended() throws Exception {
        try (ProxyCall nothing = call();
                ProxyCall half = call();
                ProxyCall waiting = call();
                ProxyCall buffering = call();
                ProxyCall slow = call()) {
            half.send(begun(1000, 10));
            waiting.send(head(Modes.DUPLEX, "/upload"));
            assertNotNull(waiting.answer().destination());
            buffering.send(head(new Modes(BodyMode.BUFFERED, BodyMode.STREAMED), Gateway.CHAT));
            assertEquals(Kind.REQUEST_HEADERS, buffering.answer().kind());
            slow.send(chat()).send(part("{", false));

            assertEquals(408, slow.answer().status());
            assertEquals(DEADLINE_EXCEEDED, nothing.status.get(10, TimeUnit.SECONDS));
            assertEquals(DEADLINE_EXCEEDED, half.status.get(10, TimeUnit.SECONDS));
            assertEquals(0, slow.status.get(10, TimeUnit.SECONDS), "answered, and left open");
            assertFalse(waiting.status.isDone(), "an engine may take its time");
            assertFalse(buffering.status.isDone(), "a client may while its body is gathered");
            others(buffering);
        }
        assertEquals(4, shed("silent"));
        nothingIsKept();
    }

    @Test
    void answers_that_are_not_taken_count_too() throws Exception {
        try (ProxyCall call = call()) {
            call.send(head(Modes.DUPLEX, "/upload"));
            assertNotNull(call.answer().destination());
            call.takesNothing();
            for (int i = 0; i < 200; i++) {
                call.send(part("x".repeat(16_000), false));
            }
            assertEquals(-1, call.status.get(10, TimeUnit.SECONDS));
        }
        assertEquals(1, shed("memory"));
        nothingIsKept();
    }

    @Test
    void connections_beyond_those_that_may_be_take_the_place_of_idle_ones() throws Exception {
        HttpClient[] clients = new HttpClient[4];
        for (int i = 0; i < clients.length; i++) {
            clients[i] = ProxyCall.client(gateway.vertx);
            try (ProxyCall call = ProxyCall.process(clients[i], port)) {
                call.send(chat()).send(part(Gateway.ASK, true));
                assertNotNull(call.answer().destination());
            }
            await().until(() -> gateway.books.open.get() == 0);
        }
        await().until(() -> limits.connections().open() <= 2);
        assertEquals(2, limits.connections().displaced().sum());
        nothingIsKept();
    }
}
