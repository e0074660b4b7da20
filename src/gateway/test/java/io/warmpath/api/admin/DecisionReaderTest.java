package io.warmpath.api.admin;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.vertx.core.Future;
import io.vertx.core.buffer.Buffer;
import io.vertx.core.http.HttpServerResponse;
import io.warmpath.fleet.Candidate;
import io.warmpath.fleet.EngineKind;
import io.warmpath.fleet.Worker;
import io.warmpath.gateway.observe.DecisionCause;
import io.warmpath.gateway.observe.DecisionFeed.Change;
import io.warmpath.gateway.observe.DecisionLog.Ending;
import io.warmpath.gateway.observe.KeptDecision;
import io.warmpath.gateway.observe.KeptDecision.End;
import io.warmpath.gateway.observe.Occasion;
import io.warmpath.load.LoadTracker;
import io.warmpath.prefix.WorkerSlot;
import io.warmpath.routing.RouterMode;
import io.warmpath.routing.RouterOptions;
import io.warmpath.routing.RoutingDecision;
import io.warmpath.routing.RoutingRequest;
import io.warmpath.routing.modes.Routers;
import java.lang.reflect.Proxy;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.Set;
import java.util.concurrent.atomic.AtomicReference;
import java.util.stream.IntStream;
import java.util.stream.LongStream;
import org.junit.jupiter.api.Test;

/** What one reader of the stream is sent, and what it misses. */
class DecisionReaderTest {
    private static final int NEVER = Integer.MAX_VALUE;
    private static final RoutingDecision DECISION = decision();
    private static final End END = new End(Instant.EPOCH, "", new Ending(200, 1, 1, true, 1, 1, 1));

    private final List<String> written = new ArrayList<>();
    private boolean full;
    private final DecisionReader reader =
            new DecisionReader(response(), new DecisionFilter(null, null, null, null, null, null));

    private HttpServerResponse response() {
        return (HttpServerResponse)
                Proxy.newProxyInstance(
                        getClass().getClassLoader(),
                        new Class<?>[] {HttpServerResponse.class},
                        (proxy, method, arguments) ->
                                switch (method.getName()) {
                                    case "writeQueueFull" -> full;
                                    case "write" -> {
                                        written.add(((Buffer) arguments[0]).toString());
                                        yield Future.succeededFuture();
                                    }
                                    default ->
                                            throw new UnsupportedOperationException(
                                                    method.getName());
                                });
    }

    private static RoutingDecision decision() {
        Worker.Rank rank = new Worker.Rank(0, new WorkerSlot(0));
        Worker worker =
                Worker.builder(1, "w", URI.create("http://w"))
                        .kind(EngineKind.VLLM)
                        .models(Set.of("m"))
                        .blockSize(16)
                        .ranks(List.of(rank))
                        .build();
        return Routers.create(
                        RouterOptions.of(RouterMode.KV), new LoadTracker(), () -> new Random(1))
                .decide(
                        RoutingRequest.builder(
                                        List.of(new Candidate(worker, 0, rank.slot())),
                                        40,
                                        List.of())
                                .build());
    }

    private static KeptDecision kept(long number) {
        return new KeptDecision(
                number,
                Instant.EPOCH,
                "r" + number,
                "",
                "m",
                "/",
                new Occasion("", "", 1, DecisionCause.FIRST),
                DECISION,
                new AtomicReference<>());
    }

    private static List<Change> made(long from, long to) {
        return LongStream.range(from, to).mapToObj(n -> new Change(kept(n), null)).toList();
    }

    private static List<Change> ends(long from, long to) {
        return LongStream.range(from, to).mapToObj(n -> new Change(kept(n), END)).toList();
    }

    /** Sends, with a row's number and whether it has ended in the place of its text. */
    private int send(List<Change> changes, long missed, int commentTurns) {
        return reader.send(
                changes,
                missed,
                i -> {
                    Change c = changes.get(i);
                    int shown = (int) c.decision().number() * (c.end() == null ? 1 : -1);
                    return Integer.toString(shown).getBytes(StandardCharsets.US_ASCII);
                },
                commentTurns);
    }

    private JsonNode last() throws Exception {
        String event = written.getLast();
        assertTrue(event.startsWith("event: decisions\ndata: "), event);
        return new ObjectMapper().readTree(event.substring("event: decisions\ndata: ".length()));
    }

    private static List<Integer> rows(JsonNode event) {
        return event.get("rows").valueStream().map(JsonNode::intValue).toList();
    }

    @Test
    void what_is_more_than_fifty_rows_is_counted() throws Exception {
        send(made(1, 71), 5, NEVER);
        assertEquals(IntStream.rangeClosed(1, 50).boxed().toList(), rows(last()));
        assertEquals(25, last().get("skipped").intValue());
        send(made(71, 72), 0, NEVER);
        assertEquals(List.of(71), rows(last()));
        assertEquals(0, last().get("skipped").intValue());
    }

    @Test
    void ends_of_what_it_has_been_shown_come_before_what_is_new() throws Exception {
        send(made(1, 31), 0, NEVER);
        List<Change> changes = new ArrayList<>(made(100, 200));
        changes.addAll(ends(40, 60)); // never shown to it
        changes.addAll(ends(1, 31));
        send(changes, 0, NEVER);
        List<Integer> rows = new ArrayList<>();
        IntStream.range(100, 120).forEach(rows::add);
        IntStream.range(1, 31).forEach(n -> rows.add(-n));
        assertEquals(rows, rows(last()));
        assertEquals(100, last().get("skipped").intValue());
    }

    @Test
    void a_slow_reader_misses_rows_and_is_told_how_many_once_it_reads() throws Exception {
        full = true;
        assertEquals(1, send(made(1, 11), 0, NEVER));
        assertEquals(2, send(made(11, 21), 3, NEVER));
        assertEquals(List.of(), written);
        full = false;
        assertEquals(0, send(List.of(), 0, NEVER));
        assertEquals(List.of(), rows(last()));
        assertEquals(23, last().get("skipped").intValue());
        assertEquals(0, send(List.of(), 0, NEVER));
        assertEquals(1, written.size(), "nothing to say");
    }

    @Test
    void a_comment_comes_after_so_many_turns() {
        for (int i = 0; i < 7; i++) {
            send(List.of(), 0, 3);
        }
        assertEquals(List.of(":\n\n", ":\n\n"), written);
    }
}
