package io.warmpath.wiring;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.awaitility.Awaitility.await;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.warmpath.sim.SimEngine;
import io.warmpath.sim.SimOptions;
import io.warmpath.sim.model.SimTokenizer;
import java.io.IOException;
import java.net.InetAddress;
import java.net.Socket;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * A gateway in a process of its own that may have few files and sockets open ({@code ulimit -n}),
 * before simulated engines: nothing hangs, nobody is blamed for it, and it passes.
 */
@Tag("slow")
@Tag("long") // in verify alone
class FileLimitTest {
    private static final Duration SOON = Duration.ofSeconds(30);
    private static final ObjectMapper JSON = new ObjectMapper();
    private static final String READY = "GET /ready HTTP/1.1\r\nHost: g\r\n\r\n";

    private final HttpClient client =
            HttpClient.newBuilder().version(HttpClient.Version.HTTP_1_1).build();
    private final List<SimEngine> engines = new ArrayList<>();
    private final List<Socket> idle = new ArrayList<>();
    private @TempDir Path folder;
    private SimTokenizer tokenizer;
    private ChildJvm gateway;
    private URI url = URI.create("http://127.0.0.1");

    @BeforeEach
    void startEngines() throws Exception {
        tokenizer = SimTokenizer.demo();
        for (int i = 0; i < 2; i++) {
            engines.add(
                    SimEngine.start(
                            SimOptions.builder()
                                    .maxBatch(400)
                                    .answerTokens(40)
                                    .interToken(Duration.ofMillis(50))
                                    .build(),
                            tokenizer));
        }
    }

    @AfterEach
    void stop() throws Exception {
        for (Socket s : idle) {
            s.close();
        }
        client.shutdownNow();
        if (gateway != null) {
            gateway.kill();
        }
        for (SimEngine e : engines) {
            e.close();
        }
        tokenizer.close();
    }

    /**
     * @param files that it may have open
     */
    private void start(int files, String... settings) throws IOException {
        List<String> all = new ArrayList<>(List.of(settings));
        all.add("warmpath.warmup.requests=0");
        all.add("warmpath.fleet.health-interval=50ms");
        all.add("warmpath.fleet.unhealthy-interval=50ms");
        all.add("warmpath.fleet.failures-to-unhealthy=1");
        all.add(
                "warmpath.worker-urls="
                        + String.join(",", engines.stream().map(e -> e.url().toString()).toList()));
        gateway = ChildJvm.limited(files, folder.resolve("log"), "port ", GatewayChild.class, all);
        url = URI.create("http://127.0.0.1:" + gateway.said().substring("port ".length()));
        await().atMost(SOON).until(() -> ready() == engines.size());
    }

    /** What such a process has open when nobody is connected. */
    private int ownFiles() throws Exception {
        start(2000);
        int open = open();
        gateway.kill();
        return open;
    }

    private int open() throws IOException {
        try (Stream<Path> files = Files.list(Path.of("/proc/" + gateway.process().pid() + "/fd"))) {
            return (int) files.count();
        }
    }

    private String get(String path) throws IOException, InterruptedException {
        return client.send(
                        HttpRequest.newBuilder(url.resolve(path)).timeout(SOON).build(),
                        HttpResponse.BodyHandlers.ofString())
                .body();
    }

    private int ready() throws IOException, InterruptedException {
        int ready = 0;
        for (JsonNode w : JSON.readTree(get("/workers")).get("data")) {
            ready += w.get("state").textValue().equals("ready") ? 1 : 0;
        }
        return ready;
    }

    private double metric(String name) throws IOException, InterruptedException {
        return get("/test/metrics")
                .lines()
                .filter(l -> l.startsWith(name + " "))
                .mapToDouble(l -> Double.parseDouble(l.substring(name.length() + 1)))
                .findFirst()
                .orElse(-1);
    }

    private Socket connect() throws IOException {
        Socket socket = new Socket(InetAddress.getLoopbackAddress(), url.getPort());
        socket.setSoTimeout((int) SOON.toMillis());
        return socket;
    }

    /** A stream over a connection of its own: {@code whole}, or what else it was. */
    private String stream(int number) throws IOException {
        String body =
                "{\"model\":\"demo\",\"stream\":true,\"messages\":[{\"role\":\"user\",\"content\":"
                        + "\"number "
                        + number
                        + "\"}]}";
        try (Socket socket = connect()) {
            send(
                    socket,
                    "POST /v1/chat/completions HTTP/1.1\r\nHost: g\r\nConnection: close\r\n"
                            + "Content-Type: application/json\r\nContent-Length: "
                            + body.length()
                            + "\r\n\r\n"
                            + body);
            String answer = new String(socket.getInputStream().readAllBytes(), UTF_8);
            if (answer.startsWith("HTTP/1.1 200 ")) {
                return answer.contains("data: [DONE]") ? "whole" : "cut: " + answer;
            }
            boolean fits =
                    answer.startsWith("HTTP/1.1 503 ")
                            && answer.contains("\"code\":\"out_of_files\"")
                            && answer.contains("retry-after: 1\r\n");
            return fits ? "out of files" : answer;
        }
    }

    private static void send(Socket socket, String text) throws IOException {
        socket.getOutputStream().write(text.getBytes(UTF_8));
        socket.getOutputStream().flush();
    }

    private void leaveIdle(int connections) throws IOException {
        for (int i = 0; i < connections; i++) {
            Socket socket = connect();
            idle.add(socket);
        }
    }

    private void assertNoBug() {
        for (String bug : List.of("SEVERE", "bug in the gateway")) {
            assertFalse(gateway.log().contains(bug), () -> gateway.log());
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"auto", "off"})
    void what_cannot_be_connected_for_lack_of_files_is_a_503_and_no_engines_fault(String rawPath)
            throws Exception {
        // Room for 150 streams, so more clients get in than can be served.
        start(
                ownFiles() + 300,
                "warmpath.http.clients.max-connections=100000",
                "warmpath.upstream.raw-path=" + rawPath);
        Map<String, Integer> ends = new TreeMap<>();
        try (ExecutorService clients = Executors.newVirtualThreadPerTaskExecutor()) {
            List<Future<String>> running = new ArrayList<>();
            for (int i = 0; i < 400; i++) {
                int number = i;
                running.add(clients.submit(() -> stream(number)));
            }
            for (Future<String> f : running) {
                ends.merge(f.get(60, TimeUnit.SECONDS), 1, Integer::sum);
            }
        }
        assertEquals(List.of("out of files", "whole"), List.copyOf(ends.keySet()));
        assertEquals(engines.size(), ready(), () -> gateway.log());
        assertEquals(
                ends.get("out of files").doubleValue(),
                metric("warmpath.overload.rejections{cause=files}"));
        assertEquals("whole", stream(0));
        assertEquals(
                1,
                gateway.log()
                        .lines()
                        .filter(l -> l.contains("what needs another one fails"))
                        .count(),
                () -> gateway.log());
        assertNoBug();
    }

    @Test
    void the_default_bound_leaves_files_for_the_process_itself_and_for_engines() throws Exception {
        start(ownFiles() + 100);
        leaveIdle(400);
        assertEquals("whole", stream(0));
        assertTrue(metric("warmpath.client.connections.closed{how=displaced}") > 300);
        assertFalse(gateway.log().contains("Too many open files"), () -> gateway.log());
        // All whom the bound lets in can have a stream.
        int most = (int) metric("warmpath.client.connections.max");
        assertTrue(most > 20 && most < 50, "at most " + most);
        Map<String, Integer> ends = new TreeMap<>();
        try (ExecutorService clients = Executors.newVirtualThreadPerTaskExecutor()) {
            List<Future<String>> running = new ArrayList<>();
            for (int i = 0; i < most - 2; i++) {
                int number = i;
                running.add(clients.submit(() -> stream(number)));
            }
            for (Future<String> f : running) {
                ends.merge(f.get(60, TimeUnit.SECONDS), 1, Integer::sum);
            }
        }
        assertEquals(Map.of("whole", most - 2), ends);
    }

    @Test
    void where_the_bound_is_beyond_the_files_idle_clients_still_make_room() throws Exception {
        start(ownFiles() + 60, "warmpath.http.clients.max-connections=100000");
        leaveIdle(200);
        long began = System.nanoTime();
        try (Socket late = connect()) {
            send(late, READY);
            byte[] head = late.getInputStream().readNBytes(15);
            assertEquals("HTTP/1.1 200 OK", new String(head, UTF_8));
        }
        assertEquals("whole", stream(0));
        assertTrue(System.nanoTime() - began < 15e9, "it took its time");
        assertTrue(open() < 2000);
        assertNoBug();
    }
}
