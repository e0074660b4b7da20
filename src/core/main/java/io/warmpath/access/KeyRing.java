package io.warmpath.access;

import java.time.Instant;
import java.time.InstantSource;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;

/**
 * The keys that are valid. Immutable; a changed file makes a new one. Any thread. A look-up is one
 * SHA-256 and one look-up by it. What a caller can learn from its time are bits of the hash of what
 * it sent itself, which it can compute, and never a key.
 */
public final class KeyRing implements Authenticator {
    private static final Verdict UNKNOWN =
            new Verdict.Refused("The API key is not known here; check it, or ask for one.");
    private static final Verdict EXPIRED =
            new Verdict.Refused("The API key has expired; ask for another.");

    private record Entry(Caller caller, @Nullable Instant expires) {}

    private final Map<KeyHash, Entry> entries = new HashMap<>();
    private final InstantSource clock;

    /**
     * @param budgets go on from one ring to the next
     * @throws IllegalArgumentException when two records have the same key
     */
    public KeyRing(
            List<KeyRecord> records, Budgets budgets, InstantSource clock, LongSupplier nanoTime) {
        this.clock = clock;
        for (KeyRecord r : records) {
            Entry entry = new Entry(new Caller(r.grant(), budgets, nanoTime), r.expires());
            Entry other = entries.put(r.hash(), entry);
            if (other != null) {
                throw new IllegalArgumentException(
                        "the keys `%s` and `%s` are the same"
                                .formatted(other.caller().grant().name(), r.grant().name()));
            }
        }
    }

    public int size() {
        return entries.size();
    }

    @Override
    public Verdict check(String credential) {
        Entry entry = entries.get(KeyHash.of(credential));
        if (entry == null) {
            return UNKNOWN;
        }
        Instant expires = entry.expires();
        return expires != null && !clock.instant().isBefore(expires) ? EXPIRED : entry.caller();
    }
}
