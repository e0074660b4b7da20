package io.warmpath.wiring;

import static org.awaitility.Awaitility.await;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.sun.net.httpserver.HttpServer;
import io.warmpath.sim.SimOptions;
import java.io.ByteArrayInputStream;
import java.io.InputStream;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.logging.Handler;
import java.util.logging.LogRecord;
import java.util.logging.Logger;
import java.util.zip.GZIPInputStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** What a collector, and the log, are told of a request through the whole gateway. */
@Timeout(60)
class TracesTest {
    private static final String TRACE = "0af7651916cd43dd8448eb211c80319c";
    private static final String PARENT = "b7ad6b7169203331";
    private static final String BODY =
            "{\"model\":\"demo\",\"max_tokens\":4,\"stream\":true,"
                    + "\"messages\":[{\"role\":\"user\",\"content\":\"hello there\"}]}";

    private final List<String> batches = new CopyOnWriteArrayList<>();
    private final List<String> headers = new CopyOnWriteArrayList<>();
    private HttpServer collector;
    private SimGateway gateway;

    @BeforeEach
    void startCollector() throws Exception {
        collector =
                HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 16);
        collector.createContext(
                "/v1/traces",
                exchange -> {
                    byte[] sent = exchange.getRequestBody().readAllBytes();
                    InputStream in = new ByteArrayInputStream(sent);
                    if ("gzip".equals(exchange.getRequestHeaders().getFirst("content-encoding"))) {
                        in = new GZIPInputStream(in);
                    }
                    // Bytes as characters: the strings of protobuf stand there as they are.
                    batches.add(new String(in.readAllBytes(), StandardCharsets.ISO_8859_1));
                    headers.add(
                            exchange.getRequestHeaders().getFirst("content-type")
                                    + " "
                                    + exchange.getRequestHeaders().getFirst("x-key"));
                    exchange.sendResponseHeaders(200, -1);
                    exchange.close();
                });
        collector.start();
    }

    @AfterEach
    void stop() throws Exception {
        if (gateway != null) {
            gateway.close();
        }
        collector.stop(0);
    }

    private void start(String ratio) throws Exception {
        gateway =
                SimGateway.start(
                        Map.of(
                                "warmpath.telemetry.traces.endpoint",
                                "http://127.0.0.1:" + collector.getAddress().getPort(),
                                "warmpath.telemetry.traces.ratio",
                                ratio,
                                "warmpath.telemetry.traces.headers",
                                "x-key=secret",
                                "warmpath.telemetry.request-log",
                                "true",
                                "warmpath.models.\"demo\".path",
                                "src/tokens/main/resources/demo-model"),
                        SimOptions.builder().speed(1000));
    }

    private static String bytes(String hex) {
        return new String(HexFormat.of().parseHex(hex), StandardCharsets.ISO_8859_1);
    }

    private static int count(String in, String what) {
        return in.split(java.util.regex.Pattern.quote(what), -1).length - 1;
    }

    @Test
    void a_sampled_parent_gets_the_steps_as_spans_of_its_trace() throws Exception {
        start("0");
        HttpResponse<String> answer =
                gateway.post(
                        "/v1/chat/completions",
                        BODY,
                        "traceparent",
                        "00-" + TRACE + "-" + PARENT + "-01");
        assertEquals(200, answer.statusCode(), answer.body());
        await().atMost(Duration.ofSeconds(15)).until(() -> !batches.isEmpty());
        String all = String.join("", batches);
        for (String name :
                List.of(
                        "POST /v1/chat/completions",
                        "tokenise",
                        "match",
                        "decide",
                        "chat demo",
                        "first token",
                        "gen_ai.usage.output_tokens",
                        "warmpath.worker",
                        "warmpath")) {
            assertTrue(all.contains(name), name + " in " + all);
        }
        assertEquals(5, count(all, bytes(TRACE)), "spans of the trace");
        assertTrue(all.contains(bytes(PARENT)), "the client's span is the parent");
        assertEquals("application/x-protobuf secret", headers.getFirst());
        assertFalse(all.contains("hello there"), "what was asked is nobody's business");
    }

    @Test
    void nobody_is_told_of_a_request_whose_parent_is_not_sampled() throws Exception {
        start("1");
        assertEquals(
                200,
                gateway.post(
                                "/v1/chat/completions",
                                BODY,
                                "traceparent",
                                "00-" + TRACE + "-" + PARENT + "-00")
                        .statusCode());
        assertEquals(200, gateway.post("/v1/chat/completions", BODY).statusCode());
        await().atMost(Duration.ofSeconds(15)).until(() -> !batches.isEmpty());
        String all = String.join("", batches);
        assertFalse(all.contains(bytes(TRACE)), "not sampled");
        assertEquals(1, count(all, "POST /v1/chat/completions"), "without a parent: by chance");
    }

    @Test
    void the_log_has_one_line_for_each_request_and_not_what_it_said() throws Exception {
        List<String> lines = new CopyOnWriteArrayList<>();
        Handler handler =
                new Handler() {
                    @Override
                    public void publish(LogRecord record) {
                        lines.add(String.format(record.getMessage(), record.getParameters()));
                    }

                    @Override
                    public void flush() {}

                    @Override
                    public void close() {}
                };
        Logger log = Logger.getLogger("io.warmpath.requests");
        log.addHandler(handler);
        try {
            start("0");
            gateway.post("/v1/chat/completions", BODY, "x-request-id", "req-17");
            gateway.post(
                    "/v1/chat/completions",
                    BODY.replace("demo", "none"),
                    "traceparent",
                    "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-00");
            gateway.post("/v1/chat/completions", "{", "x-request-id", "req-18");
            await().until(() -> lines.size() == 3);
        } finally {
            log.removeHandler(handler);
        }
        String line = lines.getFirst();
        for (String part :
                List.of(
                        "request=req-17 ",
                        "model=demo",
                        "outcome=ok",
                        "status=200",
                        "tries=1",
                        "output_tokens=4",
                        "ttft_ms=",
                        "total_ms=")) {
            assertTrue(line.contains(part), part + " in " + line);
        }
        assertFalse(line.contains("hello"), line);
        for (String part :
                List.of(
                        "outcome=rejected",
                        "status=404",
                        "error=model_not_found",
                        "trace_id=0af7651916cd43dd8448eb211c80319c")) {
            assertTrue(lines.get(1).contains(part), part + " in " + lines.get(1));
        }
        assertTrue(
                lines.getLast()
                        .startsWith(
                                "request=req-18 path=/v1/chat/completions status=400"
                                        + " error=invalid_request outcome=rejected"),
                lines.getLast());
    }
}
