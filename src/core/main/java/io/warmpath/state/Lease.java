package io.warmpath.state;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.Optional;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;

/**
 * A lock on something shared, for a while: who holds it renews it, and who does not renew it loses
 * it.
 *
 * <p>Nobody's clock is compared with another's. A holder counts from before its last successful
 * write; another takes over once it has seen the same write stand for {@link #PATIENCE} times that
 * long, so the holder has given up by then, if both clocks run at about one pace. A holder that
 * stood still and does not know yet that it lost is refused by its {@link #token}: it is higher for
 * every later holder, and what is protected remembers the highest.
 *
 * <p>One thread.
 */
public final class Lease {
    /** How much longer another waits than the holder believes. */
    private static final double PATIENCE = 1.25;

    /** Of the length, after which it is renewed. */
    private static final int RENEWALS = 3;

    private static final byte[] FREE = new byte[0];

    private final SharedKeys keys;
    private final String key;
    private final String holder;
    private final long lengthNanos;
    private final LongSupplier nanoTime;

    private long writes;
    private boolean mine;
    private long token;
    private long revision;
    private long since;

    // Another's write, and since when it has been seen to stand.
    private long seenRevision = SharedKeys.REFUSED;
    private long seenAt;

    /** {@code holder}: no two processes have the same, not even one after the other. */
    public Lease(
            SharedKeys keys, String key, String holder, long lengthNanos, LongSupplier nanoTime) {
        this.keys = keys;
        this.key = key;
        this.holder = holder;
        this.lengthNanos = lengthNanos;
        this.nanoTime = nanoTime;
    }

    /** Takes it if it is free, or its holder has stopped renewing it; true when it is held. */
    public boolean tryTake() throws IOException {
        if (held()) {
            return true;
        }
        mine = false;
        Optional<SharedKeys.Entry> entry = keys.get(key);
        long now = nanoTime.getAsLong();
        long found = entry.map(SharedKeys.Entry::revision).orElse(SharedKeys.ABSENT);
        if (entry.isPresent() && entry.get().value().length > 0) {
            if (found != seenRevision) {
                seenRevision = found;
                seenAt = now;
            }
            if (now - seenAt < PATIENCE * lengthNanos) {
                return false;
            }
        }
        if (!write(found)) {
            return false;
        }
        token = revision;
        return true;
    }

    /** Whether it is still held, by this clock. */
    public boolean held() {
        return mine && nanoTime.getAsLong() - since < lengthNanos;
    }

    /**
     * Prolongs it when a third of its time is over; whether it is held. Throws {@link IOException}
     * when the store cannot be asked; it may be tried again while it is {@link #held}.
     */
    public boolean renew() throws IOException {
        if (!held()) {
            mine = false;
        } else if (nanoTime.getAsLong() - since >= lengthNanos / RENEWALS) {
            mine = write(revision);
        }
        return mine;
    }

    /** Prolongs it now, whatever of its time is over: proof that nobody has taken it. */
    public boolean confirm() throws IOException {
        mine = held() && write(revision);
        return mine;
    }

    /** Higher than every earlier holder's. Of the holder only. */
    public long token() {
        return token;
    }

    /** Who holds it, by what the store says; null when nobody does. */
    public @Nullable String holder() throws IOException {
        String value =
                keys.get(key).map(e -> new String(e.value(), StandardCharsets.UTF_8)).orElse("");
        return value.isEmpty() ? null : value.substring(0, Math.max(0, value.lastIndexOf('#')));
    }

    /** Gives it back, so that nobody has to wait. */
    public void release() throws IOException {
        boolean held = held();
        mine = false; // also when it is not known whether the write was done
        if (held) {
            keys.put(key, FREE, revision);
        }
    }

    private boolean write(long expected) throws IOException {
        long begin = nanoTime.getAsLong();
        byte[] value = (holder + '#' + ++writes).getBytes(StandardCharsets.UTF_8);
        long written;
        try {
            written = keys.put(key, value, expected);
        } catch (IOException lostAnswer) {
            // It may be there all the same.
            written = mine(value);
            if (written == SharedKeys.REFUSED) {
                throw lostAnswer;
            }
        }
        if (written == SharedKeys.REFUSED) {
            return false;
        }
        revision = written;
        since = begin;
        mine = true;
        return held();
    }

    private long mine(byte[] value) throws IOException {
        Optional<SharedKeys.Entry> entry = keys.get(key);
        return entry.isPresent() && Arrays.equals(entry.get().value(), value)
                ? entry.get().revision()
                : SharedKeys.REFUSED;
    }
}
