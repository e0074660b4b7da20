package io.warmpath.adapter.kubernetes;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.core.io.JsonEOFException;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.MappingIterator;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.ObjectReader;
import java.io.IOException;
import java.io.InputStream;
import java.net.URLEncoder;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.HashMap;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.LongAdder;
import java.util.concurrent.locks.LockSupport;
import java.util.function.Function;
import java.util.random.RandomGenerator;
import org.jboss.logging.Logger;
import org.jspecify.annotations.Nullable;

/**
 * A copy of all objects of one kind, kept in step: listed, then watched from that version on; a
 * watch that ends goes on where it was, one whose version the server has forgotten (410) begins
 * with a new list, and so does all of it every {@code resync}.
 *
 * <p>A virtual thread of its own does the asking. {@link #objects}, {@link #listed} and the
 * counters: any thread. While the server is away the copy stays as it was.
 */
final class Reflector<T> implements AutoCloseable {
    private static final Logger LOG = Logger.getLogger(Reflector.class);
    private static final ObjectReader EVENTS = new ObjectMapper().readerFor(JsonNode.class);

    private static final int PAGE = 500;

    /**
     * @param watch the server is asked to end a watch after this
     * @param grace a watch that has not ended so much later is dead, and is cut
     * @param retryMin first pause after a failure; doubles up to {@code retryMax}, a half to all of
     *     it, by chance
     */
    record Timing(Duration watch, Duration grace, Duration retryMin, Duration retryMax) {
        static final Timing USUAL =
                new Timing(
                        Duration.ofMinutes(2),
                        Duration.ofSeconds(15),
                        Duration.ofMillis(250),
                        Duration.ofSeconds(15));
    }

    private final String what;
    private final ApiServer api;
    private final String path;
    private final Function<JsonNode, T> parse;
    private final Runnable changed;
    private final Duration resync;
    private final Timing timing;
    private final RandomGenerator random;
    private final Thread thread;

    private final Map<String, T> objects = new ConcurrentHashMap<>();
    private final LongAdder lists = new LongAdder();
    private final LongAdder failures = new LongAdder();
    private volatile boolean listed;
    private volatile boolean connected;
    private volatile boolean closed;
    private volatile @Nullable InputStream open;

    // Only touched by the thread.
    private int failedInARow;
    private String version = "";

    /**
     * @param path such as {@code /api/v1/namespaces/n/pods}
     * @param changed told, on this one's thread, that {@link #objects} may have changed
     */
    Reflector(
            String what,
            ApiServer api,
            String path,
            String labelSelector,
            Function<JsonNode, T> parse,
            Runnable changed,
            Duration resync,
            Timing timing,
            RandomGenerator random) {
        this.what = what;
        this.api = api;
        this.path =
                path + "?labelSelector=" + URLEncoder.encode(labelSelector, StandardCharsets.UTF_8);
        this.parse = parse;
        this.changed = changed;
        this.resync = resync;
        this.timing = timing;
        this.random = random;
        this.thread = Thread.ofVirtual().name("warmpath-kubernetes-" + what).unstarted(this::run);
    }

    void start() {
        thread.start();
    }

    /** By name. A live view. */
    Map<String, T> objects() {
        return objects;
    }

    /** All of them were seen once. */
    boolean listed() {
        return listed;
    }

    /** The last question was answered. */
    boolean connected() {
        return connected;
    }

    long lists() {
        return lists.sum();
    }

    long failures() {
        return failures.sum();
    }

    private void run() {
        while (!closed) {
            try {
                list();
                follow(System.nanoTime() + resync.toNanos());
            } catch (InterruptedException e) {
                return; // closed
            } catch (ApiException e) {
                if (e.gone()) {
                    LOG.debugf("%s are listed anew: %s", what, e.getMessage());
                    pause(timing.retryMin());
                } else {
                    failed(e);
                }
            } catch (IOException | RuntimeException e) {
                failed(e);
            }
        }
    }

    private void list() throws IOException, InterruptedException {
        Map<String, T> all = new HashMap<>();
        String next = "";
        do {
            JsonNode page =
                    api.list(
                            path
                                    + "&limit="
                                    + PAGE
                                    + (next.isEmpty()
                                            ? ""
                                            : "&continue="
                                                    + URLEncoder.encode(
                                                            next, StandardCharsets.UTF_8)));
            for (JsonNode object : page.path("items")) {
                all.put(nameOf(object), parse.apply(object));
            }
            next = page.path("metadata").path("continue").asText("");
            version = page.path("metadata").path("resourceVersion").asText();
        } while (!next.isEmpty());
        objects.keySet().retainAll(all.keySet());
        objects.putAll(all);
        lists.increment();
        answered();
        listed = true;
        changed.run();
    }

    /** Watches again and again until it is time for a new list. */
    private void follow(long until) throws IOException, InterruptedException {
        while (!closed && until - System.nanoTime() > 0) {
            long began = System.nanoTime();
            watch();
            // A server, or a proxy before it, that ends each watch at once is not asked in a loop.
            if (System.nanoTime() - began < timing.retryMin().toNanos()) {
                pause(timing.retryMin());
            }
        }
    }

    private void watch() throws IOException, InterruptedException {
        InputStream body =
                api.open(
                        path
                                + "&watch=true&allowWatchBookmarks=true&timeoutSeconds="
                                + Math.max(1, timing.watch().toSeconds())
                                + "&resourceVersion="
                                + version);
        open = body;
        // The client has no time limit for a body, and a connection may die without a word.
        Thread cut = Thread.ofVirtual().start(() -> closeAfter(body));
        try (body;
                MappingIterator<JsonNode> events = EVENTS.readValues(body)) {
            answered();
            while (events.hasNextValue()) {
                take(events.nextValue());
            }
        } catch (ApiException e) {
            throw e;
        } catch (JsonEOFException e) {
            LOG.debugf("A watch of %s was cut in the middle of an event: %s", what, e);
        } catch (JsonProcessingException e) {
            throw e;
        } catch (IOException e) {
            // The events so far are taken; the next watch goes on behind them.
            LOG.debugf("A watch of %s was cut: %s", what, e);
        } finally {
            cut.interrupt();
            open = null;
        }
    }

    private void closeAfter(InputStream body) {
        try {
            Thread.sleep(timing.watch().plus(timing.grace()));
            LOG.infof("A watch of %s did not end when it should have; it is begun anew", what);
            body.close();
        } catch (InterruptedException e) {
            // It ended by itself.
            Thread.currentThread().interrupt();
        } catch (IOException e) {
            LOG.debugf("A dead watch of %s: %s", what, e);
        }
    }

    private void take(JsonNode event) throws ApiException {
        JsonNode object = event.path("object");
        String type = event.path("type").asText();
        switch (type) {
            case "ADDED", "MODIFIED" -> objects.put(nameOf(object), parse.apply(object));
            case "DELETED" -> objects.remove(nameOf(object));
            case "BOOKMARK" -> {
                // Says only how far the watch is.
            }
            case "ERROR" ->
                    throw new ApiException(
                            object.path("code").asInt(),
                            "a watch of " + what + " ended: " + object.path("message").asText());
            default -> throw new ApiException(0, "a watch of " + what + " said `" + type + "`");
        }
        if (!type.equals("BOOKMARK")) {
            changed.run();
        }
        version = object.path("metadata").path("resourceVersion").asText(version);
    }

    private static String nameOf(JsonNode object) {
        return object.path("metadata").path("name").asText();
    }

    private void answered() {
        if (failedInARow > 0) {
            LOG.infof("The API server answers again about %s", what);
        }
        failedInARow = 0;
        connected = true;
    }

    private void failed(Exception e) {
        if (closed) {
            return;
        }
        failures.increment();
        connected = false;
        if (failedInARow++ == 0) {
            LOG.warnf(
                    "Kubernetes cannot be asked about %s, what is known stays: %s",
                    what, e.getMessage() == null ? e.toString() : e.getMessage());
        }
        long most = timing.retryMin().toNanos() << Math.min(failedInARow - 1, 20);
        pause(Duration.ofNanos(Math.min(most, timing.retryMax().toNanos())));
    }

    private void pause(Duration most) {
        long nanos = most.toNanos();
        if (!closed) {
            LockSupport.parkNanos(nanos / 2 + random.nextLong(nanos / 2 + 1));
        }
    }

    @Override
    public void close() {
        closed = true;
        thread.interrupt();
        InputStream body = open;
        if (body != null) {
            try {
                body.close();
            } catch (IOException e) {
                LOG.debugf("At the end of a watch of %s: %s", what, e);
            }
        }
    }
}
