package io.warmpath.adapter.nats;

import io.nats.client.JetStreamApiException;
import io.nats.client.api.KeyValueEntry;
import io.nats.client.api.KeyValueOperation;
import io.warmpath.fleet.WorkerSpec;
import java.io.IOException;
import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import java.util.function.LongSupplier;
import org.jboss.logging.Logger;

/**
 * Registers one worker in the bucket that gateways watch ({@link NatsWorkers}), writes its record
 * again before a third of its lease is over, and takes it back at the end. Of two relays that
 * register one worker the one that began later writes; the other waits until that one has stopped
 * for a lease. One thread of its own.
 */
public final class Registration implements AutoCloseable {
    private static final Logger LOG = Logger.getLogger(Registration.class);

    /** Writes in a lease. */
    private static final int RENEWALS = 3;

    private static final Duration RETRY = Duration.ofMillis(500);

    /** What nobody writes any more goes from the bucket after this. */
    private static final Duration FORGOTTEN = Duration.ofHours(1);

    private static final long NONE = -1;

    private final NatsLink link;
    private final KeyBucket bucket;
    private final String key;
    private final WorkerRecord record;
    private final LongSupplier nanoTime;
    private final Semaphore work = new Semaphore(0);
    private final Thread thread;
    private volatile boolean closed;

    // Only touched by the thread, and by close when that has ended.
    private long revision = NONE;
    private final long began;
    private long otherRevision = NONE;
    private long otherSince;
    private boolean first = true;
    private boolean warned;
    private boolean written;

    /**
     * Begins at once.
     *
     * @param worker as gateways are to have it
     * @param workerId its id, as gateways make it of the record
     * @param lease {@link WorkerRecord#MIN_LEASE} to {@link WorkerRecord#MAX_LEASE}
     * @param process no two starts of a relay have the same
     */
    public Registration(
            NatsLink link,
            NatsNames names,
            WorkerSpec worker,
            long workerId,
            Duration lease,
            String process,
            LongSupplier nanoTime) {
        this.link = link;
        this.bucket = bucket(link, names);
        this.key = NatsNames.worker(workerId);
        this.record = new WorkerRecord(lease, process, worker);
        this.nanoTime = nanoTime;
        this.began = nanoTime.getAsLong();
        this.thread =
                Thread.ofPlatform().name("warmpath-registration").daemon().unstarted(this::run);
        thread.start();
        link.listen(connected -> work.release());
    }

    static KeyBucket bucket(NatsLink link, NatsNames names) {
        return new KeyBucket(
                link, names.workerBucket(), "Workers that their relays register", FORGOTTEN);
    }

    private void run() {
        while (!closed) {
            long pause;
            try {
                renew();
                pause = record.lease().toNanos() / RENEWALS;
            } catch (IOException e) {
                trouble(String.valueOf(e.getMessage()));
                pause = Math.min(RETRY.toNanos(), record.lease().toNanos() / RENEWALS);
            }
            try {
                if (!closed && work.tryAcquire(pause, TimeUnit.NANOSECONDS)) {
                    work.drainPermits(); // a server is there again, or it is the end
                }
            } catch (InterruptedException e) {
                return;
            }
        }
    }

    private void renew() throws IOException {
        if (first) {
            wrote(bucket.ask("registering " + key, kv -> kv.put(key, record.encoded())));
            first = false;
        } else if (revision != NONE) {
            long now = update(revision);
            if (now == NONE) {
                revision = NONE;
                found();
            } else {
                wrote(now);
            }
        } else {
            found();
        }
    }

    private void wrote(long now) {
        revision = now;
        otherRevision = NONE;
        if (!written || warned) {
            LOG.infof("%s is registered at %s as %s", record.worker().url(), link, key);
        }
        written = true;
        warned = false;
    }

    /** The entry is not what was written here; {@link #NONE}: it is refused. */
    private long update(long expected) throws IOException {
        return bucket.ask(
                "renewing " + key,
                kv -> {
                    try {
                        return kv.update(key, record.encoded(), expected);
                    } catch (JetStreamApiException e) {
                        if (KeyBucket.refused(e)) {
                            return NONE;
                        }
                        throw e;
                    }
                });
    }

    /** Looks at who has written instead. */
    private void found() throws IOException {
        Optional<KeyValueEntry> entry =
                bucket.ask("asking for " + key, kv -> Optional.ofNullable(kv.get(key)));
        if (entry.isEmpty() || entry.get().getOperation() != KeyValueOperation.PUT) {
            first = true; // taken out, or the bucket is a new one
            renew();
            return;
        }
        long seen = entry.get().getRevision();
        if (isOurs(entry.get())) {
            long now = update(seen); // the answer to that write was lost
            if (now != NONE) {
                wrote(now);
            }
            return;
        }
        long now = nanoTime.getAsLong();
        if (seen != otherRevision) {
            if (otherRevision == NONE) {
                LOG.warnf(
                        "Another relay has registered %s (%s); this one waits until that has"
                                + " stopped",
                        record.worker().url(), key);
            }
            otherRevision = seen;
            otherSince = now;
        } else if (now - otherSince >= record.lease().toNanos()) {
            first = true;
            renew();
        }
    }

    private boolean isOurs(KeyValueEntry entry) {
        byte[] value = entry.getValue();
        try {
            return value != null && WorkerRecord.decode(value).process().equals(record.process());
        } catch (WorkerRecord.BadRecord e) {
            return false;
        }
    }

    private void trouble(String why) {
        boolean starts =
                link.connection().isEmpty()
                        && nanoTime.getAsLong() - began < NatsWorkers.START_NANOS;
        if (!warned && !starts) {
            warned = true;
            LOG.warnf(
                    "%s is not registered, or its lease not renewed: %s; tried again",
                    record.worker().url(), why);
        }
    }

    /**
     * Takes the worker back, if it is this one's; else, and without a server, the lease runs out.
     */
    @Override
    public void close() {
        closed = true;
        work.release();
        boolean interrupted = false;
        while (thread.isAlive()) {
            try {
                thread.join();
            } catch (InterruptedException e) {
                interrupted = true;
            }
        }
        if (revision != NONE && link.connected()) {
            try {
                takeBack();
            } catch (IOException e) {
                LOG.warnf(
                        "%s stays registered until its lease has run out: %s", key, e.getMessage());
            }
            revision = NONE;
        }
        if (interrupted) {
            Thread.currentThread().interrupt();
        }
    }

    private void takeBack() throws IOException {
        bucket.ask(
                "taking back " + key,
                kv -> {
                    try {
                        kv.delete(key, revision);
                    } catch (JetStreamApiException e) {
                        if (!KeyBucket.refused(e)) {
                            throw e;
                        }
                        LOG.infof("%s stays registered: another relay has taken it over", key);
                    }
                    return true;
                });
    }
}
