package io.warmpath.adapter.zmq;

import io.warmpath.adapter.zmq.MessageRoom.NoRoom;
import java.io.IOException;
import java.net.ProtocolException;
import java.net.SocketAddress;
import java.net.StandardSocketOptions;
import java.nio.ByteBuffer;
import java.nio.channels.SelectionKey;
import java.nio.channels.SocketChannel;
import java.util.ArrayDeque;
import java.util.List;
import java.util.Map;
import org.jboss.logging.Logger;
import org.jspecify.annotations.Nullable;

/**
 * One connection to one ZeroMQ peer, from the greeting to its end. On the loop's thread.
 *
 * <p>Bytes are read into the loop's buffer and handed on from there: a connection between two
 * messages holds some hundred bytes of heap. A peer of ZMTP 3.1 that says nothing is asked for a
 * sign of life; older ones are left to TCP.
 */
final class ZmtpConnection implements ZmtpLoop.Ready, ZmtpReader.Sink {
    /** Told in this order: up once, messages, down once. Not after {@link #close}. */
    interface Listener {
        void up(ZmtpConnection connection);

        void message(ZmtpConnection connection, List<byte[]> frames);

        /**
         * @param more there was more to read than one turn allows
         */
        void turnEnded(boolean more);

        /**
         * @param why a {@link ProtocolException} is not mended by trying again
         */
        void down(ZmtpConnection connection, IOException why);
    }

    /** What this side is, and which peers it may talk to. */
    enum Role {
        SUB,
        DEALER,
        PULL,
        ROUTER;

        private boolean talksTo(@Nullable String socketType) {
            return PEERS.getOrDefault(this, List.of())
                    .contains(socketType == null ? "" : socketType);
        }
    }

    private static final Map<Role, List<String>> PEERS =
            Map.of(
                    Role.SUB, List.of("PUB", "XPUB"),
                    Role.DEALER, List.of("ROUTER", "DEALER", "REP"),
                    Role.PULL, List.of("PUSH"),
                    Role.ROUTER, List.of("DEALER", "REQ"));

    private static final Logger LOG = Logger.getLogger(ZmtpConnection.class);

    /** Buffers read before the next connection gets its turn. */
    private static final int BURST = 4;

    private static final long HANDSHAKE_NANOS = 30_000_000_000L;

    /** From the first byte of a message of a peer that has come to us until its last. */
    private static final long MESSAGE_NANOS = 30_000_000_000L;

    /** Told to a peer that does not read it. */
    private static final int MOST_UNSENT = 1 << 20;

    private static final long HEARTBEAT_NANOS = 10_000_000_000L;

    private final ZmtpLoop loop;
    private final SocketChannel channel;
    private final Role role;
    private final Listener listener;
    private final boolean accepted;
    private final ZmtpReader reader;
    private final long began;
    private final ArrayDeque<ByteBuffer> out = new ArrayDeque<>(2);
    private @Nullable SelectionKey key;
    private boolean closed;
    private boolean up;
    private boolean heartbeats;
    private boolean pinged;
    private long unsent; // bytes

    /** Of the beginning, of the last byte read, or of the ping. */
    private long since;

    private long messageBegan; // of the one that is unfinished
    private long messageNumber = -1;

    private ZmtpConnection(
            ZmtpLoop loop, SocketChannel channel, Role role, Listener listener, boolean accepted) {
        this.loop = loop;
        this.channel = channel;
        this.role = role;
        this.listener = listener;
        this.accepted = accepted;
        this.reader = new ZmtpReader(this, loop.limits());
        this.began = loop.nanoTime().getAsLong();
        this.since = began;
    }

    /**
     * Begins to connect.
     *
     * @throws IOException when that is already known to be in vain
     */
    static ZmtpConnection to(
            ZmtpAddress address, SocketAddress at, ZmtpLoop loop, Role role, Listener listener)
            throws IOException {
        SocketChannel channel = address.open();
        try {
            ZmtpConnection made = new ZmtpConnection(loop, channel, role, listener, false);
            channel.configureBlocking(false);
            boolean connected = channel.connect(at);
            made.key =
                    loop.register(
                            channel,
                            connected ? SelectionKey.OP_READ : SelectionKey.OP_CONNECT,
                            made);
            if (connected) {
                made.begin();
            }
            return made;
        } catch (IOException | RuntimeException e) {
            channel.close();
            throw e;
        }
    }

    /** Takes over a connection that a peer has made. */
    static ZmtpConnection accepted(
            SocketChannel channel, ZmtpLoop loop, Role role, Listener listener) throws IOException {
        ZmtpConnection made = new ZmtpConnection(loop, channel, role, listener, true);
        channel.configureBlocking(false);
        made.key = loop.register(channel, SelectionKey.OP_READ, made);
        made.begin();
        return made;
    }

    private void begin() throws IOException {
        if (channel.supportedOptions().contains(StandardSocketOptions.TCP_NODELAY)) {
            channel.setOption(StandardSocketOptions.TCP_NODELAY, true);
            channel.setOption(StandardSocketOptions.SO_KEEPALIVE, true);
        }
        write(ZmtpBytes.greeting());
    }

    boolean up() {
        return up;
    }

    /** Where the peer has reached this side. */
    SocketAddress localAddress() throws IOException {
        return channel.getLocalAddress();
    }

    /** The channel can be read, written, or is connected. */
    @Override
    public void ready() {
        SelectionKey k = key;
        if (k == null || !k.isValid()) {
            return;
        }
        try {
            if (k.isConnectable() && channel.finishConnect()) {
                k.interestOps(SelectionKey.OP_READ);
                begin();
            }
            if (k.isValid() && k.isWritable()) {
                flush();
            }
            if (k.isValid() && k.isReadable()) {
                read();
            }
        } catch (IOException e) {
            fail(e);
        }
    }

    private void read() throws IOException {
        ByteBuffer in = loop.buffer();
        boolean more = true;
        for (int i = 0; i < BURST && more && !closed; i++) {
            in.clear();
            int n = channel.read(in);
            if (n < 0) {
                throw new IOException("it was closed by the other side");
            }
            if (n > 0) {
                since = loop.nanoTime().getAsLong();
                pinged = false;
            }
            more = n == in.capacity();
            reader.take(in.flip());
        }
        if (reader.unfinished() && reader.handedOut() != messageNumber) {
            messageNumber = reader.handedOut();
            messageBegan = since;
        }
        if (!closed) {
            listener.turnEnded(more);
        }
    }

    @Override
    public void greeted(int minor, String mechanism) throws ProtocolException {
        if (!mechanism.equals(ZmtpBytes.NULL_MECHANISM)) {
            throw new ProtocolException(
                    "it wants the security mechanism " + mechanism + ", only NULL is known");
        }
        heartbeats = minor > 0;
        send(ZmtpBytes.ready(role.name(), role == Role.DEALER || role == Role.ROUTER));
    }

    @Override
    public void command(byte[] body) throws ProtocolException {
        switch (ZmtpBytes.name(body)) {
            case "READY" -> {
                String theirs = ZmtpBytes.property(body, "Socket-Type");
                if (!role.talksTo(theirs)) {
                    throw new ProtocolException(
                            "it is a " + theirs + " socket; wanted is one of " + PEERS.get(role));
                }
                if (!up) {
                    up = true;
                    listener.up(this);
                }
            }
            case "PING" -> send(ZmtpBytes.pong(body));
            case "ERROR" -> throw new ProtocolException("it refused: " + ZmtpBytes.reason(body));
            default -> {
                // PONG has already counted as a sign of life; others say nothing to this side.
            }
        }
    }

    @Override
    public void message(List<byte[]> frames) {
        if (up) {
            listener.message(this, frames);
        }
    }

    /** Sends when it can; what cannot be sent at once waits here. */
    void send(ByteBuffer bytes) {
        if (!closed) {
            try {
                write(bytes);
            } catch (IOException e) {
                fail(e);
            }
        }
    }

    private void write(ByteBuffer bytes) throws IOException {
        unsent += bytes.remaining();
        if (unsent > MOST_UNSENT && !out.isEmpty()) {
            throw new IOException("it does not read what it is told");
        }
        out.add(bytes);
        flush();
    }

    private void flush() throws IOException {
        ByteBuffer next = out.peek();
        while (next != null) {
            unsent -= channel.write(next);
            if (next.hasRemaining()) {
                break;
            }
            out.remove();
            next = out.peek();
        }
        SelectionKey k = key;
        if (k != null && k.isValid()) {
            k.interestOps(SelectionKey.OP_READ | (out.isEmpty() ? 0 : SelectionKey.OP_WRITE));
        }
    }

    /** Looks at the clock. */
    void tick(long now) {
        long quiet = now - since;
        if (!up && now - began >= HANDSHAKE_NANOS) {
            fail(new IOException("no ZeroMQ handshake within 30 s"));
        } else if (reader.unfinished() && loop.limits().room().full()) {
            fail(new NoRoom("memory is full, and its message is unfinished"));
        } else if (accepted && reader.unfinished() && now - messageBegan >= MESSAGE_NANOS) {
            fail(new IOException("a message did not end within 30 s"));
        } else if (up && heartbeats && quiet >= HEARTBEAT_NANOS) {
            if (pinged) {
                fail(new IOException("no sign of life for 20 s"));
            } else {
                pinged = true;
                since = now;
                send(ZmtpBytes.ping());
            }
        }
    }

    private void fail(IOException e) {
        if (!closed) {
            close();
            if (e instanceof NoRoom && loop.limits().room().refuse()) {
                LOG.warnf(
                        "A ZeroMQ connection is closed: %s; later ones are counted only",
                        e.getMessage());
            }
            listener.down(this, e);
        }
    }

    void close() {
        closed = true;
        reader.stop();
        try {
            // Cancels its key too.
            channel.close();
        } catch (IOException e) {
            LOG.debugf(e, "closing a connection");
        }
    }
}
