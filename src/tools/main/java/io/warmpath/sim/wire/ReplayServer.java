package io.warmpath.sim.wire;

import java.math.BigInteger;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import org.jboss.logging.Logger;
import org.zeromq.SocketType;
import org.zeromq.ZContext;
import org.zeromq.ZMQ;
import org.zeromq.ZMsg;

/**
 * The ROUTER sockets of one engine, one per rank, served by one thread. A request is {@code [empty,
 * first sequence]} behind the client's identity. The answer is one message per kept batch and an
 * end mark; with {@link WireFormat#replayTopic} the topic stands before the sequence. A malformed
 * request gets no answer, as from the engines.
 */
public final class ReplayServer implements AutoCloseable {
    private static final Logger LOG = Logger.getLogger(ReplayServer.class);
    private static final long END = -1;
    private static final byte[] EMPTY = new byte[0];
    private static final int POLL_MILLIS = 50;

    private final byte[] topic;
    private final boolean withTopic;
    private final List<ZMQ.Socket> sockets = new ArrayList<>();
    private final List<ReplayBuffer> buffers;
    private final ZContext context;
    private final Thread thread;
    private volatile boolean running = true;

    /** {@code sockets}: bound ROUTER sockets, index = rank; this object uses and closes them. */
    public ReplayServer(
            ZContext context,
            List<ZMQ.Socket> sockets,
            List<ReplayBuffer> buffers,
            String topic,
            WireFormat format,
            String name) {
        this.context = context;
        this.sockets.addAll(sockets);
        this.buffers = buffers;
        this.topic = topic.getBytes(StandardCharsets.UTF_8);
        this.withTopic = format.replayTopic();
        this.thread =
                Thread.ofPlatform().daemon().name("sim-replay-" + name).unstarted(this::serve);
    }

    public void start() {
        thread.start();
    }

    private void serve() {
        try (ZMQ.Poller poller = context.createPoller(sockets.size())) {
            sockets.forEach(s -> poller.register(s, ZMQ.Poller.POLLIN));
            while (running) {
                if (poller.poll(POLL_MILLIS) < 0) {
                    break;
                }
                for (int rank = 0; rank < sockets.size(); rank++) {
                    if (poller.pollin(rank)) {
                        answer(sockets.get(rank), buffers.get(rank));
                    }
                }
            }
        } finally {
            sockets.forEach(ZMQ.Socket::close);
        }
    }

    private void answer(ZMQ.Socket socket, ReplayBuffer buffer) {
        ZMsg request = ZMsg.recvMsg(socket);
        if (request == null) {
            return;
        }
        if (request.size() != 3) {
            LOG.warnf(
                    "replay request of %d frames ignored; send [empty, first sequence]",
                    request.size() - 1);
            return;
        }
        byte[] client = request.pop().getData();
        request.pop();
        // Python's int.from_bytes: any length, and nothing at all is zero.
        long first = new BigInteger(1, request.pop().getData()).longValue();
        for (ReplayBuffer.Batch batch : buffer.from(first)) {
            reply(socket, client, topic, batch.sequence(), batch.payload());
        }
        reply(socket, client, EMPTY, END, EMPTY);
    }

    private void reply(
            ZMQ.Socket socket, byte[] client, byte[] topicFrame, long sequence, byte[] payload) {
        socket.sendMore(client);
        socket.sendMore(EMPTY);
        if (withTopic) {
            socket.sendMore(topicFrame);
        }
        socket.sendMore(EventPublisher.sequenceFrame(sequence));
        socket.send(payload);
    }

    @Override
    public void close() {
        running = false;
        try {
            thread.join();
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    /** Options every socket of an engine gets. */
    public static ZMQ.Socket open(ZContext context, SocketType type) {
        ZMQ.Socket socket = context.createSocket(type);
        socket.setHWM(100_000);
        socket.setLinger(0);
        return socket;
    }
}
