package io.warmpath.cli;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.io.IOException;
import java.time.Duration;
import java.util.Collections;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** {@code drain} and {@code resume}. */
class DrainCommandTest {
    private static final String ROW =
            "{\"id\":\"12\",\"name\":\"w2\",\"state\":\"drained\",\"drained\":true}";

    private StubGateway gateway;

    @BeforeEach
    void start() throws IOException {
        gateway = new StubGateway().on("POST /workers/w2/drain", 202, ROW);
    }

    @AfterEach
    void stop() {
        gateway.close();
    }

    private static String fleet(boolean drained, int first, int second) {
        return "{\"workers\":[{\"id\":\"11\",\"name\":\"w1\",\"ranks\":[{\"running\":9}]},{\"id\":\"12\",\"name\":\"w2\",\"drained\":%b,\"ranks\":[{\"running\":%d},{\"running\":%d}]}]}"
                .formatted(drained, first, second);
    }

    @Test
    void without_wait_it_asks_once() {
        assertEquals(0, gateway.run("drain", "w2", "--reason", "new driver"));
        assertEquals(
                "w2 gets no new requests. Those that run there end by themselves.\n",
                gateway.out());
        assertEquals(
                List.of("POST /workers/w2/drain {\"reason\":\"new driver\"}"), gateway.asked());
    }

    @Test
    void with_wait_it_returns_when_nothing_runs_there() {
        gateway.on("GET /fleet", 200, fleet(false, 2, 1)) // from before
                .on("GET /fleet", 200, fleet(true, 2, 1))
                .on("GET /fleet", 200, fleet(true, 2, 1))
                .on("GET /fleet", 200, fleet(true, 0, 1))
                .on("GET /fleet", 200, fleet(true, 0, 0));
        assertEquals(0, gateway.run("drain", "w2", "--wait"), gateway.err());
        assertEquals("w2 gets no new requests.\nNothing runs there.\n", gateway.out());
        assertEquals("3 running on w2\n1 running on w2\n", gateway.err());
        assertEquals(Collections.nCopies(4, Duration.ofMillis(500)), gateway.pauses);
    }

    @Test
    void the_state_alone_says_that_it_is_drained() {
        gateway.on(
                "GET /fleet",
                200,
                fleet(false, 0, 0).replace("\"drained\":false", "\"state\":\"drained\""));
        assertEquals(0, gateway.run("drain", "w2", "--wait"), gateway.err());
    }

    @Test
    void an_answer_from_before_with_nothing_running_does_not_end_the_wait() {
        gateway.on("GET /fleet", 200, fleet(false, 0, 0)).on("GET /fleet", 200, fleet(true, 0, 0));
        assertEquals(0, gateway.run("drain", "w2", "--wait"));
        assertEquals(1, gateway.pauses.size());
    }

    @Test
    void a_worker_that_leaves_meanwhile_ends_the_wait() {
        gateway.on("GET /fleet", 200, fleet(true, 1, 0)).on("GET /fleet", 200, "{\"workers\":[]}");
        assertEquals(0, gateway.run("drain", "w2", "--wait"));
        assertEquals("w2 gets no new requests.\nw2 has left the fleet.\n", gateway.out());
    }

    @Test
    void a_worker_that_somebody_resumes_ends_the_wait_with_an_error() {
        gateway.on("GET /fleet", 200, fleet(true, 1, 0)).on("GET /fleet", 200, fleet(false, 1, 0));
        assertEquals(1, gateway.run("drain", "w2", "--wait"));
        assertEquals("1 running on w2\nwarmpath drain: somebody has resumed w2.\n", gateway.err());
    }

    @Test
    void another_gateway_behind_the_address_is_found() {
        gateway.on("GET /fleet", 200, fleet(false, 1, 0));
        assertEquals(1, gateway.run("drain", "w2", "--wait"));
        assertEquals(
                "warmpath drain: the gateway at http://gateway does not show w2 as drained: where"
                        + " several gateways share this address, ask each at its own.\n",
                gateway.err());
    }

    @Test
    void no_such_worker_is_the_gateways_word_and_exit_code_1() {
        gateway.on(
                "POST /workers/a%2Fb/drain",
                404,
                StubGateway.error("No such worker: a/b; there are w1, w2.", "worker_not_found"));
        assertEquals(1, gateway.run("drain", "a/b"));
        assertEquals(
                "warmpath drain: the gateway answers with status 404: No such worker: a/b; there are"
                        + " w1, w2.\n",
                gateway.err());
    }

    @Test
    void resume_says_what_the_worker_is_then() {
        gateway.on("POST /workers/w2/resume", 202, ROW.replace("drained\"", "ready\""))
                .on("POST /workers/w3/resume", 202, "{\"name\":\"w3\",\"state\":\"unhealthy\"}");
        assertEquals(0, gateway.run("resume", "w2"), gateway.err());
        assertEquals("w2 gets requests again.\n", gateway.out());
        assertEquals(List.of("POST /workers/w2/resume {}"), gateway.asked());
        assertEquals(0, gateway.run("resume", "w3"));
        assertEquals(
                "w3 is not drained any more, and gets requests once its health check is answered (now unhealthy).\n",
                gateway.out());
    }

    @Test
    void json_is_the_last_row() {
        gateway.on("GET /fleet", 200, fleet(true, 0, 0));
        assertEquals(0, gateway.run("drain", "w2", "--json"));
        assertEquals(ROW + "\n", gateway.out());
        assertEquals(0, gateway.run("drain", "w2", "--wait", "--json"));
        assertEquals(
                "{\"id\":\"12\",\"name\":\"w2\",\"drained\":true,\"ranks\":[{\"running\":0},{\"running\":0}]}\n",
                gateway.out());
    }
}
