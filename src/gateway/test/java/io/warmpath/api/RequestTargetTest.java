package io.warmpath.api;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.charset.StandardCharsets;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.params.Parameter;
import org.junit.jupiter.params.ParameterizedClass;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ArgumentsSource;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Engines are asked for the path that the gateway has routed, whatever a client wrote. */
@ParameterizedClass
@ArgumentsSource(EnginePath.Tried.class)
class RequestTargetTest {
    @Parameter EnginePath path;

    private Gateway gateway;
    private StubEngine engine;

    @BeforeEach
    void start() throws Exception {
        gateway = new Gateway(path);
        engine = new StubEngine(call -> call.json(200, "{}"));
        gateway.serve(engine);
    }

    @AfterEach
    void stop() throws Exception {
        gateway.close();
        engine.close();
        assertTrue(engine.failures.isEmpty(), () -> "engine: " + engine.failures);
    }

    private RawClient.Answer post(String target) throws Exception {
        try (RawClient client = new RawClient(gateway.port)) {
            String head =
                    "POST "
                            + target
                            + " HTTP/1.1\r\nHost: g\r\nContent-Length: "
                            + Gateway.ASK_WHOLE.length()
                            + "\r\n\r\n";
            client.socket
                    .getOutputStream()
                    .write((head + Gateway.ASK_WHOLE).getBytes(StandardCharsets.ISO_8859_1));
            return client.readAnswer();
        }
    }

    @ParameterizedTest
    @CsvSource({
        "/v1/chat/completions, /v1/chat/completions",
        "/v1/chat/completions/, /v1/chat/completions",
        "http://g/v1/chat/completions, /v1/chat/completions",
        "HTTP://elsewhere:1/v1/chat/completions, /v1/chat/completions",
        "/v1/chat/completions?, /v1/chat/completions?",
        "/v1/chat/completions?api-version=1&x=/../y, /v1/chat/completions?api-version=1&x=/../y",
        "http://g/v1/chat/completions?a=b, /v1/chat/completions?a=b"
    })
    void the_engine_gets_the_path_of_the_endpoint_and_the_query(String written, String sent)
            throws Exception {
        RawClient.Answer answer = post(written);
        assertEquals(200, answer.status(), answer::head);
        String line = engine.calls.getFirst().head.lines().findFirst().orElseThrow();
        assertEquals("POST " + sent + " HTTP/1.1", line);
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "//v1/chat/completions",
                "//v1//chat/completions",
                "/v1/chat//completions",
                "/flush_cache/../v1/chat/completions",
                "/../v1/chat/completions",
                "/./v1/chat/completions",
                "/v1/%2e%2e/v1/chat/completions",
                "/v1/%63hat/completions",
                "/v1/chat%2Fcompletions",
                "/v1/chat/completions%00",
                "/v1/chat/completions%zz",
                "/v1\\chat/completions",
                "/v1/chat/completions#x",
                "/v1/chat/completions?x=<>",
                "/v1/chat/completions?x=\u00e9",
                "http://g//v1/chat/completions",
                "http://me@g/v1/chat/completions",
                "http:///v1/chat/completions",
                "ftp://g/v1/chat/completions",
                "v1/chat/completions",
                "*"
            })
    void what_is_written_otherwise_reaches_no_engine(String written) throws Exception {
        RawClient.Answer answer = post(written);
        assertTrue(answer.status() == 400 || answer.status() == 404, answer::head);
        assertEquals(0, engine.requests.get());
    }
}
