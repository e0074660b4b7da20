package io.warmpath.api;

import static org.awaitility.Awaitility.await;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.warmpath.access.Authenticator;
import io.warmpath.access.Budgets;
import io.warmpath.access.Caller;
import io.warmpath.access.Grant;
import io.warmpath.access.Verdict;
import io.warmpath.api.client.ClientGate;
import io.warmpath.api.client.InferenceResource;
import io.warmpath.api.request.InferencePath;
import io.warmpath.upstream.tls.EngineTls;
import jakarta.ws.rs.POST;
import jakarta.ws.rs.Path;
import java.io.IOException;
import java.lang.reflect.Method;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.StandardSocketOptions;
import java.nio.ByteBuffer;
import java.nio.channels.SocketChannel;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.stream.Collectors;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ArgumentsSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Requests that come in through their REST resources. */
class ClientResourcesTest {
    private static final int BODY = 32 << 20;

    private final BlockingQueue<StubEngine.Call> calls = new LinkedBlockingQueue<>();
    private Gateway gateway;
    private StubEngine engine;

    private void start(ClientGate gate) throws Exception {
        start(EnginePath.RAW, gate);
    }

    private void start(EnginePath path, ClientGate gate) throws Exception {
        gateway = new Gateway(path, EngineTls.standard(), gate);
        engine =
                new StubEngine(
                        call -> {
                            calls.add(call);
                            call.json(200, "{\"id\":\"1\"}");
                        });
        gateway.serve(engine);
    }

    @AfterEach
    void stop() throws Exception {
        if (gateway != null) {
            gateway.close();
            engine.close();
        }
    }

    @Test
    void the_resource_has_each_path_that_the_inlet_takes_and_no_other() {
        Set<String> paths = new TreeSet<>();
        for (Method method : InferenceResource.class.getMethods()) {
            if (method.isAnnotationPresent(POST.class)) {
                paths.add("/" + method.getAnnotation(Path.class).value());
            }
        }
        assertEquals(
                InferencePath.ALL.stream()
                        .map(InferencePath::path)
                        .collect(Collectors.toCollection(TreeSet::new)),
                paths);
    }

    /** REST would answer 406 where it cannot make what is accepted. */
    @ParameterizedTest
    @ArgumentsSource(EnginePath.Tried.class)
    void the_engine_and_not_rest_is_told_what_the_client_accepts(EnginePath path) throws Exception {
        start(path, ClientGate.OPEN);
        for (String accept : new String[] {"text/event-stream", "*/*", "application/x-own;q=0.5"}) {
            assertEquals(
                    200, gateway.post(Gateway.ASK_WHOLE, "Accept: " + accept).status(), accept);
            assertEquals(accept, calls.take().header("accept"));
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"", "/", "?a=b", "/?a=b"})
    void a_path_is_found_with_a_slash_or_a_query_behind_it(String behind) throws Exception {
        start(ClientGate.OPEN);
        for (InferencePath path : InferencePath.ALL) {
            RawClient.Answer answer =
                    RawClient.post(
                            gateway.port,
                            path.path() + behind,
                            "{\"model\":\"m\",\"prompt\":\"a\",\"input\":\"a\","
                                    + "\"messages\":[{\"role\":\"user\",\"content\":\"a\"}]}");
            assertEquals(200, answer.status(), () -> path + answer.body());
        }
    }

    /** REST takes matrix parameters off a path; an engine would not. */
    @Test
    void a_path_with_a_semicolon_is_no_endpoint() throws Exception {
        start(ClientGate.OPEN);
        for (InferencePath path : InferencePath.ALL) {
            String target = path.path() + ";a=b";
            RawClient.Answer answer = RawClient.post(gateway.port, target, "{\"model\":\"m\"}");
            assertEquals(404, answer.status(), () -> path + answer.body());
            assertTrue(answer.body().contains("\"unknown_url\""), answer::body);
        }
        assertTrue(calls.isEmpty());
    }

    /** As long as nobody wants a body it stays with the client: the socket fills up. */
    @Test
    @Timeout(60)
    void a_body_is_not_read_before_the_client_is_known() throws Exception {
        CompletableFuture<Verdict> verdict = new CompletableFuture<>();
        Caller caller = new Caller(Grant.all("late"), new Budgets(1), System::nanoTime);
        Authenticator clients = key -> new Verdict.Later(verdict);
        start(ClientGate.of(clients, false));
        try (SocketChannel client = upload()) {
            ByteBuffer body = ByteBuffer.allocateDirect(BODY);
            fill(client, body);
            // Control: the same bytes go through as soon as somebody reads them.
            assertTrue(body.hasRemaining(), "all of it was read");
            verdict.complete(caller);
            client.configureBlocking(true);
            while (body.hasRemaining()) {
                client.write(body);
            }
        }
    }

    private SocketChannel upload() throws IOException {
        SocketChannel client = SocketChannel.open();
        client.setOption(StandardSocketOptions.SO_SNDBUF, 64 << 10);
        client.connect(new InetSocketAddress(InetAddress.getLoopbackAddress(), gateway.port));
        client.write(
                ByteBuffer.wrap(
                        ("POST /v1/embeddings HTTP/1.1\r\nHost: x\r\nx-api-key: k\r\n"
                                        + "content-length: "
                                        + BODY
                                        + "\r\n\r\n")
                                .getBytes(StandardCharsets.US_ASCII)));
        client.configureBlocking(false);
        return client;
    }

    /** Until nothing more has gone out for half a second. */
    private static void fill(SocketChannel client, ByteBuffer body) {
        int[] last = {-1};
        await().during(Duration.ofMillis(500))
                .until(
                        () -> {
                            client.write(body);
                            boolean still = body.position() == last[0];
                            last[0] = body.position();
                            return still;
                        });
    }
}
