package io.warmpath.wiring.index;

import static org.awaitility.Awaitility.await;
import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.nats.client.Connection;
import io.nats.client.api.StreamConfiguration;
import io.warmpath.adapter.nats.NatsLink;
import io.warmpath.adapter.nats.NatsNames;
import io.warmpath.adapter.nats.NatsServer;
import io.warmpath.events.SourceMark;
import io.warmpath.prefix.IndexSnapshots.Label;
import io.warmpath.prefix.WorkerSlot;
import io.warmpath.state.NumberIndex;
import io.warmpath.wiring.TestConfig;
import io.warmpath.wiring.control.Announcements;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** A gateway's place in the object store, over a real server; its index is a number. */
class SharedPlaceTest {
    private static final Duration SOON = Duration.ofSeconds(20);
    private static final NatsNames NAMES = new NatsNames("test", "place");
    private static final int THRESHOLD = 10;

    @TempDir Path folder;
    private NatsServer server;
    private final List<AutoCloseable> open = new ArrayList<>();
    private final List<String> said = new ArrayList<>();

    private final Announcements heard =
            new Announcements() {
                @Override
                public void open(NatsLink link, NatsNames names, String router) {}

                @Override
                public void say(Kind kind, Map<String, Object> details) {
                    said.add(kind.name());
                }
            };

    @BeforeEach
    void start() throws Exception {
        server = NatsServer.start(folder.resolve("nats"));
    }

    @AfterEach
    void stop() throws Exception {
        for (AutoCloseable c : open) {
            c.close();
        }
        if (server != null) {
            server.close();
        }
    }

    private NatsLink link(String name) {
        NatsLink link = NatsLink.open(server.options(), name);
        open.add(link);
        return link;
    }

    private SharedPlace place(NatsLink link, String gateway, String... settings) {
        Map<String, String> all = new HashMap<>();
        all.put("warmpath.state.shared.threshold", Integer.toString(THRESHOLD));
        for (String s : settings) {
            all.put("warmpath.state.shared." + s.split("=", 2)[0], s.split("=", 2)[1]);
        }
        SharedPlace place =
                new SharedPlace(TestConfig.of(all).state().shared(), link, NAMES, gateway, heard);
        open.add(place);
        return place;
    }

    private void fill(NatsLink link) throws Exception {
        await().atMost(SOON).until(link::connected);
        Connection c = link.connection().orElseThrow();
        c.jetStreamManagement()
                .addStream(
                        StreamConfiguration.builder()
                                .name(NAMES.stream())
                                .subjects(NAMES.streamSubjects())
                                .build());
        for (int i = 0; i < THRESHOLD; i++) {
            c.jetStream().publish(NAMES.events(1, 0), new byte[1]);
        }
    }

    private static SnapshotPlace.View view(long position) {
        SourceMark mark = new SourceMark(0, new WorkerSlot(4), 9, 1, true, List.of());
        return new SnapshotPlace.View(
                List.of(mark), List.of(), List.of(new Label(new WorkerSlot(4), 9, 0)), position, 1);
    }

    @Test
    void what_one_writes_another_takes_up_with_its_place_in_the_stream() throws Exception {
        NatsLink link = link("a");
        fill(link);
        SharedPlace a = place(link, "a");
        NumberIndex index = new NumberIndex();
        assertEquals(Optional.empty(), a.load(index, said::add));
        index.content = 42;
        assertTrue(a.look(index, () -> view(THRESHOLD), false) > 0);
        assertEquals(0, a.look(index, () -> view(THRESHOLD), false), "nothing has come since");
        NumberIndex other = new NumberIndex();
        SnapshotPlace.TakenUp taken = place(link, "b").load(other, said::add).orElseThrow();
        assertEquals(42, other.content);
        assertEquals(THRESHOLD, taken.position());
        assertEquals(view(1).heard(), taken.marks());
        // Another stream of this name: the snapshot is good, its place in the stream is none.
        link.connection().orElseThrow().jetStreamManagement().deleteStream(NAMES.stream());
        fill(link);
        assertEquals(0, place(link, "c").load(other, said::add).orElseThrow().position());
        a.look(index, () -> view(THRESHOLD), true);
        assertEquals(List.of("STARTED", "SNAPSHOT", "ENDED"), said);
    }

    @Test
    void what_lies_beside_the_snapshots_is_each_gateways_own() throws Exception {
        NatsLink link = link("a");
        fill(link);
        SharedPlace a = place(link, "a");
        NumberIndex index = new NumberIndex();
        a.load(index, said::add);
        assertTrue(a.beside("pins").isEmpty());
        a.keepBeside("pins", new byte[] {1});
        a.keepBeside("pins", new byte[] {2, 3});
        assertTrue(a.look(index, () -> view(THRESHOLD), false) > 0, "which cleans up");
        SharedPlace again = place(link, "a");
        again.load(index, said::add);
        assertArrayEquals(new byte[] {2, 3}, again.beside("pins").orElseThrow());
        SharedPlace other = place(link, "b");
        other.load(index, said::add);
        assertTrue(other.beside("pins").isEmpty());
        SharedPlace anew = place(link, "a", "reset=true");
        anew.load(index, said::add);
        assertTrue(anew.beside("pins").isEmpty(), "all begins anew");
    }

    @Test
    void who_could_not_ask_at_its_start_writes_nothing() throws Exception {
        server.kill();
        NatsLink link = link("late");
        SharedPlace late = place(link, "late", "start-timeout=100ms");
        NumberIndex index = new NumberIndex();
        assertEquals(Optional.empty(), late.load(index, said::add));
        server.restart();
        fill(link);
        assertEquals(0, late.look(index, () -> view(THRESHOLD), false));
        SharedPlace whole = place(link, "whole");
        assertEquals(Optional.empty(), whole.load(index, said::add), "nothing was written");
        assertTrue(whole.look(index, () -> view(THRESHOLD), false) > 0, "nor is the lock kept");
    }

    @Test
    void a_reset_at_the_start_drops_what_was_there_and_tells() throws Exception {
        NatsLink link = link("a");
        fill(link);
        SharedPlace a = place(link, "a");
        NumberIndex index = new NumberIndex();
        assertEquals(Optional.empty(), a.load(index, said::add));
        assertTrue(a.look(index, () -> view(THRESHOLD), false) > 0);
        said.clear();
        SharedPlace anew = place(link, "anew", "reset=true");
        assertEquals(Optional.empty(), anew.load(index, said::add));
        assertEquals(
                0,
                link.connection()
                        .orElseThrow()
                        .jetStreamManagement()
                        .getStreamInfo(NAMES.stream())
                        .getStreamState()
                        .getMsgCount());
        anew.look(index, () -> view(0), false);
        assertEquals(List.of("RESET"), said);
    }
}
