package io.warmpath.api;

import static io.warmpath.api.StreamingPathTest.DONE;
import static io.warmpath.api.StreamingPathTest.token;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.Parameter;
import org.junit.jupiter.params.ParameterizedClass;
import org.junit.jupiter.params.provider.ArgumentsSource;

/** A gateway that takes nothing new: what runs ends as it would have, what comes is refused. */
@ParameterizedClass
@ArgumentsSource(EnginePath.Tried.class)
@ExtendWith(Leaks.class)
class StoppingTest {
    @Parameter EnginePath path;

    private final CountDownLatch go = new CountDownLatch(1);
    private final CountDownLatch over = new CountDownLatch(1);
    private Gateway gateway;
    private StubEngine engine;

    @BeforeEach
    void start() throws Exception {
        gateway = new Gateway(path);
        engine =
                new StubEngine(
                        call -> {
                            if (!call.bodyText().contains("\"stream\":true")) {
                                call.json(200, "{}");
                                return;
                            }
                            call.streamHead();
                            call.chunk(token("a"));
                            assertTrue(go.await(20, TimeUnit.SECONDS));
                            call.chunk(token("b"));
                            call.chunk(DONE);
                            call.lastChunk();
                        });
        gateway.serve(engine);
    }

    @AfterEach
    void stop() throws Exception {
        go.countDown();
        gateway.close(engine);
    }

    private static void assertRefused(RawClient client, String kind) throws Exception {
        RawClient.Answer answer = client.readAnswer();
        assertEquals(503, answer.status(), answer.body());
        assertEquals("close", answer.header("connection"));
        assertEquals("1", answer.header("retry-after"));
        assertTrue(answer.body().contains(kind), answer.body());
        assertEquals(-1, client.in.read(), "the connection is of no use any more");
    }

    @Test
    void running_streams_end_and_new_requests_are_refused_on_old_and_new_connections()
            throws Exception {
        try (RawClient stream = new RawClient(gateway.port);
                RawClient old = new RawClient(gateway.port);
                RawClient fresh = new RawClient(gateway.port);
                RawClient messages = new RawClient(gateway.port);
                RawClient models = new RawClient(gateway.port)) {
            old.sendPost(Gateway.CHAT, Gateway.ASK_WHOLE);
            assertEquals(200, old.readAnswer().status());
            stream.sendPost(Gateway.CHAT, Gateway.ASK);
            stream.readHead();
            assertEquals(token("a"), stream.readChunk());
            gateway.inference.rawRequests().closed(over::countDown);
            int asked = engine.requests.get();

            old.sendPost(Gateway.CHAT, Gateway.ASK_WHOLE);
            assertRefused(old, "\"code\":\"stopping\"");
            fresh.sendPost(Gateway.CHAT, Gateway.ASK);
            assertRefused(fresh, "\"type\":\"service_unavailable_error\"");
            messages.sendPost("/v1/messages", Gateway.ASK_WHOLE);
            assertRefused(messages, "\"type\":\"error\"");
            models.send("GET /v1/models HTTP/1.1\r\nHost: gateway\r\n\r\n");
            assertRefused(models, "\"code\":\"stopping\"");
            assertEquals(200, RawClient.request(gateway.port, "GET", "/live").status());
            assertEquals(asked, engine.requests.get());

            go.countDown();
            StringBuilder rest = new StringBuilder();
            for (String c = stream.readChunk(); !c.isEmpty(); c = stream.readChunk()) {
                rest.append(c);
            }
            assertEquals(token("b") + DONE, rest.toString());
            assertTrue(over.await(10, TimeUnit.SECONDS));
        }
    }

    @Test
    void a_body_that_is_still_on_its_way_does_not_keep_its_client_from_the_refusal()
            throws Exception {
        gateway.inference.rawRequests().closed(over::countDown);
        try (RawClient client = new RawClient(gateway.port)) {
            client.send(
                    "POST "
                            + Gateway.CHAT
                            + " HTTP/1.1\r\nHost: g\r\nContent-Length: 2000000\r\n\r\n"
                            + "x".repeat(300_000));
            RawClient.Answer answer = client.readAnswer();
            assertEquals(503, answer.status(), answer.body());
            client.send("x".repeat(1_700_000));
            assertEquals(-1, client.in.read());
        }
    }
}
