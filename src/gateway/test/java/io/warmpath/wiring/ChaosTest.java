package io.warmpath.wiring;

import static org.awaitility.Awaitility.await;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.warmpath.adapter.nats.NatsServer;
import io.warmpath.sim.SimEngine;
import io.warmpath.sim.SimOptions;
import io.warmpath.sim.model.SimTokenizer;
import java.io.IOException;
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
import java.util.Random;
import java.util.TreeMap;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.LongAdder;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/**
 * A gateway and its engines, each a process of its own, while engines are killed, stopped, started
 * again, fail, stall, babble and cut connections at random, and NATS with them. Streams run all the
 * time; each answer must be, to the letter, what an engine that nobody disturbs answers.
 *
 * <p>At most half of the engines are disturbed at once. Afterwards nothing may be left booked. The
 * report goes to the standard output. Longer by {@code -Dtest.chaos.seconds}, {@code
 * -Dtest.chaos.engines}, {@code -Dtest.chaos.streams}.
 */
@Timeout(1_500)
@Tag("slow")
class ChaosTest {
    private static final int SECONDS = Integer.getInteger("test.chaos.seconds", 12);
    private static final int ENGINES = Integer.getInteger("test.chaos.engines", 4);
    private static final int STREAMS = Integer.getInteger("test.chaos.streams", 24);
    private static final int TOKENS = 40;
    private static final ObjectMapper JSON = new ObjectMapper();

    /** What is done to an engine. */
    private enum Blow {
        KILL,
        STOP,
        CRAWL,
        FAIL,
        STALL,
        GARBAGE,
        CUT,
        NATS
    }

    private final HttpClient client =
            HttpClient.newBuilder().version(HttpClient.Version.HTTP_1_1).build();
    private final List<Engine> engines = new ArrayList<>();
    private final Map<String, LongAdder> causes = new ConcurrentHashMap<>();
    private final Map<String, String> examples = new ConcurrentHashMap<>();
    private final Map<Blow, Integer> blows = new TreeMap<>();
    private final LongAdder asked = new LongAdder();
    private @TempDir Path folder;
    private NatsServer nats;
    private SimTokenizer tokenizer;
    private SimEngine calm;
    private ChildJvm gateway;
    private URI url = URI.create("http://127.0.0.1");
    private volatile boolean over;

    @AfterEach
    void stop() throws Exception {
        over = true;
        for (Engine e : engines) {
            e.end();
        }
        if (gateway != null) {
            gateway.kill();
        }
        if (calm != null) {
            calm.close();
            tokenizer.close();
        }
        if (nats != null) {
            nats.close();
        }
        client.shutdownNow();
    }

    @Tag("long")
    @Test
    void whatever_happens_to_engines_every_answer_is_whole() throws Exception {
        long seed = Long.getLong("warmpath.test.seed", System.nanoTime());
        System.out.println("ChaosTest -Dwarmpath.test.seed=" + seed);
        Random random = new Random(seed);
        start();
        List<Thread> streams = new ArrayList<>();
        for (int i = 0; i < STREAMS; i++) {
            long own = random.nextLong();
            streams.add(Thread.ofVirtual().start(() -> ask(new Random(own))));
        }
        long began = System.nanoTime();
        long early = 0;
        while (elapsed(began) < SECONDS) {
            strike(random);
            Thread.sleep(Math.max(60, 4_000 / ENGINES)); // the pace of the blows is the test's load
            if (early == 0 && 4 * elapsed(began) >= SECONDS) {
                early = residentKb();
            }
        }
        over = true;
        for (Thread t : streams) {
            t.join();
        }
        for (Engine e : engines) {
            e.recover();
        }
        long late = residentKb();
        Map<String, Double> metrics = settled();
        report(metrics, early, late, began);
        assertTrue(asked.sum() > STREAMS, "hardly anything was asked");
        gateway.log()
                .lines()
                .filter(l -> l.contains("not gone on with"))
                .forEach(System.out::println);
        assertEquals(Map.of(), examples, () -> "failed: " + causes);
        assertEquals(0, metrics.get("warmpath.bookings.open"), "left booked");
        assertEquals(0, metrics.get("warmpath.bookings.expired"), "given up");
    }

    private static double elapsed(long began) {
        return (System.nanoTime() - began) / 1e9;
    }

    private void report(Map<String, Double> metrics, long early, long late, long began) {
        System.out.printf(
                "ChaosTest: %d s, %d engines, %d streams: %d requests, failed %s, blows %s,"
                        + " resident %d MB after a quarter and %d MB at the end%n",
                (int) elapsed(began),
                ENGINES,
                STREAMS,
                asked.sum(),
                causes,
                blows,
                early >> 10,
                late >> 10);
        metrics.forEach(
                (name, value) -> {
                    if (value > 0
                            && (name.startsWith("warmpath.requests{")
                                    || name.startsWith("warmpath.migrations")
                                    || name.startsWith("warmpath.retries")
                                    || name.startsWith("warmpath.worker.restarts"))) {
                        System.out.println("ChaosTest: " + name + " " + value.longValue());
                    }
                });
    }

    // What is disturbed.

    private void start() throws Exception {
        nats = NatsServer.start(folder.resolve("nats"));
        tokenizer = SimTokenizer.demo();
        calm = SimEngine.start(SimOptions.builder().speed(1_000).build(), tokenizer);
        for (int i = 0; i < ENGINES; i++) {
            Engine e = new Engine(i);
            engines.add(e);
            e.begin();
        }
        List<String> settings =
                List.of(
                        "warmpath.warmup.requests=0",
                        "warmpath.worker-urls="
                                + String.join(
                                        ",", engines.stream().map(e -> e.url.toString()).toList()),
                        "warmpath.models.\"demo\".path=src/tokens/main/resources/demo-model",
                        "warmpath.upstream.idle-timeout=1s",
                        "warmpath.upstream.first-byte-timeout=5s",
                        // As for a fleet of which half may be disturbed at once.
                        "warmpath.retry.max-workers=" + (ENGINES / 2 + 1),
                        "warmpath.migration.limit=" + (ENGINES / 2 + 1),
                        "warmpath.replica.sync=true",
                        "warmpath.replica.secret=of-this-test",
                        "warmpath.nats.router-id=one",
                        "warmpath.nats.servers=" + nats.url());
        gateway =
                ChildJvm.start(
                        folder.resolve("gateway.log"), "port ", GatewayChild.class, settings);
        url = TwinGateway.url(gateway);
        await().atMost(Duration.ofSeconds(60))
                .until(() -> get("/workers").split("\"ready\"", -1).length == ENGINES + 1);
    }

    private void strike(Random random) throws Exception {
        List<Engine> well = engines.stream().filter(e -> !e.disturbed).toList();
        Blow blow = Blow.values()[random.nextInt(Blow.values().length)];
        if (blow == Blow.NATS) {
            blows.merge(blow, 1, Integer::sum);
            nats.kill();
            nats.restart();
            return;
        }
        if (well.size() <= (ENGINES + 1) / 2) {
            return;
        }
        blows.merge(blow, 1, Integer::sum);
        Engine e = well.get(random.nextInt(well.size()));
        int some = random.nextInt(TOKENS);
        long pause = 300L + random.nextInt(2_000);
        switch (blow) {
            case KILL -> e.later(pause, e::kill, e::begin);
            case STOP -> e.later(pause, () -> e.signal("STOP"), () -> e.signal("CONT"));
            case CRAWL -> e.later(0, () -> e.crawl(pause), () -> {});
            case FAIL -> e.control("fail?status=500&count=" + (1 + some / 8));
            case STALL -> e.control("die?scope=stall&after=" + some);
            case GARBAGE -> e.control("die?scope=garbage&after=" + some);
            case CUT -> e.control("die?scope=connection&after=" + some);
            case NATS -> throw new IllegalStateException();
        }
    }

    /** Something that can fail. */
    private interface Deed {
        void run() throws Exception;
    }

    private final class Engine {
        private final URI url;
        private final int number;
        private final int port;
        private final int events;
        private final int replay;
        private volatile boolean disturbed;
        private volatile ChildJvm child;
        private volatile Thread helper;

        Engine(int number) throws IOException {
            this.number = number;
            this.port = freePort();
            this.events = freePort();
            this.replay = freePort();
            this.url = URI.create("http://127.0.0.1:" + port);
        }

        private static int freePort() throws IOException {
            try (java.net.ServerSocket s = new java.net.ServerSocket(0)) {
                return s.getLocalPort();
            }
        }

        void begin() throws IOException {
            child =
                    ChildJvm.again(
                            folder.resolve("engine" + number + ".log"),
                            "http://",
                            io.warmpath.tools.ToolsMain.class,
                            List.of(
                                    "sim",
                                    "--port=" + port,
                                    "--events-port=" + events,
                                    "--replay-port=" + replay,
                                    "--wire",
                                    number % 2 == 0 ? "sglang-map" : "vllm-map",
                                    "--max-batch=128",
                                    "--itl=20ms"));
        }

        void kill() {
            child.kill();
        }

        void signal(String name) {
            child.signal(name);
        }

        /** A tenth of its speed. */
        void crawl(long millis) throws Exception {
            for (long left = millis; left > 0 && !over; left -= 100) {
                signal("STOP");
                Thread.sleep(90);
                signal("CONT");
                Thread.sleep(10);
            }
        }

        void later(long millis, Deed harm, Deed mend) {
            disturbed = true;
            helper =
                    Thread.ofVirtual()
                            .start(
                                    () -> {
                                        try {
                                            harm.run();
                                            Thread.sleep(millis);
                                            mend.run();
                                            awaitReady();
                                        } catch (Exception e) {
                                            cause("of the test", e.toString());
                                        }
                                        disturbed = false;
                                    });
        }

        /** The gateway gives it requests again. */
        private void awaitReady() throws Exception {
            for (int i = 0; i < 600 && !over; i++) {
                for (JsonNode w : JSON.readTree(get("/workers")).get("data")) {
                    if (w.path("url").asText().equals(url.toString())
                            && w.path("state").asText().equals("ready")) {
                        return;
                    }
                }
                Thread.sleep(50);
            }
        }

        void control(String what) {
            try {
                client.send(
                        HttpRequest.newBuilder(url.resolve("/sim/" + what))
                                .timeout(Duration.ofSeconds(2))
                                .build(),
                        HttpResponse.BodyHandlers.discarding());
            } catch (IOException e) {
                // Its fault before this one.
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
            }
        }

        void recover() throws InterruptedException {
            Thread t = helper;
            if (t != null) {
                t.join();
            }
        }

        void end() {
            if (child != null) {
                child.process().destroyForcibly();
            }
        }
    }

    // What users do.

    private void ask(Random random) {
        while (!over) {
            asked.increment();
            String body = body(random);
            String got = "";
            try {
                got = answer(body);
                String want = undisturbed(body);
                if (!got.equals(want)) {
                    cause("other text", "wanted " + want + "\n   got " + got);
                }
            } catch (IOException | AssertionError e) {
                cause(String.valueOf(e.getMessage()).split("[:\n]", 2)[0], e + "\nafter " + got);
            } catch (InterruptedException e) {
                return;
            }
        }
    }

    private void cause(String cause, String example) {
        causes.computeIfAbsent(cause, c -> new LongAdder()).increment();
        examples.putIfAbsent(cause, example);
    }

    private static String body(Random random) {
        StringBuilder prompt = new StringBuilder();
        int topic = random.nextInt(12);
        for (int i = 0; i < 60; i++) {
            prompt.append("word").append((topic * 31 + i * 7) % 97).append(' ');
        }
        prompt.append(random.nextInt(1_000_000));
        return "{\"model\":\"demo\",\"max_tokens\":"
                + TOKENS
                + ",\"messages\":[{\"role\":\"user\",\"content\":\""
                + prompt
                + "\"}]}";
    }

    private static String streamed(String body) {
        return "{\"stream\":true,\"stream_options\":{\"include_usage\":true}," + body.substring(1);
    }

    private String undisturbed(String body) throws IOException, InterruptedException {
        HttpResponse<String> answer =
                client.send(
                        HttpRequest.newBuilder(calm.url().resolve("/v1/chat/completions"))
                                .POST(HttpRequest.BodyPublishers.ofString(body))
                                .build(),
                        HttpResponse.BodyHandlers.ofString());
        JsonNode json = JSON.readTree(answer.body());
        return json.at("/choices/0/message/content").asText()
                + " "
                + json.at("/choices/0/finish_reason").asText()
                + " "
                + json.at("/usage/prompt_tokens").asInt()
                + " "
                + json.at("/usage/completion_tokens").asInt();
    }

    /** Text, end, and the tokens that are told; everything of the stream is looked at. */
    private String answer(String body) throws IOException, InterruptedException {
        HttpResponse<Stream<String>> answer =
                client.send(
                        HttpRequest.newBuilder(url.resolve("/v1/chat/completions"))
                                .timeout(Duration.ofSeconds(60))
                                .header("content-type", "application/json")
                                .POST(HttpRequest.BodyPublishers.ofString(streamed(body)))
                                .build(),
                        HttpResponse.BodyHandlers.ofLines());
        List<String> lines;
        try (Stream<String> all = answer.body()) {
            lines = all.filter(l -> !l.isEmpty()).toList();
        } catch (java.io.UncheckedIOException e) {
            throw new IOException("cut: " + e.getMessage(), e);
        }
        if (answer.statusCode() != 200) {
            throw new IOException("status " + answer.statusCode() + ": " + lines);
        }
        return joined(lines);
    }

    private static String joined(List<String> lines) throws IOException {
        StringBuilder text = new StringBuilder();
        String end = "";
        String usage = "";
        String id = null;
        boolean done = false;
        for (String line : lines) {
            if (done || !line.startsWith("data: ")) {
                throw new IOException("stream not in order: " + line);
            }
            if (line.equals("data: [DONE]")) {
                done = true;
                continue;
            }
            JsonNode event = JSON.readTree(line.substring(6));
            if (event.has("error")) {
                throw new IOException("error event: " + event);
            }
            String its = event.path("id").asText();
            if (id != null && !id.equals(its)) {
                throw new IOException("another id: " + id + " and " + its);
            }
            id = its;
            text.append(event.at("/choices/0/delta/content").asText(""));
            end = event.at("/choices/0/finish_reason").asText(end);
            end = end.equals("null") ? "" : end;
            if (event.path("usage").isObject()) {
                usage =
                        event.at("/usage/prompt_tokens").asInt()
                                + " "
                                + event.at("/usage/completion_tokens").asInt();
            }
        }
        if (!done) {
            throw new IOException("no [DONE]: " + lines.getLast());
        }
        return text + " " + end + " " + usage;
    }

    // What is left.

    private String get(String path) throws IOException, InterruptedException {
        return client.send(
                        HttpRequest.newBuilder(url.resolve(path))
                                .timeout(Duration.ofSeconds(20))
                                .build(),
                        HttpResponse.BodyHandlers.ofString())
                .body();
    }

    private Map<String, Double> metrics() throws IOException, InterruptedException {
        Map<String, Double> all = new TreeMap<>();
        for (String line : get("/test/metrics").split("\n", -1)) {
            int space = line.lastIndexOf(' ');
            if (space > 0) {
                all.put(line.substring(0, space), Double.parseDouble(line.substring(space + 1)));
            }
        }
        return all;
    }

    private Map<String, Double> settled() throws Exception {
        await().atMost(Duration.ofSeconds(20))
                .until(() -> metrics().getOrDefault("warmpath.requests.active", -1.0) == 0);
        return metrics();
    }

    private long residentKb() throws IOException {
        try (Stream<String> lines =
                Files.lines(Path.of("/proc/" + gateway.process().pid() + "/status"))) {
            return lines.filter(l -> l.startsWith("VmRSS:"))
                    .mapToLong(l -> Long.parseLong(l.replaceAll("\\D", "")))
                    .findFirst()
                    .orElse(0);
        }
    }
}
