package io.warmpath.adapter.zmq;

import io.warmpath.adapter.zmq.Payload.BadValue;
import io.warmpath.events.MalformedBatchException;
import io.warmpath.pool.LmcacheInstances;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.nio.channels.SelectionKey;
import java.nio.channels.Selector;
import java.util.List;
import java.util.concurrent.atomic.LongAdder;
import java.util.function.LongSupplier;
import org.jboss.logging.Logger;
import org.jspecify.annotations.Nullable;

/**
 * The controller that LMCache's workers are told of: hears what they hold, answers what they ask.
 *
 * <p>Workers push their changes to one socket and ask at another, which serves their heartbeats
 * too. One platform thread reads both; {@link #instances} is changed on it alone. Whatever a
 * message has in it, it costs itself only.
 */
public final class LmcacheController implements AutoCloseable {
    private static final Logger LOG = Logger.getLogger(LmcacheController.class);
    private static final int TICK_MILLIS = 200;
    private static final int READ_BYTES = 128 << 10;
    private static final long END_MILLIS = 5_000;

    /** Workers tell changes as they come, and all that they hold in batches of some thousand. */
    private static final long MOST_MESSAGE = 4L << 20;

    /** Of one port: a worker has one, or two. */
    private static final int MOST_CONNECTIONS = 4096;

    private final LmcacheInstances instances;
    private final LongAdder messages = new LongAdder();
    private final LongAdder badMessages = new LongAdder();
    private final LongSupplier nanoTime;
    private final Selector selector;
    private final ZmtpServer pull;
    private final ZmtpServer reply;
    private final Thread thread;
    private volatile boolean stopping;
    private boolean warned;

    /**
     * Binds, and hears from then on.
     *
     * @param pull endpoint that changes are pushed to, {@code tcp://*:8300}
     * @param reply endpoint that questions and heartbeats come to
     * @param room for messages that have begun, of both
     * @throws IOException when an endpoint cannot be had
     * @throws IllegalArgumentException when one is malformed
     */
    public LmcacheController(
            String pull,
            String reply,
            LmcacheInstances instances,
            MessageRoom room,
            LongSupplier nanoTime)
            throws IOException {
        this(
                pull,
                reply,
                instances,
                new ZmtpLimits(MOST_MESSAGE, MOST_CONNECTIONS, room),
                nanoTime);
    }

    LmcacheController(
            String pull,
            String reply,
            LmcacheInstances instances,
            ZmtpLimits limits,
            LongSupplier nanoTime)
            throws IOException {
        this.instances = instances;
        this.nanoTime = nanoTime;
        this.selector = Selector.open();
        ZmtpLoop loop =
                new ZmtpLoop(
                        selector,
                        ByteBuffer.allocateDirect(READ_BYTES),
                        nanoTime,
                        limits,
                        null,
                        null);
        this.pull = bound(pull, loop, ZmtpConnection.Role.PULL, new Pushed());
        try {
            this.reply = bound(reply, loop, ZmtpConnection.Role.ROUTER, new Asked());
        } catch (IOException | RuntimeException e) {
            this.pull.close();
            throw e;
        }
        this.pull.open();
        this.reply.open();
        this.thread = Thread.ofPlatform().name("warmpath-lmcache").daemon().unstarted(this::run);
        thread.start();
    }

    private static ZmtpServer bound(
            String endpoint,
            ZmtpLoop loop,
            ZmtpConnection.Role role,
            ZmtpConnection.Listener listener)
            throws IOException {
        ZmtpAddress address = ZmtpAddress.parse(endpoint);
        try {
            return new ZmtpServer(address, loop, role, listener);
        } catch (IOException e) {
            throw new IOException("cannot listen at " + endpoint + ": " + e.getMessage(), e);
        }
    }

    /** Messages that were understood. */
    public long messages() {
        return messages.sum();
    }

    /** Messages, and questions, that made no sense: nothing of them was taken. */
    public long badMessages() {
        return badMessages.sum();
    }

    /** Of both ports. */
    int connections() {
        return pull.connections() + reply.connections();
    }

    @Override
    public void close() {
        stopping = true;
        selector.wakeup();
        boolean interrupted = false;
        try {
            thread.join(END_MILLIS);
        } catch (InterruptedException e) {
            interrupted = true;
        }
        if (interrupted) {
            Thread.currentThread().interrupt();
        }
    }

    private void run() {
        try (selector) {
            long ticked = nanoTime.getAsLong();
            while (!stopping) {
                selector.select(LmcacheController::ready, TICK_MILLIS);
                long now = nanoTime.getAsLong();
                if (now - ticked >= TICK_MILLIS * 1_000_000L) {
                    ticked = now;
                    pull.tick(now);
                    reply.tick(now);
                }
            }
        } catch (IOException | RuntimeException e) {
            LOG.error("LMCache is not heard any more; its chunks count as they were", e);
        } finally {
            pull.close();
            reply.close();
        }
    }

    private static void ready(SelectionKey key) {
        if (key.isValid() && key.attachment() instanceof ZmtpLoop.Attached a) {
            a.handler().ready();
        }
    }

    /** Null when it makes no sense; then it is counted, and the first one logged. */
    private @Nullable LmcacheMessage read(byte[] frame) {
        String why;
        try {
            LmcacheMessage message = LmcacheMessage.read(frame);
            messages.increment();
            return message;
        } catch (MalformedBatchException | BadValue e) {
            why = String.valueOf(e.getMessage());
        }
        badMessages.increment();
        if (!warned) {
            warned = true;
            LOG.warnf(
                    "A message to the LMCache controller makes no sense: %s; it is dropped, and"
                            + " later ones counted only",
                    why);
        }
        return null;
    }

    /** What workers push. */
    private final class Pushed implements ZmtpConnection.Listener {
        @Override
        public void up(ZmtpConnection connection) {
            // Who it is, its messages tell.
        }

        @Override
        public void message(ZmtpConnection connection, List<byte[]> frames) {
            for (byte[] frame : frames) {
                LmcacheMessage m = read(frame);
                if (m != null) {
                    take(m);
                }
            }
        }

        private void take(LmcacheMessage m) {
            switch (m.type()) {
                case "KVAdmitMsg", "KVEvictMsg", "BatchedKVOperationMsg" ->
                        instances.changed(m.instance(), m.worker(), m.location(), m.operations());
                case "FullSyncBatchMsg" ->
                        instances.batch(
                                m.instance(),
                                m.worker(),
                                m.location(),
                                m.syncId(),
                                m.number(),
                                m.keys());
                case "FullSyncEndMsg" -> instances.end(m.instance(), m.worker(), m.syncId());
                case "DeRegisterMsg" -> {
                    LOG.infof("LMCache %s/%d has left", m.instance(), m.worker());
                    instances.deregistered(m.instance(), m.worker());
                }
                default -> badMessages.increment(); // a question, which nobody can answer here
            }
        }

        @Override
        public void turnEnded(boolean more) {
            // Each message was applied as it came.
        }

        @Override
        public void down(ZmtpConnection connection, IOException why) {
            // What is lost on the way shows in the next number.
            LOG.debugf("a worker of LMCache has gone: %s", why);
        }
    }

    /** What workers ask. */
    private final class Asked implements ZmtpConnection.Listener {
        @Override
        public void up(ZmtpConnection connection) {
            // Who it is, its messages tell.
        }

        @Override
        public void message(ZmtpConnection connection, List<byte[]> frames) {
            // A socket that asks puts an empty frame before its question.
            if (frames.size() != 2 || frames.getFirst().length != 0) {
                badMessages.increment();
                return;
            }
            LmcacheMessage m = read(frames.get(1));
            byte[] answer =
                    m == null ? LmcacheAnswer.error("not understood") : answer(connection, m);
            connection.send(ZmtpBytes.message(List.of(frames.getFirst(), answer)));
        }

        private byte[] answer(ZmtpConnection connection, LmcacheMessage m) {
            return switch (m.type()) {
                case "RegisterMsg" -> {
                    LOG.infof("LMCache %s/%d has registered", m.instance(), m.worker());
                    instances.registered(m.instance(), m.worker());
                    yield LmcacheAnswer.registered(reachedAt(connection));
                }
                case "HeartbeatMsg" ->
                        LmcacheAnswer.heard(instances.wantsAll(m.instance(), m.worker()));
                case "FullSyncStartMsg" ->
                        LmcacheAnswer.begun(
                                m.syncId(),
                                instances.begin(
                                        m.instance(),
                                        m.worker(),
                                        m.location(),
                                        m.syncId(),
                                        m.number()));
                case "FullSyncStatusMsg" ->
                        LmcacheAnswer.status(
                                m.syncId(), instances.status(m.instance(), m.worker(), m.syncId()));
                case "BatchedP2PLookupMsg" -> LmcacheAnswer.noPeer();
                default -> {
                    badMessages.increment();
                    yield LmcacheAnswer.error("a " + m.type() + " is pushed, not asked");
                }
            };
        }

        /** Heartbeats come the way that the question has come. */
        private static String reachedAt(ZmtpConnection connection) {
            try {
                if (connection.localAddress() instanceof InetSocketAddress at) {
                    String host = at.getAddress().getHostAddress();
                    return (host.contains(":") ? "[" + host + "]" : host) + ":" + at.getPort();
                }
            } catch (IOException e) {
                LOG.debugf(e, "the address of a connection that has ended");
            }
            return "";
        }

        @Override
        public void turnEnded(boolean more) {
            // Each question was answered as it came.
        }

        @Override
        public void down(ZmtpConnection connection, IOException why) {
            LOG.debugf("a worker of LMCache has gone: %s", why);
        }
    }
}
