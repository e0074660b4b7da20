package io.warmpath.adapter.jwt;

import java.io.IOException;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.LongSupplier;
import org.jboss.logging.Logger;
import org.jose4j.jwk.JsonWebKey;
import org.jose4j.jwk.JsonWebKeySet;
import org.jose4j.jwk.PublicJsonWebKey;
import org.jose4j.lang.JoseException;

/**
 * The public keys of who issues tokens: the last ones that could be had. {@link #now} any thread.
 * {@link #refresh} and {@link #missed} block, up to the time-out of their source; virtual threads
 * only.
 */
public final class IssuerKeys {
    private static final Logger LOG = Logger.getLogger(IssuerKeys.class);

    /** A token with a key that is not known makes us ask at most this often. */
    static final Duration MISSED_INTERVAL = Duration.ofSeconds(10);

    private static final Duration FIRST_RETRY = Duration.ofSeconds(2);

    /** Requests that wait for keys; more are refused at once. */
    private static final int WAITING = 32;

    /** {@code version}: another one for each reading. */
    record Held(List<JsonWebKey> keys, long version) {}

    /** Where the keys are. */
    @FunctionalInterface
    public interface Source {
        /** Returns a JSON web key set. */
        String read() throws IOException;
    }

    private final Source source;
    private final String where;
    private final Duration interval;
    private final LongSupplier nanoTime;
    private final ReentrantLock reading = new ReentrantLock();
    private final Semaphore waiting = new Semaphore(WAITING);
    private volatile Held held = new Held(List.of(), 0);

    // Guarded by reading.
    private boolean asked;
    private long lastAsked;
    private int failures;

    /** {@code where}: it is, for messages. {@code interval}: between two looks when all is well. */
    public IssuerKeys(Source source, String where, Duration interval, LongSupplier nanoTime) {
        this.source = source;
        this.where = where;
        this.interval = interval;
        this.nanoTime = nanoTime;
    }

    Held now() {
        return held;
    }

    public boolean isEmpty() {
        return held.keys().isEmpty();
    }

    /**
     * Reads them again; what cannot be read leaves those that are there.
     *
     * @return when to do so again
     */
    public Duration refresh() {
        reading.lock();
        try {
            return read();
        } finally {
            reading.unlock();
        }
    }

    /**
     * A token is signed with a key that is not there: its issuer may have a new one.
     *
     * @param seen version of the keys that were looked through
     * @return whether there are others now
     */
    boolean missed(long seen) {
        if (!waiting.tryAcquire()) {
            return false;
        }
        try {
            reading.lock();
            try {
                if (held.version() == seen && mayAsk()) {
                    read();
                }
                return held.version() != seen;
            } finally {
                reading.unlock();
            }
        } finally {
            waiting.release();
        }
    }

    private boolean mayAsk() {
        return !asked || nanoTime.getAsLong() - lastAsked >= MISSED_INTERVAL.toNanos();
    }

    private Duration read() {
        try {
            List<JsonWebKey> read = publicKeys(source.read());
            if (read.isEmpty()) {
                throw new IOException("it has no public key");
            }
            boolean first = isEmpty();
            held = new Held(read, held.version() + 1);
            if (failures > 0 || first) {
                LOG.infof("%d keys of the tokens' issuer are known (%s)", read.size(), where);
            }
            failures = 0;
            return interval;
        } catch (IOException | JoseException e) {
            failures++;
            if (failures == 1) {
                LOG.errorf(
                        "the keys of the tokens' issuer cannot be had from %s: %s; %s",
                        where,
                        e.getMessage() == null ? e.getClass().getSimpleName() : e.getMessage(),
                        isEmpty() ? "no token is accepted" : "those known stay in force");
            }
            long wait = FIRST_RETRY.toNanos() << Math.min(failures - 1, 20);
            return Duration.ofNanos(Math.min(wait, interval.toNanos()));
        } finally {
            asked = true;
            lastAsked = nanoTime.getAsLong();
        }
    }

    /** A set may have secrets too, for signatures of another kind; those are nobody's business. */
    private static List<JsonWebKey> publicKeys(String json) throws JoseException, IOException {
        try {
            return new JsonWebKeySet(json)
                    .getJsonWebKeys().stream().filter(PublicJsonWebKey.class::isInstance).toList();
        } catch (RuntimeException e) {
            throw new IOException(
                    "it is not a JSON web key set", e); // jose4j's own trouble with it
        }
    }

    /** How long a look may take, at most. */
    public static long timeoutMillis() {
        return TimeUnit.SECONDS.toMillis(5);
    }
}
