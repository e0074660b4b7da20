package io.warmpath.adapter.nats;

import io.nats.client.api.KeyValueEntry;
import io.nats.client.api.KeyValueOperation;
import io.nats.client.api.KeyValueWatcher;
import io.nats.client.impl.NatsKeyValueWatchSubscription;
import io.warmpath.fleet.WorkerSpec;
import io.warmpath.fleet.source.FleetSource;
import io.warmpath.fleet.source.SourceName;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.HashMap;
import java.util.Map;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.LongAdder;
import java.util.function.LongSupplier;
import org.jboss.logging.Logger;
import org.jspecify.annotations.Nullable;

/**
 * Tells the fleet of the workers that relays register in a key-value bucket ({@link Registration}).
 *
 * <p>A worker is there from its relay's first write until the relay takes it back, or does not
 * write for as long as its lease ({@link WorkerLeases}). While NATS is away, stands still or takes
 * no writes, what is known stays; then every lease begins anew. A record that cannot be used is
 * counted, with one warning; a worker that is known by the same key stays as it was.
 *
 * <p>One virtual thread. Owns its connection. Counters: any thread.
 */
public final class NatsWorkers implements FleetSource {
    private static final Logger LOG = Logger.getLogger(NatsWorkers.class);

    /**
     * @param mark time between two marks of our own
     * @param gap without a mark that is an outage
     */
    record Timing(Duration mark, Duration gap) {
        static final Timing USUAL = new Timing(Duration.ofMillis(500), Duration.ofSeconds(3));
    }

    /** A server that has not answered since the start is nothing to tell of for so long. */
    static final long START_NANOS = 3_000_000_000L;

    private final NatsLink link;
    private final KeyBucket bucket;
    private final String markKey;
    private final Timing timing;
    private final LongSupplier nanoTime;
    private final LongAdder refused = new LongAdder();
    private final LongAdder ranOut = new LongAdder();
    private final LongAdder outages = new LongAdder();
    private volatile boolean following;
    private volatile int registered;
    private volatile boolean closed;
    private @Nullable Thread thread;

    // Only touched by the thread.
    private final WorkerLeases leases;
    private final Map<String, WorkerSpec> published = new HashMap<>();
    private final Map<String, String> problems = new HashMap<>();
    private BlockingQueue<KeyValueEntry> heard = new LinkedBlockingQueue<>();
    private @Nullable NatsKeyValueWatchSubscription watch;
    private long began;
    private long watchSince;
    private boolean back; // a mark has come over this watch
    private long nextMark;
    private boolean warned;

    /** {@code link}: closed with this. {@code routerId}: of this gateway, no other has the same. */
    public NatsWorkers(NatsLink link, NatsNames names, String routerId, LongSupplier nanoTime) {
        this(link, names, routerId, Timing.USUAL, nanoTime);
    }

    NatsWorkers(
            NatsLink link, NatsNames names, String routerId, Timing timing, LongSupplier nanoTime) {
        this.link = link;
        this.bucket = Registration.bucket(link, names);
        this.markKey = NatsNames.mark(routerId);
        this.timing = timing;
        this.nanoTime = nanoTime;
        this.leases = new WorkerLeases(timing.gap().toNanos());
    }

    @Override
    public SourceName name() {
        return SourceName.NATS;
    }

    @Override
    public void start(Feed feed) {
        thread = Thread.ofVirtual().name("warmpath-nats-workers").start(() -> run(feed));
    }

    /** What relays write is seen now. */
    @Override
    public boolean connected() {
        return following;
    }

    /** Workers that are registered, by what was last seen. */
    public int registered() {
        return registered;
    }

    /** Records that could not be used. */
    public long refused() {
        return refused.sum();
    }

    /** Workers whose lease ran out. */
    public long ranOut() {
        return ranOut.sum();
    }

    /** Times that relays' writes could no longer be seen. */
    public long outages() {
        return outages.sum();
    }

    private void run(Feed feed) {
        began = nanoTime.getAsLong();
        nextMark = began;
        watchSince = began;
        while (!closed) {
            try {
                follow(feed);
            } catch (InterruptedException e) {
                break; // closed
            } catch (IOException e) {
                if (closed) {
                    break; // in the middle of a question
                }
                trouble(String.valueOf(e.getMessage()));
                unwatch();
            } catch (RuntimeException e) {
                LOG.error("Workers registered at NATS could not be told; the watch begins anew", e);
                unwatch();
            }
        }
        unwatch();
    }

    /** One turn; it waits for the next write or the next mark. */
    private void follow(Feed feed) throws IOException, InterruptedException {
        long now = nanoTime.getAsLong();
        if (now - nextMark >= 0) {
            nextMark = now + timing.mark().toNanos();
            if (watch == null) {
                watch();
            }
            bucket.ask(
                    "writing the mark of this gateway",
                    kv -> kv.put(markKey, "here".getBytes(StandardCharsets.UTF_8)));
        }
        long wait = Math.max(1, nextMark - nanoTime.getAsLong());
        KeyValueEntry next = heard.poll(wait, TimeUnit.NANOSECONDS);
        while (next != null) {
            take(feed, next, nanoTime.getAsLong());
            next = heard.poll();
        }
        now = nanoTime.getAsLong();
        for (String key : leases.runOut(now)) {
            ranOut.increment();
            LOG.warnf("The lease of %s has run out: nobody has renewed it", published(key));
            left(feed, key);
        }
        if (back && leases.live(now)) {
            recovered();
        } else if (now - watchSince > timing.gap().toNanos()) {
            throw new IOException("what is written there does not come back");
        }
        registered = leases.size();
    }

    private String published(String key) {
        WorkerSpec spec = published.get(key);
        return spec == null ? key : spec.url() + " (" + key + ")";
    }

    private void watch() throws IOException {
        BlockingQueue<KeyValueEntry> queue = new LinkedBlockingQueue<>();
        heard = queue;
        watchSince = nanoTime.getAsLong();
        watch =
                bucket.ask(
                        "watching registrations",
                        kv ->
                                kv.watchAll(
                                        new KeyValueWatcher() {
                                            @Override
                                            public void watch(KeyValueEntry entry) {
                                                queue.add(entry);
                                            }

                                            @Override
                                            public void endOfData() {
                                                // The marks tell more.
                                            }
                                        }));
    }

    private void unwatch() {
        NatsKeyValueWatchSubscription open = watch;
        watch = null;
        back = false;
        heard = new LinkedBlockingQueue<>(); // the next watch begins with all that is there
        leases.outage();
        if (open != null) {
            try {
                open.unsubscribe();
            } catch (IllegalStateException | IllegalArgumentException e) {
                LOG.debugf("The connection was lost with the watch: %s", e.getMessage());
            }
        }
    }

    private void take(Feed feed, KeyValueEntry entry, long now) {
        String key = entry.getKey();
        if (key.equals(markKey)) {
            leases.marked(now);
            back = true;
        } else if (!NatsNames.isWorker(key)) {
            return; // another gateway's mark
        } else if (entry.getOperation() == KeyValueOperation.PUT) {
            put(feed, key, entry, now);
        } else if (entry.getOperation() == KeyValueOperation.DELETE) {
            leases.end(key);
            left(feed, key);
        }
        // PURGE: a server writes it, too, for what has grown old; the lease decides.
    }

    private void put(Feed feed, String key, KeyValueEntry entry, long now) {
        byte[] value = entry.getValue();
        WorkerRecord record;
        try {
            record = WorkerRecord.decode(value == null ? new byte[0] : value);
        } catch (WorkerRecord.BadRecord e) {
            leases.seen(key, entry.getRevision(), now);
            refused.increment();
            if (!String.valueOf(e.getMessage()).equals(problems.put(key, e.getMessage()))) {
                LOG.warnf("The registration %s cannot be used: %s", key, e.getMessage());
            }
            return;
        }
        problems.remove(key);
        if (leases.seen(key, entry.getRevision(), record.lease().toNanos(), now)
                && !record.worker().equals(published.put(key, record.worker()))) {
            feed.put(key, record.worker());
        }
    }

    private void left(Feed feed, String key) {
        problems.remove(key);
        if (published.remove(key) != null) {
            feed.remove(key);
        }
    }

    private void trouble(String why) {
        boolean starts = link.connection().isEmpty() && nanoTime.getAsLong() - began < START_NANOS;
        following = false;
        if (!warned && !starts) {
            warned = true;
            outages.increment();
            LOG.warnf(
                    "Workers registered at NATS (%s) cannot be followed, what is known stays: %s",
                    link, why);
        }
    }

    private void recovered() {
        if (!following) {
            following = true;
            LOG.infof("Workers come from NATS at %s", link);
        }
        warned = false;
    }

    @Override
    public void close() {
        closed = true;
        Thread running = thread;
        if (running != null) {
            running.interrupt();
        }
        link.close();
    }
}
