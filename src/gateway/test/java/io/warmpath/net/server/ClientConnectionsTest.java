package io.warmpath.net.server;

import static io.warmpath.net.server.ClientSockets.GET;
import static io.warmpath.net.server.ClientSockets.assertAnswered;
import static io.warmpath.net.server.ClientSockets.send;
import static org.awaitility.Awaitility.await;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.vertx.core.Vertx;
import io.vertx.core.http.HttpServerOptions;
import io.vertx.core.http.HttpServerRequest;
import java.io.IOException;
import java.net.Socket;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** More connections than clients may have, over sockets. */
class ClientConnectionsTest {
    private static final Duration LONG = Duration.ofMinutes(5);
    private static final int MOST = 3;

    private final Vertx vertx = Vertx.vertx();
    private final ClientLimits limits =
            ClientLimits.of(LONG, LONG, LONG, MOST, "", System::nanoTime);
    private final Queue<HttpServerRequest> held = new ConcurrentLinkedQueue<>();
    private ClientSockets clients;

    @BeforeEach
    void start() throws Exception {
        ServerConnections.limit(limits);
        int port =
                vertx.createHttpServer(new HttpServerOptions().setHttp2ClearTextEnabled(false))
                        .requestHandler(
                                request -> {
                                    if (request.path().equals("/held")) {
                                        held.add(request);
                                    } else {
                                        request.response().end("yes");
                                    }
                                })
                        .listen(0, "127.0.0.1")
                        .toCompletionStage()
                        .toCompletableFuture()
                        .get(10, TimeUnit.SECONDS)
                        .actualPort();
        clients = new ClientSockets(port);
    }

    @AfterEach
    void stop() throws Exception {
        ServerConnections.limit(null);
        clients.close();
        await().until(() -> limits.connections().open() == 0);
        vertx.close().toCompletionStage().toCompletableFuture().get(10, TimeUnit.SECONDS);
    }

    private Socket open(String sent) throws IOException {
        return clients.open(sent);
    }

    private static void assertClosed(Socket socket) throws IOException {
        try {
            assertEquals(-1, socket.getInputStream().read());
        } catch (IOException reset) { // it had sent something that nobody read
            assertTrue(reset.getMessage().contains("reset"), reset::toString);
        }
    }

    private void assertOpened(int count) {
        await().until(() -> limits.connections().open() == count);
    }

    private void assertCounted(long displaced, long refused) {
        assertEquals(displaced, limits.connections().displaced().sum());
        assertEquals(refused, limits.connections().refused().sum());
    }

    @Test
    void one_too_many_takes_the_place_of_who_was_without_a_request_for_longest() throws Exception {
        Socket first = open(GET);
        assertAnswered(first);
        Socket second = open(GET);
        assertAnswered(second);
        Socket third = open(GET);
        assertAnswered(third);
        send(first, GET);
        assertAnswered(first);
        assertCounted(0, 0); // the control: as many as may be
        assertAnswered(open(GET));
        assertClosed(second);
        assertCounted(1, 0);
        send(first, GET);
        assertAnswered(first);
        assertAnswered(open(GET));
        assertClosed(third);
        assertCounted(2, 0);
        assertOpened(MOST);
    }

    @Test
    void who_opens_connections_and_leaves_them_keeps_nobody_out() throws Exception {
        List<Socket> silent = new ArrayList<>();
        for (int i = 0; i < 50; i++) {
            silent.add(open(""));
        }
        await().until(() -> limits.connections().displaced().sum() == 50 - MOST);
        for (int i = 0; i < 50 - MOST; i++) {
            assertClosed(silent.get(i));
        }
        for (int i = 0; i < 10; i++) {
            assertAnswered(open(GET));
        }
        assertCounted(50 - MOST + 10, 0);
    }

    @Test
    void where_all_are_in_use_the_new_one_is_closed_and_nobody_else() throws Exception {
        List<Socket> busy = new ArrayList<>();
        for (int i = 0; i < MOST - 1; i++) {
            busy.add(open(GET.replace("/ ", "/held ")));
        }
        busy.add(open("GET / HTT")); // a request that has begun
        await().until(() -> held.size() == MOST - 1);
        assertOpened(MOST);
        assertClosed(open(GET));
        assertClosed(open(""));
        assertCounted(0, 2);
        send(busy.getLast(), "P/1.1\r\nHost: g\r\n\r\n");
        assertAnswered(busy.getLast());
        assertAnswered(open(GET)); // in its place
        assertCounted(1, 2);
        held.forEach(request -> vertx.runOnContext(v -> request.response().end("yes")));
        assertAnswered(busy.getFirst());
        send(busy.getFirst(), GET);
        assertAnswered(busy.getFirst());
    }

    @Test
    void each_that_ends_makes_room() throws Exception {
        for (int i = 0; i < 5 * MOST; i++) {
            Socket socket = open(GET.replace("/ ", "/held "));
            int taken = i + 1;
            await().until(() -> held.size() == taken);
            socket.close();
            assertOpened(0);
        }
        assertCounted(0, 0);
    }
}
