package io.warmpath.adapter.zmq;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.atomic.AtomicInteger;
import org.msgpack.core.MessageBufferPacker;
import org.msgpack.core.MessagePack;
import org.zeromq.SocketType;
import org.zeromq.ZContext;
import org.zeromq.ZMQ;

/**
 * An engine's event publisher on real sockets: PUB, and a ROUTER that serves what was published.
 *
 * <p>One thread owns the sockets; the methods may be called from any.
 */
final class FakePublisher implements AutoCloseable {
    /** What stands between the delimiter and the sequence in a replay answer. */
    enum ReplayShape {
        /** Delimiter, sequence, payload. */
        TWO,
        /** Delimiter, topic, sequence, payload. */
        THREE
    }

    private static final String TOPIC = "kv@w@m";

    private record Batch(long sequence, byte[] payload, boolean lost) {}

    private final ReplayShape shape;
    private final String endpoint;
    private final boolean connect;
    private final int replayPort;
    private final BlockingQueue<Runnable> work = new LinkedBlockingQueue<>();
    private final AtomicInteger requests = new AtomicInteger();
    private final CountDownLatch ready = new CountDownLatch(1);
    private final Thread thread;
    private final List<Batch> history = new ArrayList<>();
    private volatile boolean stopping;
    private volatile int keep = Integer.MAX_VALUE;
    private volatile int port;
    private volatile int boundReplayPort;
    private ZMQ.Socket pub;
    private ZMQ.Socket router;

    /** Binds ports of its own. */
    static FakePublisher bound(ReplayShape shape) throws InterruptedException {
        return new FakePublisher(shape, "tcp://127.0.0.1:*", false, 0);
    }

    /**
     * Binds the given ports, as a restarted engine does.
     *
     * @param kept batches from 0 on that it can say again as soon as it is there
     */
    static FakePublisher boundTo(ReplayShape shape, int port, int replayPort, byte[]... kept)
            throws InterruptedException {
        return new FakePublisher(shape, "tcp://127.0.0.1:" + port, false, replayPort, kept);
    }

    /** Connects to a subscriber that has bound. */
    static FakePublisher connected(ReplayShape shape, String endpoint) throws InterruptedException {
        return new FakePublisher(shape, endpoint, true, 0);
    }

    private FakePublisher(
            ReplayShape shape, String endpoint, boolean connect, int replayPort, byte[]... kept)
            throws InterruptedException {
        this.shape = shape;
        this.endpoint = endpoint;
        this.connect = connect;
        this.replayPort = replayPort;
        for (byte[] payload : kept) {
            history.add(new Batch(history.size(), payload, true));
        }
        this.thread = Thread.ofPlatform().name("fake-publisher").start(this::run);
        ready.await();
    }

    String endpoint() {
        return connect ? endpoint : "tcp://127.0.0.1:" + port;
    }

    int port() {
        return port;
    }

    int replayPort() {
        return boundReplayPort;
    }

    String replayEndpoint() {
        return "tcp://127.0.0.1:" + boundReplayPort;
    }

    /** Replay requests answered so far. */
    int requests() {
        return requests.get();
    }

    /** Keeps only the newest batches for replay, as an engine's ring buffer does. */
    void keep(int batches) {
        keep = batches;
    }

    void publish(long sequence, byte[] payload) throws InterruptedException {
        enqueue(new Batch(sequence, payload, false));
    }

    /** A batch that is counted and kept for replay but never sent: lost on the way. */
    void lose(long sequence, byte[] payload) throws InterruptedException {
        enqueue(new Batch(sequence, payload, true));
    }

    /** Sends a batch that was counted before: doubled, or late. */
    void again(long sequence, byte[] payload) throws InterruptedException {
        raw(TOPIC.getBytes(StandardCharsets.UTF_8), big(sequence), payload);
    }

    /** Sends these frames as they are, whatever they are. */
    void raw(byte[]... frames) throws InterruptedException {
        await(
                () -> {
                    for (int i = 0; i < frames.length; i++) {
                        pub.send(frames[i], i < frames.length - 1 ? ZMQ.SNDMORE : 0);
                    }
                });
    }

    private void enqueue(Batch batch) throws InterruptedException {
        await(
                () -> {
                    history.add(batch);
                    if (!batch.lost) {
                        pub.sendMore(TOPIC);
                        pub.sendMore(big(batch.sequence));
                        pub.send(batch.payload);
                    }
                });
    }

    private void await(Runnable task) throws InterruptedException {
        CountDownLatch done = new CountDownLatch(1);
        work.add(
                () -> {
                    task.run();
                    done.countDown();
                });
        done.await();
    }

    private void run() {
        try (ZContext context = new ZContext(1)) {
            pub = context.createSocket(SocketType.PUB);
            pub.setSndHWM(0);
            pub.setLinger(0);
            if (connect) {
                pub.connect(endpoint);
            } else {
                pub.bind(endpoint);
                port = portOf(pub);
            }
            router = context.createSocket(SocketType.ROUTER);
            router.setSndHWM(0);
            router.setLinger(0);
            router.bind("tcp://127.0.0.1:" + (replayPort == 0 ? "*" : replayPort));
            boundReplayPort = portOf(router);
            ready.countDown();
            ZMQ.Poller poller = context.createPoller(1);
            poller.register(router, ZMQ.Poller.POLLIN);
            while (!stopping) {
                for (Runnable task = work.poll(); task != null; task = work.poll()) {
                    task.run();
                }
                if (poller.poll(2) > 0) {
                    serveReplay();
                }
            }
            poller.close();
        }
    }

    private void serveReplay() {
        byte[] client = router.recv();
        byte[] empty = router.recv();
        byte[] start = router.recv();
        if (empty.length != 0 || start.length != 8 || router.hasReceiveMore()) {
            return;
        }
        requests.incrementAndGet();
        long from = ByteBuffer.wrap(start).getLong();
        int oldest = Math.max(0, history.size() - keep);
        for (Batch b : history.subList(oldest, history.size())) {
            if (b.sequence >= from) {
                reply(client, TOPIC.getBytes(StandardCharsets.UTF_8), big(b.sequence), b.payload);
            }
        }
        reply(client, new byte[0], big(-1), new byte[0]);
    }

    private void reply(byte[] client, byte[] topic, byte[] sequence, byte[] payload) {
        router.sendMore(client);
        router.sendMore(new byte[0]);
        if (shape == ReplayShape.THREE) {
            router.sendMore(topic);
        }
        router.sendMore(sequence);
        router.send(payload);
    }

    private static int portOf(ZMQ.Socket socket) {
        String last = socket.getLastEndpoint();
        return Integer.parseInt(last.substring(last.lastIndexOf(':') + 1));
    }

    static byte[] big(long sequence) {
        return ByteBuffer.allocate(8).putLong(sequence).array();
    }

    /** Batch that stores one block of {@code size} tokens after the blocks before it. */
    static byte[] stored(double time, int block, int size) {
        try (MessageBufferPacker out = MessagePack.newDefaultBufferPacker()) {
            out.packArrayHeader(3).packDouble(time).packArrayHeader(1);
            out.packMapHeader(6).packString("type").packString("BlockStored");
            out.packString("block_hashes").packArrayHeader(1).packLong(hash(block));
            out.packString("parent_block_hash");
            if (block == 0) {
                out.packNil();
            } else {
                out.packLong(hash(block - 1));
            }
            out.packString("token_ids").packArrayHeader(size);
            for (int i = 0; i < size; i++) {
                out.packInt(block * size + i);
            }
            out.packString("block_size").packInt(size);
            out.packString("medium").packString("GPU");
            out.packInt(0);
            return out.toByteArray();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private static long hash(int block) {
        return -1_000_003L * (block + 1);
    }

    @Override
    public void close() {
        stopping = true;
        try {
            thread.join();
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }
}
