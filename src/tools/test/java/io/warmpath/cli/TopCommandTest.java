package io.warmpath.cli;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

class TopCommandTest {
    private StubGateway gateway;

    @BeforeEach
    void start() throws IOException {
        gateway = new StubGateway();
    }

    @AfterEach
    void stop() {
        gateway.close();
    }

    /** Keys come one a frame. */
    private static final class Paper implements Screen {
        private final ArrayDeque<Integer> keys;
        private final List<List<String>> frames = new ArrayList<>();
        private final List<Duration> waits = new ArrayList<>();

        private Paper(Integer... keys) {
            this.keys = new ArrayDeque<>(List.of(keys));
        }

        @Override
        public int columns() {
            return 100;
        }

        @Override
        public int lines() {
            return 12;
        }

        @Override
        public void show(List<String> lines) {
            frames.add(lines);
        }

        @Override
        public int key(Duration most) {
            waits.add(most);
            return keys.remove();
        }

        @Override
        public void close() {}
    }

    private Call call() throws Trouble {
        return new Call(
                Arguments.parse(
                        new String[0], new TopCommand().switches(), new TopCommand().valued()),
                new Gateway(gateway.url(), Optional.empty()),
                gateway.around());
    }

    @Test
    void once_prints_workers_and_the_latest_decisions() {
        assertEquals(0, gateway.onAll().run("top", "--once"), gateway.err());
        String out = gateway.out();
        assertTrue(out.contains("\nw1      ready       31     2    4,310"), out);
        assertTrue(
                out.contains(
                        """

                        TIME      WORKER  PROMPT  PREDICTED  REPORTED  END                       REQUEST
                        18:02:30  w2       4,310      4,096     3,968  status 200                0f3c
                        18:02:30  w1       4,310      4,096         -  no answer: refused the …  0f3c
                        """),
                out);
        assertEquals(
                List.of("GET /fleet?history=false", "GET /router/decisions?detail=false&limit=24"),
                gateway.asked());
    }

    @Test
    void a_frame_is_drawn_each_second_until_q_and_never_longer_than_the_screen() throws Exception {
        gateway.onAll();
        Paper paper = new Paper(-1, (int) 'x', (int) 'q');
        TopCommand.draw(call(), paper);
        assertEquals(3, paper.frames.size());
        assertEquals(List.of(1L, 1L, 1L), paper.waits.stream().map(Duration::toSeconds).toList());
        for (List<String> frame : paper.frames) {
            assertTrue(frame.size() <= 12, String.join("\n", frame));
            assertTrue(frame.stream().allMatch(l -> l.length() <= 100), String.join("\n", frame));
        }
    }

    @Test
    void a_gateway_that_is_away_is_waited_for() throws Exception {
        gateway.on("GET /fleet", 503, StubGateway.error("It stops.", "stopping")).onAll();
        Paper paper = new Paper(-1, (int) 'q');
        TopCommand.draw(call(), paper);
        assertEquals(
                List.of(
                        "! the gateway answers with status 503: It stops.",
                        "  Asked again each second; q ends it."),
                paper.frames.getFirst());
        assertTrue(paper.frames.get(1).getFirst().startsWith("Warmpath 0.1.0"));
    }

    @Test
    void json_is_a_fleet_on_a_line() {
        assertEquals(0, gateway.onAll().run("top", "--once", "--json"));
        assertEquals(1, gateway.out().lines().count());
        assertTrue(gateway.out().startsWith("{\"gateway\":{"), gateway.out());
    }

    @Test
    void that_decisions_are_off_is_said_in_their_place() {
        gateway.on("GET /fleet", 200, StubGateway.file("fleet.json"))
                .on("GET /router/decisions", 200, "{\"enabled\":false,\"decisions\":[]}");
        assertEquals(0, gateway.run("top", "--once"));
        assertTrue(
                gateway.out()
                        .endsWith("\nDecisions are not kept (warmpath.explain.decisions=0).\n"),
                gateway.out());
    }
}
