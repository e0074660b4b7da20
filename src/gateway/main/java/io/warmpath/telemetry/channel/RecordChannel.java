package io.warmpath.telemetry.channel;

import java.time.Duration;
import java.util.EnumMap;
import java.util.Map;
import java.util.concurrent.ArrayBlockingQueue;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.Flow;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.LongAdder;
import java.util.function.Function;
import org.eclipse.microprofile.reactive.messaging.Message;
import org.jboss.logging.Logger;
import org.jspecify.annotations.Nullable;

/**
 * One outgoing channel: a bounded queue, and a thread that makes texts of what is in it and hands
 * them to the channel's connector, as many as the connector asks for.
 *
 * <p>Any thread may offer a record and never waits. A record that finds the queue full is lost and
 * counted, and so is one that the connector refuses. The records that are there stay, in their
 * order. One warning is logged when records begin to be lost, one line when they no longer are.
 *
 * @param <T> a record before it is a text; immutable
 */
public final class RecordChannel<T> implements Flow.Publisher<Message<String>>, AutoCloseable {
    /** Why a record was lost. */
    public enum Loss {
        /** The connector was too slow, or its broker away for too long. */
        QUEUE_FULL,
        /** The connector gave it back. */
        REFUSED,
        /** It was still on its way when the gateway ended. */
        STOPPED
    }

    private static final Logger LOG = Logger.getLogger(RecordChannel.class);
    private static final long LOOK_MILLIS = 100;
    private static final Duration LAST = Duration.ofSeconds(5);

    private final String name;
    private final String connector;
    private final int capacity;
    private final BlockingQueue<T> queue;
    private final Function<T, String> text;
    private final LongAdder sent = new LongAdder();
    private final Map<Loss, LongAdder> lost = new EnumMap<>(Loss.class);
    private final AtomicBoolean losing = new AtomicBoolean();
    private final AtomicLong under = new AtomicLong(); // handed over, not yet acknowledged
    private long wanted; // guarded by this
    private @Nullable Thread writer; // guarded by this
    private volatile boolean closed;

    /**
     * @param name of the channel
     * @param connector its name, for the log
     * @param capacity records that wait
     * @param text of a record, made on the channel's own thread
     */
    public RecordChannel(String name, String connector, int capacity, Function<T, String> text) {
        this.name = name;
        this.connector = connector;
        this.capacity = capacity;
        this.queue = new ArrayBlockingQueue<>(capacity);
        this.text = text;
        for (Loss cause : Loss.values()) {
            lost.put(cause, new LongAdder());
        }
    }

    /** Never waits. */
    public void offer(T record) {
        if (closed) {
            count(Loss.STOPPED, 1);
        } else if (!queue.offer(record)) {
            lost(Loss.QUEUE_FULL, "the queue of " + capacity + " records is full");
        }
    }

    /** Records that the connector has acknowledged. */
    public long sent() {
        return sent.sum();
    }

    public long lost(Loss cause) {
        LongAdder counter = lost.get(cause);
        return counter == null ? 0 : counter.sum();
    }

    /** Records that wait. */
    public int waiting() {
        return queue.size();
    }

    /** A connector takes its records, and none was lost since the last that it took. */
    public synchronized boolean connected() {
        return writer != null && !losing.get();
    }

    /** The connector's, once. */
    @Override
    public void subscribe(Flow.Subscriber<? super Message<String>> to) {
        Demand demand = new Demand();
        synchronized (this) {
            if (writer != null) {
                throw new IllegalStateException("channel " + name + " has a connector already");
            }
            writer =
                    Thread.ofPlatform().name("channel-" + name).daemon().unstarted(() -> write(to));
        }
        to.onSubscribe(demand);
        LOG.infof("Channel %s: records go to the connector %s", name, connector);
        demand.begin();
    }

    private final class Demand implements Flow.Subscription {
        void begin() {
            Thread begun;
            synchronized (RecordChannel.this) {
                begun = writer;
            }
            if (begun != null) {
                begun.start();
            }
        }

        @Override
        public void request(long n) {
            synchronized (RecordChannel.this) {
                wanted = wanted + n < 0 ? Long.MAX_VALUE : wanted + n;
                RecordChannel.this.notifyAll();
            }
        }

        @Override
        public void cancel() {
            closed = true;
            synchronized (RecordChannel.this) {
                RecordChannel.this.notifyAll();
            }
        }
    }

    private void write(Flow.Subscriber<? super Message<String>> to) {
        try {
            while (isWanted()) {
                T record = queue.poll(LOOK_MILLIS, TimeUnit.MILLISECONDS);
                if (record != null) {
                    write(record, to);
                } else if (closed) {
                    break;
                }
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt(); // the gateway ends
        }
    }

    /** Waits until the connector asks; false: it will not. */
    private synchronized boolean isWanted() throws InterruptedException {
        while (wanted == 0) {
            if (closed && under.get() == 0) {
                return false;
            }
            wait(LOOK_MILLIS);
        }
        return true;
    }

    private void write(T record, Flow.Subscriber<? super Message<String>> to) {
        synchronized (this) {
            wanted -= wanted == Long.MAX_VALUE ? 0 : 1;
        }
        under.incrementAndGet();
        AtomicBoolean settled = new AtomicBoolean();
        try {
            to.onNext(
                    Message.of(
                            text.apply(record),
                            () -> settle(settled, null),
                            why -> settle(settled, why)));
        } catch (RuntimeException e) {
            var unused = settle(settled, e);
        }
    }

    private CompletionStage<Void> settle(AtomicBoolean settled, @Nullable Throwable why) {
        if (settled.compareAndSet(false, true)) {
            under.decrementAndGet();
            if (why != null) {
                lost(Loss.REFUSED, String.valueOf(why.getMessage()));
            } else {
                sent.increment();
                // Half empty: a queue that is full again and again is one warning.
                if (losing.get() && queue.size() <= capacity / 2 && losing.getAndSet(false)) {
                    LOG.infof("Channel %s: no more records are lost", name);
                }
            }
        }
        return CompletableFuture.completedFuture(null);
    }

    private void lost(Loss cause, String why) {
        count(cause, 1);
        if (losing.compareAndSet(false, true)) {
            LOG.warnf(
                    "Channel %s: records are lost and counted, requests go on: %s (connector %s)",
                    name, why, connector);
        }
    }

    private void count(Loss cause, long n) {
        LongAdder counter = lost.get(cause);
        if (counter != null) {
            counter.add(n);
        }
    }

    /** Hands over what waits, for some seconds at most. */
    @Override
    public void close() {
        closed = true;
        Thread known;
        synchronized (this) {
            known = writer;
            notifyAll();
        }
        long end = System.nanoTime() + LAST.toNanos();
        try {
            if (known != null && !known.join(LAST)) {
                known.interrupt();
                known.join();
            }
            while (under.get() > 0 && System.nanoTime() < end) {
                Thread.sleep(10);
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
        long left = queue.size() + under.get();
        if (left > 0) {
            count(Loss.STOPPED, left);
            LOG.warnf("Channel %s: %d records were lost as the gateway ended", name, left);
        }
    }
}
