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
 * with a new list, and so does all of it every {@code resync}. A virtual thread of its own does the
 * asking. {@link #objects}, {@link #listed} and the counters: any thread. While the server is away
 * the copy stays as it was.
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

    /**
     * What the reflectors of one source share.
     *
     * @param resync everything is listed anew this often
     * @param lists counts lists of all objects of a kind
     * @param failures counts questions that failed
     */
    record Setup(
            ApiServer api,
            Duration resync,
            Timing timing,
            RandomGenerator random,
            LongAdder lists,
            LongAdder failures) {
        Setup(ApiServer api, Duration resync, Timing timing, RandomGenerator random) {
            this(api, resync, timing, random, new LongAdder(), new LongAdder());
        }
    }

    /** Which objects are meant. */
    record Selection(String path, String query) {
        /** {@code path}: such as {@code /api/v1/namespaces/n/pods}. */
        static Selection labelled(String path, String selector) {
            return new Selection(path, "labelSelector=" + encoded(selector));
        }

        static Selection named(String path, String name) {
            return new Selection(path, "fieldSelector=" + encoded("metadata.name=" + name));
        }

        static Selection all(String path) {
            return new Selection(path, "");
        }

        private static String encoded(String text) {
            return URLEncoder.encode(text, StandardCharsets.UTF_8);
        }
    }

    private final String what;
    private final Setup setup;
    private final Timing timing;
    private final String path;
    private final Function<JsonNode, T> parse;
    private final Runnable changed;
    private final boolean optional;
    private final Thread thread;

    private final Map<String, T> objects = new ConcurrentHashMap<>();
    private volatile boolean listed;
    private volatile boolean connected;
    private volatile boolean closed;
    private volatile @Nullable InputStream open;

    // Only touched by the thread.
    private int failedInARow;
    private String version = "";

    /**
     * @param changed told, on this one's thread, that {@link #objects} may have changed
     * @param optional a server that does not know the kind has no such objects; it is asked again
     *     after {@code resync}
     */
    Reflector(
            String what,
            Setup setup,
            Selection selection,
            Function<JsonNode, T> parse,
            Runnable changed,
            boolean optional) {
        this.what = what;
        this.setup = setup;
        this.timing = setup.timing();
        this.path =
                selection.path()
                        + "?"
                        + (selection.query().isEmpty() ? "" : selection.query() + "&");
        this.parse = parse;
        this.changed = changed;
        this.optional = optional;
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

    private void run() {
        while (!closed) {
            try {
                list();
                follow(System.nanoTime() + setup.resync().toNanos());
            } catch (InterruptedException e) {
                return; // closed
            } catch (ApiException e) {
                if (e.gone()) {
                    LOG.debugf("%s are listed anew: %s", what, e.getMessage());
                    pause(timing.retryMin());
                } else if (optional && e.notFound()) {
                    absent();
                } else {
                    failed(e);
                }
            } catch (IOException | RuntimeException e) {
                failed(e);
            }
        }
    }

    private void absent() {
        LOG.debugf("The API server has no %s", what);
        objects.clear();
        answered();
        listed = true;
        changed.run();
        pause(setup.resync());
    }

    private void list() throws IOException, InterruptedException {
        Map<String, T> all = new HashMap<>();
        String next = "";
        do {
            JsonNode page =
                    setup.api()
                            .list(
                                    path
                                            + "limit="
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
        setup.lists().increment();
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
        BoundedAnswer body =
                setup.api()
                        .open(
                                path
                                        + "watch=true&allowWatchBookmarks=true&timeoutSeconds="
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
                body.next();
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
        setup.failures().increment();
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
            LockSupport.parkNanos(nanos / 2 + setup.random().nextLong(nanos / 2 + 1));
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
