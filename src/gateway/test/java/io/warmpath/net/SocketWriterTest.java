package io.warmpath.net;

import static org.awaitility.Awaitility.await;
import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.netty.bootstrap.ServerBootstrap;
import io.netty.buffer.ByteBuf;
import io.netty.channel.Channel;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.channel.ChannelOption;
import io.netty.channel.ChannelOutboundHandlerAdapter;
import io.netty.channel.EventLoopGroup;
import io.netty.channel.ServerChannel;
import io.netty.channel.embedded.EmbeddedChannel;
import io.netty.channel.epoll.EpollEventLoopGroup;
import io.netty.channel.epoll.EpollServerSocketChannel;
import io.netty.channel.nio.NioEventLoopGroup;
import io.netty.channel.socket.nio.NioServerSocketChannel;
import io.netty.channel.unix.Socket;
import io.netty.handler.codec.http.HttpResponseEncoder;
import io.netty.handler.ssl.SslContextBuilder;
import io.netty.handler.traffic.GlobalTrafficShapingHandler;
import io.warmpath.api.Leaks;
import java.io.ByteArrayOutputStream;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.SplittableRandom;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.Callable;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

/** Bytes straight to a real socket: what is sent, what is left, and when somebody else has to. */
@ExtendWith(Leaks.class)
class SocketWriterTest {
    private static final int SEND_BUFFER = 8 << 10;

    private EventLoopGroup group = new EpollEventLoopGroup(1);
    private Channel listener;
    private java.net.Socket client;

    @AfterEach
    void close() throws Exception {
        if (client != null) {
            client.close();
        }
        if (listener != null) {
            listener.close().sync();
        }
        group.shutdownGracefully(0, 5, TimeUnit.SECONDS).sync();
    }

    /** A connection as the gateway has it from a client. */
    private Channel accept(Class<? extends ServerChannel> kind) throws Exception {
        BlockingQueue<Channel> accepted = new LinkedBlockingQueue<>();
        listener =
                new ServerBootstrap()
                        .group(group)
                        .channel(kind)
                        .childOption(ChannelOption.SO_SNDBUF, SEND_BUFFER)
                        .childHandler(
                                new ChannelInboundHandlerAdapter() {
                                    @Override
                                    public void channelActive(ChannelHandlerContext ctx) {
                                        accepted.add(ctx.channel());
                                    }

                                    @Override
                                    public boolean isSharable() {
                                        return true;
                                    }
                                })
                        .bind(InetAddress.getLoopbackAddress(), 0)
                        .sync()
                        .channel();
        client = new java.net.Socket();
        client.setReceiveBufferSize(SEND_BUFFER);
        client.setSoTimeout(10_000);
        client.connect(listener.localAddress() instanceof InetSocketAddress at ? at : null);
        Channel channel = accepted.poll(10, TimeUnit.SECONDS);
        assertNotNull(channel);
        return channel;
    }

    private static <T> T on(Channel channel, Callable<T> step) throws Exception {
        return channel.eventLoop().submit(step).get(10, TimeUnit.SECONDS);
    }

    private static Socket socket(Channel channel) throws Exception {
        Socket socket = on(channel, () -> SocketWriter.socket(encoder(channel)));
        assertNotNull(socket, "the pipeline is not gone past: has Netty changed?");
        return socket;
    }

    private static int send(Channel channel, Socket to, byte[] b) throws Exception {
        return on(
                channel,
                () -> {
                    SocketWriter writer = SocketWriter.ofLoop();
                    ByteBuf out = writer.begin(b.length);
                    if (out == null) {
                        return SocketWriter.NOT_SENT;
                    }
                    out.writeBytes(b);
                    return writer.send(to);
                });
    }

    private static byte[] bytes(String text) {
        return text.getBytes(StandardCharsets.US_ASCII);
    }

    @Test
    void bytes_arrive_as_they_are() throws Exception {
        Channel channel = accept(EpollServerSocketChannel.class);
        Socket to = socket(channel);
        assertEquals(0, send(channel, to, bytes("twelve bytes")));
        assertEquals(0, send(channel, to, new byte[88]));
        byte[] expected = Arrays.copyOf(bytes("twelve bytes"), 100);
        assertArrayEquals(expected, client.getInputStream().readNBytes(expected.length));
    }

    @Test
    void what_the_socket_does_not_take_is_left_and_goes_on_through_the_pipeline() throws Exception {
        Channel channel = accept(EpollServerSocketChannel.class);
        Socket to = socket(channel);
        channel.pipeline().remove("encoder"); // bytes go on from here
        long seed = System.nanoTime();
        SplittableRandom random = new SplittableRandom(seed);
        ByteArrayOutputStream expected = new ByteArrayOutputStream();
        int left = 0;
        for (int n = 0; left == 0; n++) {
            assertTrue(n < 10_000, "the socket takes everything");
            byte[] b = new byte[1 + random.nextInt(8_000)];
            random.nextBytes(b);
            expected.writeBytes(b);
            left = send(channel, to, b);
        }
        int rest = left;
        on(
                channel,
                () -> {
                    ByteBuf waiting = SocketWriter.ofLoop().rest(channel.alloc());
                    assertEquals(rest, waiting.readableBytes());
                    assertTrue(SocketWriter.isEmpty(channel));
                    var unused = channel.write(waiting);
                    assertFalse(SocketWriter.isEmpty(channel), "something waits");
                    channel.flush();
                    return null;
                });
        assertArrayEquals(
                expected.toByteArray(),
                client.getInputStream().readNBytes(expected.size()),
                () -> "seed " + seed);
        await().until(() -> on(channel, () -> SocketWriter.isEmpty(channel)));
    }

    @Test
    void what_is_too_long_is_not_sent() throws Exception {
        Channel channel = accept(EpollServerSocketChannel.class);
        Socket to = socket(channel);
        int most = SocketWriter.MAX_BYTES;
        assertEquals(SocketWriter.NOT_SENT, send(channel, to, new byte[most + 1]));
        assertTrue(send(channel, to, new byte[most]) >= 0);
    }

    @Test
    void nothing_is_sent_on_a_closed_channel() throws Exception {
        Channel channel = accept(EpollServerSocketChannel.class);
        Socket to = socket(channel);
        assertTrue(on(channel, () -> SocketWriter.isEmpty(channel)));
        channel.close().sync();
        assertEquals(SocketWriter.NOT_SENT, send(channel, to, bytes("late")));
        assertFalse(on(channel, () -> SocketWriter.isEmpty(channel)));
    }

    @Test
    void a_reset_connection_is_left_to_the_pipeline() throws Exception {
        Channel channel = accept(EpollServerSocketChannel.class);
        Socket to = socket(channel);
        client.setSoLinger(true, 0); // close sends a reset
        client.close();
        await().until(() -> send(channel, to, bytes("gone")) == SocketWriter.NOT_SENT);
    }

    /** Whose context is where bytes are written. */
    private static ChannelHandlerContext encoder(Channel channel) {
        if (channel.pipeline().context("encoder") == null) {
            channel.pipeline().addLast("encoder", new HttpResponseEncoder());
        }
        return channel.pipeline().context("encoder");
    }

    @Test
    void who_has_to_see_the_bytes_sees_them() throws Exception {
        Channel channel = accept(EpollServerSocketChannel.class);
        assertNotNull(socket(channel), "a control");
        channel.pipeline().addLast("behind", new ChannelOutboundHandlerAdapter());
        channel.pipeline().addFirst("reads", new ChannelInboundHandlerAdapter());
        assertNotNull(socket(channel), "these do not see them");
        channel.pipeline()
                .addFirst("tls", SslContextBuilder.forClient().build().newHandler(channel.alloc()));
        assertNull(on(channel, () -> SocketWriter.socket(encoder(channel))));
        channel.pipeline().remove("tls");
        channel.pipeline()
                .addFirst(new GlobalTrafficShapingHandler(channel.eventLoop(), 1_000, 1_000));
        assertNull(on(channel, () -> SocketWriter.socket(encoder(channel))));
    }

    @Test
    void other_transports_have_no_such_socket() throws Exception {
        assertNull(SocketWriter.socket(encoder(new EmbeddedChannel())));
        group.shutdownGracefully(0, 5, TimeUnit.SECONDS).sync();
        group = new NioEventLoopGroup(1);
        Channel other = accept(NioServerSocketChannel.class);
        assertNull(on(other, () -> SocketWriter.socket(encoder(other))));
    }
}
