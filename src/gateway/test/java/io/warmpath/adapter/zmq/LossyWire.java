package io.warmpath.adapter.zmq;

import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import java.util.Random;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicLong;
import org.zeromq.SocketType;
import org.zeromq.ZContext;
import org.zeromq.ZMQ;

/**
 * Stands between a publisher and a subscriber: of a hundred messages ten are lost, ten doubled and
 * ten come after the ones behind them. One thread owns the sockets.
 */
final class LossyWire implements AutoCloseable {
    private final String from;
    private final Random random;
    private final Thread thread;
    private final CountDownLatch ready = new CountDownLatch(1);
    private final Deque<List<byte[]>> late = new ArrayDeque<>();
    private final AtomicLong lost = new AtomicLong();
    private final AtomicLong doubled = new AtomicLong();
    private final AtomicLong swapped = new AtomicLong();
    private volatile boolean stopping;
    private volatile int port;

    LossyWire(String from, Random random) throws InterruptedException {
        this.from = from;
        this.random = random;
        this.thread = Thread.ofPlatform().name("lossy-wire").start(this::run);
        ready.await();
    }

    String endpoint() {
        return "tcp://127.0.0.1:" + port;
    }

    /** Each of the three has happened. */
    boolean harmed() {
        return lost.get() > 0 && doubled.get() > 0 && swapped.get() > 0;
    }

    @Override
    public String toString() {
        return lost + " lost, " + doubled + " doubled, " + swapped + " swapped";
    }

    private void run() {
        try (ZContext context = new ZContext(1)) {
            ZMQ.Socket in = context.createSocket(SocketType.SUB);
            in.setRcvHWM(0);
            in.setReconnectIVL((int) Duration.ofMillis(20).toMillis());
            in.connect(from);
            in.subscribe(new byte[0]);
            ZMQ.Socket out = context.createSocket(SocketType.PUB);
            out.setSndHWM(0);
            out.setLinger(0);
            port = out.bindToRandomPort("tcp://127.0.0.1");
            ready.countDown();
            in.setReceiveTimeOut(20);
            while (!stopping) {
                byte[] first = in.recv();
                if (first == null) {
                    continue;
                }
                List<byte[]> frames = new ArrayList<>(List.of(first));
                while (in.hasReceiveMore()) {
                    frames.add(in.recv());
                }
                pass(frames, out);
            }
        }
    }

    private void pass(List<byte[]> frames, ZMQ.Socket out) {
        switch (random.nextInt(10)) {
            case 0 -> lost.incrementAndGet();
            case 1 -> {
                doubled.incrementAndGet();
                send(frames, out);
                send(frames, out);
            }
            case 2 -> {
                swapped.incrementAndGet();
                late.add(frames);
                return;
            }
            default -> send(frames, out);
        }
        while (!late.isEmpty()) {
            send(late.remove(), out);
        }
    }

    private static void send(List<byte[]> frames, ZMQ.Socket out) {
        for (int i = 0; i < frames.size(); i++) {
            out.send(frames.get(i), i < frames.size() - 1 ? ZMQ.SNDMORE : 0);
        }
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
