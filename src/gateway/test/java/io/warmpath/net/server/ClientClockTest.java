package io.warmpath.net.server;

import static io.warmpath.net.server.ClientSockets.GET;
import static io.warmpath.net.server.ClientSockets.assertAnswered;
import static io.warmpath.net.server.ClientSockets.send;
import static org.awaitility.Awaitility.await;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;

import io.netty.bootstrap.ServerBootstrap;
import io.netty.channel.Channel;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.channel.EventLoopGroup;
import io.netty.channel.nio.NioEventLoopGroup;
import io.netty.channel.socket.nio.NioServerSocketChannel;
import io.vertx.core.Context;
import io.vertx.core.Vertx;
import io.vertx.core.http.HttpServerOptions;
import io.vertx.core.http.HttpServerRequest;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.net.SocketTimeoutException;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.FutureTask;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** Clients that take their time, over sockets. Surefire lets Netty look for the extension. */
@Tag("slow")
class ClientClockTest {
    private static final Duration HEAD = Duration.ofMillis(400);
    private static final Duration BODY = Duration.ofMillis(600);
    private static final Duration IDLE = Duration.ofMillis(1200);

    private final Vertx vertx = Vertx.vertx();
    private final ClientLimits limits =
            ClientLimits.of(HEAD, BODY, IDLE, 500, "", System::nanoTime);
    private final AtomicReference<HttpServerRequest> held = new AtomicReference<>();
    private final AtomicReference<Context> loop = new AtomicReference<>();
    private ClientSockets clients;

    @BeforeEach
    void start() throws Exception {
        ServerConnections.limit(limits);
        int port =
                vertx.createHttpServer(new HttpServerOptions().setHttp2ClearTextEnabled(false))
                        .requestHandler(this::handle)
                        .listen(0, "127.0.0.1")
                        .toCompletionStage()
                        .toCompletableFuture()
                        .get(10, TimeUnit.SECONDS)
                        .actualPort();
        clients = new ClientSockets(port);
    }

    private void handle(HttpServerRequest request) {
        loop.set(vertx.getOrCreateContext());
        if (request.path().equals("/held")) {
            held.set(request);
        } else if (request.path().equals("/paused")) {
            request.pause();
            held.set(request);
        } else {
            request.endHandler(v -> request.response().end("yes"));
        }
    }

    @AfterEach
    void stop() throws Exception {
        ServerConnections.limit(null);
        clients.close();
        vertx.close().toCompletionStage().toCompletableFuture().get(10, TimeUnit.SECONDS);
    }

    private Socket open(String sent) throws IOException {
        return clients.open(sent);
    }

    /** A byte now and then until the gateway has closed. */
    private static void drip(Socket socket) {
        await().atMost(20, TimeUnit.SECONDS)
                .pollInterval(50, TimeUnit.MILLISECONDS)
                .until(
                        () -> {
                            try {
                                send(socket, "a");
                                return false;
                            } catch (IOException closed) {
                                return true;
                            }
                        });
    }

    private void assertCut(long heads, long bodies, long idles) {
        await().untilAsserted(
                        () ->
                                assertEquals(
                                        List.of(heads, bodies, idles),
                                        List.of(
                                                limits.heads().sum(),
                                                limits.bodies().sum(),
                                                limits.idles().sum())));
    }

    @Test
    void a_head_that_drips_is_cut() throws Exception {
        drip(open("GET / HTTP/1.1\r\nx: "));
        assertCut(1, 0, 0);
    }

    @Test
    void the_head_of_a_later_request_is_cut_as_well() throws Exception {
        Socket socket = open(GET);
        assertAnswered(socket);
        send(socket, "GET / HT");
        assertEquals(-1, socket.getInputStream().read());
        assertCut(1, 0, 0);
    }

    @Test
    void half_a_head_behind_a_request_is_cut_with_the_idle() throws Exception {
        Socket socket = open(GET + "GET / HT");
        assertAnswered(socket);
        assertEquals(-1, socket.getInputStream().read());
        assertCut(0, 0, 1);
    }

    @Test
    void a_body_that_drips_is_cut() throws Exception {
        drip(open("POST / HTTP/1.1\r\nHost: g\r\nContent-Length: 100000\r\n\r\n"));
        assertCut(0, 1, 0);
    }

    @Test
    void who_says_nothing_is_cut() throws Exception {
        assertEquals(-1, open("").getInputStream().read());
        Socket answered = open(GET);
        assertAnswered(answered);
        assertEquals(-1, answered.getInputStream().read());
        assertCut(0, 0, 2);
    }

    @Test
    void an_answer_may_be_silent_for_as_long_as_it_likes() throws Exception {
        Socket silent = open(GET.replace("/ ", "/held "));
        await().until(() -> held.get() != null);
        for (int i = 0; i < 3; i++) { // three idle times go by
            assertEquals(-1, open("").getInputStream().read());
        }
        loop.get().runOnContext(v -> held.get().response().end("yes"));
        assertAnswered(silent);
        send(silent, GET);
        assertAnswered(silent);
        assertCut(0, 0, 3);
    }

    @Test
    void a_body_that_is_not_read_is_not_the_clients_fault() throws Exception {
        byte[] body = new byte[32_000_000]; // more than sockets hold
        Socket paused =
                open("POST /paused HTTP/1.1\r\nHost: g\r\nContent-Length: 32000000\r\n\r\n");
        await().until(() -> held.get() != null);
        Context context = loop.get();
        FutureTask<Void> sender =
                new FutureTask<>(
                        () -> {
                            paused.getOutputStream().write(body);
                            return null;
                        });
        Thread.ofVirtual().start(sender);
        for (int i = 0; i < 3; i++) { // six spans of a body go by
            assertEquals(-1, open("").getInputStream().read());
        }
        assertFalse(sender.isDone(), "the body went somewhere");
        context.runOnContext(
                v -> {
                    held.get().endHandler(end -> held.get().response().end("yes"));
                    held.get().handler(bytes -> {});
                    held.get().resume();
                });
        assertAnswered(paused);
        sender.get(10, TimeUnit.SECONDS);
        assertCut(0, 0, 3);
    }

    @Test
    void who_is_slow_but_fast_enough_is_served() throws Exception {
        Socket slow = open("POST / HTTP/1.1\r\nHost: g\r\nContent-Length: 40000\r\n\r\n");
        AtomicInteger steps = new AtomicInteger();
        // 4 s for all: longer than each bound. One step is enough for a span, six fit into it.
        await().atMost(60, TimeUnit.SECONDS)
                .pollDelay(Duration.ZERO)
                .pollInterval(100, TimeUnit.MILLISECONDS)
                .until(
                        () -> {
                            send(slow, "a".repeat(1_000));
                            return steps.incrementAndGet() == 40;
                        });
        assertAnswered(slow);
        assertCut(0, 0, 0);
    }

    @Test
    void other_servers_of_the_process_are_left_alone() throws Exception {
        EventLoopGroup group = new NioEventLoopGroup(1);
        try {
            Channel server =
                    new ServerBootstrap()
                            .group(group)
                            .channel(NioServerSocketChannel.class)
                            .childHandler(new ChannelInboundHandlerAdapter())
                            .bind("127.0.0.1", 0)
                            .sync()
                            .channel();
            Socket other = clients.connect(((InetSocketAddress) server.localAddress()).getPort());
            for (int i = 0; i < 3; i++) {
                assertEquals(-1, open("").getInputStream().read());
            }
            other.setSoTimeout(1);
            assertThrows(SocketTimeoutException.class, () -> other.getInputStream().read());
            assertCut(0, 0, 3);
        } finally {
            group.shutdownGracefully(0, 0, TimeUnit.SECONDS).sync();
        }
    }

    @Test
    void hundreds_that_hold_on_do_not_stand_in_the_way() throws Exception {
        for (int i = 0; i < 300; i++) {
            open("GET / HT");
        }
        for (int i = 0; i < 20; i++) {
            assertAnswered(open(GET));
        }
        await().atMost(20, TimeUnit.SECONDS)
                .untilAsserted(() -> assertEquals(300, limits.heads().sum()));
    }
}
