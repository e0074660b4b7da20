package io.warmpath.wiring;

import static org.awaitility.Awaitility.await;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.warmpath.adapter.nats.NatsServer;
import io.warmpath.sim.SimOptions;
import java.net.http.HttpResponse;
import java.nio.file.Path;
import java.time.Duration;
import java.util.HashMap;
import java.util.Map;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Two whole gateways before the same two simulated engines, over a real nats-server. */
@Tag("slow")
class ReplicasOnSimTest {
    private static final ObjectMapper JSON = new ObjectMapper();
    private static final Duration SOON = Duration.ofSeconds(20);
    private static final String PROMPT = "\"token_ids\":[1,2,3,4,5,6,7,8]";

    @TempDir static Path folder;
    private static NatsServer server;
    private static SimGateway a;
    private static SimGateway b;

    @BeforeAll
    static void start() throws Exception {
        server = NatsServer.start(folder);
        a = SimGateway.start(settings("a"), SimOptions.builder(), SimOptions.builder());
        b = SimGateway.beside(a, settings("b"));
        await().atMost(SOON).until(() -> counted(a) == 1 && counted(b) == 1);
    }

    @AfterAll
    static void stop() throws Exception {
        if (b != null) {
            b.close();
        }
        if (a != null) {
            a.close();
        }
        if (server != null) {
            server.close();
        }
    }

    private static Map<String, String> settings(String id) {
        Map<String, String> s = new HashMap<>();
        s.put("warmpath.router.use-kv-events", "false");
        s.put("warmpath.router.mode", "least-loaded");
        s.put("warmpath.replica.sync", "true");
        s.put("warmpath.nats.router-id", id);
        s.put("warmpath.session.affinity-ttl", "5m");
        s.put("warmpath.nats.servers", server.url());
        s.put("warmpath.replica.max-age", "500ms"); // the machine may be busy
        return s;
    }

    private static JsonNode replicas(SimGateway g) throws Exception {
        return JSON.readTree(g.get("/replicas").body());
    }

    private static int counted(SimGateway g) throws Exception {
        int count = 0;
        for (JsonNode peer : replicas(g).get("data")) {
            count += peer.get("counted").asBoolean() ? 1 : 0;
        }
        return count;
    }

    /**
     * To be awaited before {@link #best} is asked: on an idle fleet a draw may name the expected
     * worker before any news has come.
     */
    private static int openBookingsOfPeer(SimGateway g) throws Exception {
        return replicas(g).at("/data/0/open_bookings").asInt();
    }

    private static String worker(SimGateway g, int number) throws Exception {
        return JSON.readTree(g.get("/workers").body()).at("/data/" + number + "/id").asText();
    }

    private static String best(SimGateway g) throws Exception {
        return JSON.readTree(g.post("/router/best_worker", "{" + PROMPT + "}").body())
                .get("worker_id")
                .asText();
    }

    private static void reserve(SimGateway g, String id, String worker) throws Exception {
        assertEquals(
                201,
                g.post(
                                "/router/reservations",
                                "{"
                                        + PROMPT
                                        + ",\"reservation_id\":\""
                                        + id
                                        + "\",\"worker_ids\":[\""
                                        + worker
                                        + "\"]}")
                        .statusCode());
    }

    @Test
    void a_gateway_avoids_the_worker_that_another_gateway_has_loaded() throws Exception {
        for (int busy = 0; busy < 2; busy++) {
            String loaded = worker(a, busy);
            String other = worker(a, 1 - busy);
            reserve(a, "r" + busy, loaded);
            await().atMost(SOON).until(() -> openBookingsOfPeer(b) == 1);
            for (int i = 0; i < 10; i++) {
                assertEquals(other, best(b), "ties are drawn by lot: this is none");
            }
            a.delete("/router/reservations/r" + busy);
            await().atMost(SOON).until(() -> openBookingsOfPeer(b) == 0);
        }
    }

    private static String turn(SimGateway g, String session) throws Exception {
        HttpResponse<String> answer =
                g.post(
                        "/v1/chat/completions",
                        "{\"model\":\"demo\",\"max_tokens\":1,\"messages\":"
                                + "[{\"role\":\"user\",\"content\":\"hi\"}]}",
                        "x-dynamo-session-id",
                        session,
                        "x-warmpath-explain",
                        "1");
        assertEquals(200, answer.statusCode(), answer.body());
        return answer.headers().firstValue("x-warmpath-worker").orElse("")
                + " "
                + answer.headers().firstValue("x-warmpath-session").orElse("");
    }

    @Test
    void a_session_that_began_at_one_gateway_stays_on_its_rank_at_the_other() throws Exception {
        for (int i = 0; i < 8; i++) {
            String session = "run-" + i;
            String home = turn(a, session).split(" ", 2)[0];
            long telling = replicas(a).at("/counts/sent").asLong();
            await().atMost(SOON).until(() -> replicas(a).at("/counts/sent").asLong() > telling + 3);
            long heard = replicas(b).at("/counts/received").asLong();
            await().atMost(SOON).until(() -> replicas(b).at("/counts/received").asLong() > heard);
            assertEquals(home + " kept", turn(b, session), "of " + session);
        }
    }

    @Test
    void without_nats_each_goes_on_by_its_own_load_and_hears_the_other_again_after()
            throws Exception {
        String loaded = worker(a, 0);
        String other = worker(a, 1);
        reserve(a, "of-a", loaded);
        await().atMost(SOON).until(() -> openBookingsOfPeer(b) == 1);
        assertEquals(other, best(b));
        assertEquals("a", replicas(b).at("/data/0/name").asText());
        server.kill();
        await().atMost(SOON).until(() -> counted(b) == 0);
        assertFalse(replicas(b).get("connected").asBoolean());
        reserve(b, "of-b", other);
        for (int i = 0; i < 10; i++) {
            assertEquals(loaded, best(b), "its own booking is all it knows");
        }
        server.restart();
        await().atMost(SOON).until(() -> counted(b) == 1 && counted(a) == 1);
        reserve(a, "of-a-2", loaded);
        await().atMost(SOON).until(() -> openBookingsOfPeer(b) == 2);
        assertEquals(other, best(b));
        assertTrue(replicas(b).at("/counts/unsent").asLong() > 0);
        a.delete("/router/reservations/of-a");
        a.delete("/router/reservations/of-a-2");
        b.delete("/router/reservations/of-b");
    }
}
