package io.warmpath.sim;

import io.netty.channel.EventLoopGroup;
import io.netty.channel.nio.NioEventLoopGroup;
import io.netty.channel.socket.nio.NioServerSocketChannel;
import io.netty.util.concurrent.DefaultThreadFactory;
import io.netty.util.concurrent.Future;
import io.warmpath.sim.cache.PagePool;
import io.warmpath.sim.engine.PoolLink;
import io.warmpath.sim.http.HttpServer;
import io.warmpath.sim.http.SimExchange;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.util.Map;
import java.util.StringJoiner;
import java.util.concurrent.TimeUnit;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * A pool that the engines of this process share, and the admin HTTP of a Mooncake master that knows
 * what is in it: as much of it as a router asks. A page is two keys, as SGLang 0.5.17 and later
 * write them without a tag and with one tensor-parallel rank: {@code MODEL_HASH_0_k} and {@code
 * _v}. Any thread.
 */
public final class SimPool implements AutoCloseable {
    private static final Pattern KEY = Pattern.compile("(?:.*_)?([0-9a-f]{64})_0_[kv]");
    private static final int VALUE_BYTES = 131_072;

    private final String host;
    private final String model;
    private final PoolLink link;
    private final EventLoopGroup group;
    private final HttpServer server;

    private SimPool(String host, int port, String model, PoolLink link) throws IOException {
        this.host = host;
        this.model = model.replace('/', '-');
        this.link = link;
        this.group = new NioEventLoopGroup(1, new DefaultThreadFactory("sim-pool", true));
        try {
            this.server =
                    HttpServer.open(
                            group.next(),
                            NioServerSocketChannel.class,
                            this::handle,
                            new InetSocketAddress(host, port));
        } catch (IOException e) {
            close();
            throw e;
        }
    }

    /**
     * @param port of the master's admin HTTP, 0 for a free one
     * @param model whose name begins the keys
     * @param pages most that the pool holds
     * @param tokensPerSecond moved from it to an engine
     */
    public static SimPool start(
            String host, int port, String model, int pages, double tokensPerSecond)
            throws IOException {
        return new SimPool(host, port, model, new PoolLink(new PagePool(pages), tokensPerSecond));
    }

    public String host() {
        return host;
    }

    /** Of the admin HTTP. */
    public int port() {
        return server.port();
    }

    /** Pages that are there now. */
    public int pages() {
        return link.pages().size();
    }

    PoolLink link() {
        return link;
    }

    private void handle(SimExchange exchange) {
        switch (exchange.path()) {
            case "/role" -> text(exchange, "leader");
            case "/ha_status" -> text(exchange, "serving");
            case "/health" ->
                    exchange.json(
                            200,
                            "{\"status\":\"ok\",\"role\":\"leader\",\"ha_state\":\"serving\","
                                    + "\"service_ready\":true,\"leader_address\":\""
                                    + host
                                    + ":50051\",\"view_version\":1}");
            case "/leader" ->
                    exchange.json(
                            200,
                            "{\"present\":true,\"leader_address\":\""
                                    + host
                                    + ":50051\",\"view_version\":1}");
            case "/kv_events/status" ->
                    exchange.json(
                            200,
                            "{\"enabled\":false,\"published_batches\":0,\"published_events\":0,"
                                    + "\"dropped_events\":0,\"skipped_unparsed_keys\":0}");
            case "/get_all_keys" -> text(exchange, allKeys());
            case "/batch_query_keys" -> held(exchange);
            default -> exchange.respond(404, "text/plain", "404 Not Found", Map.of());
        }
    }

    private static void text(SimExchange exchange, String text) {
        exchange.respond(200, "text/plain; version=0.0.4", text, Map.of());
    }

    private String allKeys() {
        StringJoiner keys = new StringJoiner("\n");
        for (String page : link.pages().names()) {
            keys.add(model + "_" + page + "_0_k").add(model + "_" + page + "_0_v");
        }
        return keys.toString();
    }

    private void held(SimExchange exchange) {
        String keys = exchange.param("keys");
        if (keys == null || keys.isEmpty()) {
            exchange.json(
                    400,
                    "{\"success\":false,\"error\":\"No keys provided. Use"
                            + " ?keys=key1,key2,...\"}");
            return;
        }
        StringJoiner data = new StringJoiner(",", "{\"success\":true,\"data\":{", "}}");
        for (String key : keys.split(",", -1)) {
            data.add(AnswerShape.quoted(key) + ":" + (isHeld(key) ? there() : missing()));
        }
        exchange.json(200, data.toString());
    }

    private boolean isHeld(String key) {
        Matcher m = KEY.matcher(key);
        return m.matches() && key.startsWith(model + "_") && link.pages().has(m.group(1));
    }

    private String there() {
        return """
                {"ok":true,"error":null,"values":[{"size_":%s,\
                "buffer_address_":140245678,"protocol_":"tcp",\
                "transport_endpoint_":"%s:15428"}],"disk_values":null,\
                "local_disk_values":null,"nof_values":null}"""
                .formatted(VALUE_BYTES, host);
    }

    private static String missing() {
        return "{\"ok\":false,\"error\":\"OBJECT_NOT_FOUND\",\"values\":null,"
                + "\"disk_values\":null,\"local_disk_values\":null,\"nof_values\":null}";
    }

    @Override
    public void close() {
        Future<?> ended = group.shutdownGracefully(0, 2_000, TimeUnit.MILLISECONDS);
        Future<?> unused = ended.awaitUninterruptibly();
    }
}
