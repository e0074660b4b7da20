package io.warmpath.upstream;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.vertx.core.MultiMap;
import io.vertx.core.Vertx;
import io.vertx.core.VertxOptions;
import io.vertx.core.buffer.Buffer;
import io.vertx.core.http.HttpServer;
import io.warmpath.fault.GatewayError;
import io.warmpath.fleet.address.AddressGuard;
import io.warmpath.fleet.address.AddressRules;
import io.warmpath.fleet.monitor.SignsOfLife;
import io.warmpath.upstream.tls.EngineTls;
import java.net.InetAddress;
import java.net.URI;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** No byte goes to where a name leads when the rules refuse it; both clients. */
class EngineAddressGuardTest {
    private final Vertx vertx = Vertx.vertx(new VertxOptions().setPreferNativeTransport(true));
    private final AtomicInteger connections = new AtomicInteger();
    private final List<EngineClient> clients = new ArrayList<>();
    private final List<String> log = new CopyOnWriteArrayList<>();

    /** A name of this machine that the hosts' file has. */
    private String name;

    private HttpServer engine;

    @BeforeEach
    void start() throws Exception {
        name = InetAddress.getLocalHost().getHostName();
        engine =
                vertx.createHttpServer()
                        .connectionHandler(c -> connections.incrementAndGet())
                        .requestHandler(r -> r.response().end("yes"))
                        .listen(0, "0.0.0.0")
                        .toCompletionStage()
                        .toCompletableFuture()
                        .get(10, TimeUnit.SECONDS);
    }

    @AfterEach
    void stop() {
        clients.forEach(EngineClient::close);
        vertx.close().toCompletionStage().toCompletableFuture().join();
    }

    private AddressGuard guard(String... entries) {
        return new AddressGuard(AddressRules.of(List.of(entries)), log::add);
    }

    private String ask(boolean raw, AddressGuard guard, String host) throws Exception {
        UpstreamOptions options = UpstreamOptions.defaults();
        EngineTls tls = EngineTls.standard();
        EngineClient usual =
                new VertxEngineClient(
                        vertx, options, tls, guard, new SignsOfLife(), System::nanoTime);
        EngineClient client =
                raw
                        ? new RawEngineClient(
                                options, tls, usual, guard, new SignsOfLife(), System::nanoTime)
                        : usual;
        clients.add(client);
        UpstreamRequest request =
                new UpstreamRequest(
                        "w",
                        URI.create("http://" + host + ":" + engine.actualPort()),
                        "/",
                        MultiMap.caseInsensitiveMultiMap(),
                        MultiMap.caseInsensitiveMultiMap(),
                        Buffer.buffer("{}"),
                        false,
                        false,
                        List.of());
        CompletableFuture<String> outcome = new CompletableFuture<>();
        vertx.getOrCreateContext().runOnContext(v -> client.send(request, new Outcome(outcome)));
        return outcome.get(20, TimeUnit.SECONDS);
    }

    private record Outcome(CompletableFuture<String> to) implements UpstreamListener {
        @Override
        public void head(int status, MultiMap headers) {}

        @Override
        public void data(byte[] b, int from, int length) {}

        @Override
        public void end(byte[] b, int from, int length) {
            to.complete("answered");
        }

        @Override
        public void failed(GatewayError error) {
            to.complete(error.getClass().getSimpleName());
        }
    }

    @ParameterizedTest
    @ValueSource(booleans = {true, false})
    void a_name_that_leads_outside_the_list_is_not_connected_to(boolean raw) throws Exception {
        AddressGuard guard = guard("192.0.2.0/24");
        assertEquals("WorkerUnreachable", ask(raw, guard, name));
        assertEquals(0, connections.get());
        assertEquals(1, guard.refused(AddressGuard.At.CONNECT));
        assertEquals(1, log.size());
        assertTrue(log.get(0).startsWith("No connection to http://" + name), log.get(0));
    }

    @ParameterizedTest
    @ValueSource(booleans = {true, false})
    void a_name_that_may_lead_there_is(boolean raw) throws Exception {
        assertEquals("answered", ask(raw, guard(name, "127.0.0.0/8"), name));
        AddressGuard trusting = guard("192.0.2.0/24");
        trusting.trust(name);
        assertEquals("answered", ask(raw, trusting, name));
        assertEquals("answered", ask(raw, guard("192.0.2.0/24"), "localhost"));
        assertEquals("answered", ask(raw, guard("192.0.2.0/24"), "127.0.0.1"));
        assertEquals(List.of(), log);
    }

    @Test
    void the_name_of_this_machine_is_known() throws Exception {
        assertTrue(
                InetAddress.getByName(name) != null && !name.equals("localhost"),
                "these tests need a name in the hosts' file that is not localhost");
    }
}
