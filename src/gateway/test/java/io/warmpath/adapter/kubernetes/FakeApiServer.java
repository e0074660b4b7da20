package io.warmpath.adapter.kubernetes;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;
import java.io.IOException;
import java.io.OutputStream;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.URI;
import java.net.URLDecoder;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * The part of the Kubernetes API that the source uses, with the faults of the real one: pages,
 * watch from a version, bookmarks, 410 after compaction, cut connections, refusals, silence.
 */
final class FakeApiServer implements Cluster {
    /** One change, as watches tell it. */
    private record Event(int version, String path, String type, ObjectNode object) {}

    private final HttpServer server;
    private final ExecutorService threads = Executors.newVirtualThreadPerTaskExecutor();
    private final @Nullable Path token;

    // Guarded by this; watches wait on it.
    private final Map<String, ObjectNode> objects = new LinkedHashMap<>();
    private final List<Event> events = new ArrayList<>();
    private final Set<String> unknown = new HashSet<>();
    private final List<String> asked = new ArrayList<>();
    private final List<String> authorizations = new ArrayList<>();
    private int version = 100;
    private int oldest = 100;
    private int cuts;
    private int refusals;
    private int refusal;
    private int watches;
    private int quiet;
    private boolean endAtOnce;
    private @Nullable String garbage;
    private boolean closed;

    FakeApiServer(@Nullable Path token) {
        this.token = token;
        try {
            server =
                    HttpServer.create(
                            new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
        server.setExecutor(threads);
        server.createContext("/", this::answer);
        server.start();
    }

    @Override
    public KubernetesOptions options() {
        return new KubernetesOptions(
                URI.create("http://127.0.0.1:" + server.getAddress().getPort()),
                token,
                null,
                Objects.NAMESPACE,
                Objects.SELECTOR,
                null,
                Duration.ofMinutes(10));
    }

    @Override
    public synchronized void put(String path, ObjectNode object) {
        String key = path + "/" + object.at("/metadata/name").asText();
        ObjectNode before = objects.get(key);
        ObjectNode now = object.deepCopy();
        if (before != null && before.has("status") && !now.has("status")) {
            now.set("status", before.get("status"));
        }
        version++;
        now.withObject("metadata")
                .put("resourceVersion", Integer.toString(version))
                .put(
                        "uid",
                        before == null ? "uid-" + version : before.at("/metadata/uid").asText());
        objects.put(key, now);
        tell(path, before == null ? "ADDED" : "MODIFIED", now);
    }

    @Override
    public synchronized void status(String path, ObjectNode object) {
        ObjectNode now =
                java.util.Objects.requireNonNull(
                                objects.get(path + "/" + object.at("/metadata/name").asText()))
                        .deepCopy();
        now.set("status", object.get("status"));
        put(path, now);
    }

    @Override
    public synchronized void terminate(String pod) {
        ObjectNode now = java.util.Objects.requireNonNull(objects.get(PODS + "/" + pod)).deepCopy();
        now.withObject("metadata").put("deletionTimestamp", "2026-11-22T00:00:00Z");
        put(PODS, now);
    }

    @Override
    public synchronized void remove(String path, String name) {
        ObjectNode gone = java.util.Objects.requireNonNull(objects.remove(path + "/" + name));
        version++;
        gone.withObject("metadata").put("resourceVersion", Integer.toString(version));
        tell(path, "DELETED", gone);
    }

    private void tell(String path, String type, ObjectNode object) {
        events.add(new Event(version, path, type, object.deepCopy()));
        notifyAll();
    }

    /** Ends every watch in the middle of what it says. */
    synchronized void cut() {
        cuts++;
        notifyAll();
    }

    /**
     * Nobody can go on from a version that was told: objects of other kinds have been written since
     * then, as in a real store, whose versions are those of all kinds.
     */
    synchronized void compact() {
        oldest = ++version;
        events.clear();
    }

    /** It does not know this kind of objects; or it does again. */
    synchronized void unknown(String path, boolean is) {
        if (is) {
            unknown.add(path);
        } else {
            unknown.remove(path);
        }
    }

    /** The next so many questions are answered with this status. */
    synchronized void refuse(int status, int times) {
        refusal = status;
        refusals = times;
    }

    /** Watches that run get nothing any more, and do not end; new ones are well. */
    synchronized void fallSilent() {
        quiet = watches;
        notifyAll();
    }

    /** Watches end as soon as they have begun. */
    synchronized void endWatchesAtOnce() {
        endAtOnce = true;
        cuts++;
        notifyAll();
    }

    /** What running watches say next. */
    synchronized void say(String text) {
        garbage = text;
        notifyAll();
    }

    /** Paths with their queries, in order. */
    synchronized List<String> asked() {
        return List.copyOf(asked);
    }

    synchronized List<String> authorizations() {
        return List.copyOf(authorizations);
    }

    private void answer(HttpExchange exchange) throws IOException {
        try (exchange) {
            Map<String, String> query = query(exchange.getRequestURI().getRawQuery());
            String path = exchange.getRequestURI().getPath();
            int status;
            synchronized (this) {
                asked.add(exchange.getRequestURI().toString());
                authorizations.add(
                        String.valueOf(exchange.getRequestHeaders().getFirst("Authorization")));
                status = refusals > 0 ? refusal : unknown.contains(path) ? 404 : 200;
                refusals = Math.max(0, refusals - 1);
            }
            if (status == 200 && query.containsKey("watch")) {
                status = watch(exchange, path, query);
            } else if (status == 200) {
                send(exchange, 200, page(path, query));
            }
            if (status != 200) {
                send(exchange, status, "{\"kind\":\"Status\",\"message\":\"refused by the test\"}");
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    private static void send(HttpExchange exchange, int status, String body) throws IOException {
        byte[] bytes = body.getBytes(StandardCharsets.UTF_8);
        exchange.sendResponseHeaders(status, bytes.length);
        exchange.getResponseBody().write(bytes);
    }

    /** Two objects a page, however many were asked for: the limit is an upper one. */
    private synchronized String page(String path, Map<String, String> query) {
        List<ObjectNode> all = matching(path, query);
        int from = Integer.parseInt(query.getOrDefault("continue", "0"));
        int to = Math.min(from + 2, all.size());
        ObjectNode list = Objects.JSON.createObjectNode();
        ObjectNode metadata = list.withObject("metadata");
        metadata.put("resourceVersion", Integer.toString(version));
        if (to < all.size()) {
            metadata.put("continue", Integer.toString(to));
        }
        list.putArray("items").addAll(all.subList(from, to));
        return list.toString();
    }

    private List<ObjectNode> matching(String path, Map<String, String> query) {
        return objects.entrySet().stream()
                .filter(e -> e.getKey().startsWith(path + "/") && selects(query, e.getValue()))
                .map(Map.Entry::getValue)
                .toList();
    }

    private static boolean selects(Map<String, String> query, ObjectNode object) {
        JsonNode metadata = object.path("metadata");
        String named = "metadata.name=" + metadata.path("name").asText();
        return Stream.of(query.getOrDefault("labelSelector", "").split(","))
                        .filter(l -> !l.isEmpty())
                        .map(l -> l.split("=", 2))
                        .allMatch(l -> metadata.path("labels").path(l[0]).asText().equals(l[1]))
                && query.getOrDefault("fieldSelector", named).equals(named);
    }

    private int watch(HttpExchange exchange, String path, Map<String, String> query)
            throws IOException, InterruptedException {
        int from = Integer.parseInt(query.get("resourceVersion"));
        int seen = from;
        int cutsSeen;
        int born;
        synchronized (this) {
            if (from < oldest) {
                return 410;
            }
            cutsSeen = cuts;
            born = ++watches;
        }
        exchange.sendResponseHeaders(200, 0);
        OutputStream out = exchange.getResponseBody();
        out.flush();
        while (true) {
            StringBuilder lines = new StringBuilder();
            synchronized (this) {
                if (endAtOnce) {
                    return 200;
                }
                while (!closed && cuts == cutsSeen && (born <= quiet || !news(path, seen))) {
                    wait();
                }
                if (closed) {
                    return 200;
                }
                if (cuts != cutsSeen) {
                    out.write("{\"type\":\"MODIF".getBytes(StandardCharsets.UTF_8));
                    out.flush();
                    throw new IOException("cut");
                }
                for (Event e : events) {
                    if (e.version() > seen && e.path().equals(path)) {
                        boolean here = selects(query, e.object());
                        if (here || e.type().equals("MODIFIED")) {
                            // One that is selected no more is deleted for this watch.
                            lines.append(line(here ? e.type() : "DELETED", e.object()));
                        }
                    }
                }
                seen = version;
                if (garbage != null) {
                    lines.append(garbage);
                    garbage = null;
                }
                ObjectNode mark = Objects.JSON.createObjectNode();
                mark.withObject("metadata").put("resourceVersion", Integer.toString(seen));
                lines.append(line("BOOKMARK", mark));
            }
            out.write(lines.toString().getBytes(StandardCharsets.UTF_8));
            out.flush();
        }
    }

    private boolean news(String path, int seen) {
        return garbage != null
                || events.stream().anyMatch(e -> e.version() > seen && e.path().equals(path));
    }

    private static String line(String type, ObjectNode object) {
        return Objects.JSON.createObjectNode().put("type", type).set("object", object) + "\n";
    }

    private static Map<String, String> query(String raw) {
        return Arrays.stream(raw.split("&"))
                .map(p -> p.split("=", 2))
                .collect(
                        Collectors.toMap(
                                p -> p[0], p -> URLDecoder.decode(p[1], StandardCharsets.UTF_8)));
    }

    @Override
    public void close() {
        synchronized (this) {
            closed = true;
            notifyAll();
        }
        server.stop(0);
        threads.shutdownNow();
    }
}
