package io.warmpath.wiring.fleet;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.warmpath.fleet.EngineKind;
import io.warmpath.fleet.Worker;
import io.warmpath.prefix.WorkerSlot;
import io.warmpath.wiring.Logs;
import java.net.URI;
import java.util.List;
import java.util.Set;
import java.util.logging.Level;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

class FleetLogTest {
    private final Logs logs = new Logs(FleetLog.class);

    @AfterEach
    void close() {
        logs.close();
    }

    private static Worker worker(String name, EngineKind kind, String version) {
        return Worker.builder(1, name, URI.create("http://w"))
                .kind(kind)
                .models(Set.of("m"))
                .blockSize(16)
                .ranks(List.of(new Worker.Rank(0, new WorkerSlot(0))))
                .version(version)
                .build();
    }

    private List<String> nearest() {
        return logs.at(Level.INFO).stream().filter(l -> l.contains("nearest")).toList();
    }

    @Test
    void an_engine_of_another_version_than_its_profile_is_told_once() {
        FleetLog log = new FleetLog(true);
        log.attached(worker("a", EngineKind.VLLM, "0.33.1"), List.of(), "");
        log.attached(worker("b", EngineKind.SGLANG, "0.5.23.post2"), List.of(), "");
        log.attached(worker("c", EngineKind.OPENAI, "7"), List.of(), "");
        assertEquals(List.of(), nearest());
        log.attached(worker("d", EngineKind.VLLM, "0.9.2"), List.of(), "");
        log.attached(worker("e", EngineKind.VLLM, "0.9.2"), List.of(), "");
        log.attached(worker("f", EngineKind.SGLANG, ""), List.of(), "");
        assertEquals(2, nearest().size());
        assertTrue(
                nearest().getFirst().startsWith("Worker d is VLLM 0.9.2: its chats are rendered"),
                nearest().getFirst());
        assertTrue(nearest().getFirst().contains("as 0.33 renders"), nearest().getFirst());
        assertTrue(nearest().getLast().contains("of unknown version"), nearest().getLast());
    }

    @Test
    void an_engine_that_was_not_tested_is_told_once_in_every_mode() {
        FleetLog log = new FleetLog(false);
        log.attached(worker("a", EngineKind.VLLM, "0.32.0"), List.of(), "");
        log.attached(worker("b", EngineKind.SGLANG, "v0.5.23.post1"), List.of(), "");
        log.attached(worker("c", EngineKind.OPENAI, "7"), List.of(), "");
        assertEquals(List.of(), untested());
        log.attached(worker("d", EngineKind.VLLM, "0.32.01"), List.of(), "");
        log.attached(worker("e", EngineKind.VLLM, "0.32.01"), List.of(), "");
        log.attached(worker("f", EngineKind.SGLANG, ""), List.of(), "");
        assertEquals(
                List.of(
                        "Worker d is VLLM 0.32.01, with which this gateway was not tested; 0.32.0"
                                + " was.",
                        "Worker f is SGLANG of unknown version, with which this gateway was not"
                                + " tested; 0.5.23 was."),
                untested());
    }

    private List<String> untested() {
        return logs.at(Level.INFO).stream().filter(l -> l.contains("not tested")).toList();
    }

    @Test
    void events_that_cannot_be_found_are_one_warning() {
        FleetLog log = new FleetLog(true);
        Worker w = worker("a", EngineKind.VLLM, "0.32.0");
        log.attached(w, List.of(), "not json");
        log.disagrees(w, List.of("events: not json"));
        assertEquals(
                List.of(
                        "Worker a serves, but not all that is told of it is used: events: not json"),
                logs.at(Level.WARNING));
        log.attached(w, List.of(), "");
        assertEquals(2, logs.at(Level.WARNING).size(), "an engine that has none is another thing");
    }

    @Test
    void where_tokens_do_not_count_neither_does_the_version() {
        new FleetLog(false).attached(worker("d", EngineKind.VLLM, "0.9.2"), List.of(), "");
        assertEquals(List.of(), nearest());
    }
}
