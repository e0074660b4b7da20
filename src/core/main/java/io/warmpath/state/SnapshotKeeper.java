package io.warmpath.state;

import io.warmpath.prefix.IndexSnapshots.SnapshotException;
import java.io.IOException;
import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.LongSupplier;

/**
 * One gateway's part in the shared snapshots: says that it is alive, removes what dead ones left
 * behind, and when a snapshot is due writes it, if no other does, and purges what nobody needs. One
 * thread calls {@link #tick} every second or so.
 */
public final class SnapshotKeeper {
    /** Told of what an operator may want to know. On the keeper's thread. */
    public interface Listener {
        /** This gateway has written the newest snapshot. */
        void written(SnapshotCatalog catalog, long millis);

        void purged(long upTo);

        /** A consumer of a gateway that is gone was removed. */
        void removed(String gateway);
    }

    /** Writes the index to a file; empty when it is not fit to be shared now. */
    @FunctionalInterface
    public interface Source {
        Optional<SharedSnapshots.Prepared> prepare() throws IOException, SnapshotException;
    }

    /**
     * @param gateway id of this one
     * @param threshold messages that the newest snapshot does not cover
     * @param orphanExpiry after which a missing gateway's consumer is removed
     */
    public record Settings(String gateway, String inWords, long threshold, Duration orphanExpiry) {}

    private final Settings settings;
    private final SharedStream events;
    private final SharedPresence presence;
    private final SharedSnapshots snapshots;
    private final Lease lease;
    private final Source source;
    private final Listener listener;
    private final OrphanConsumers orphans;
    private final LongSupplier millis;
    private long purged;

    public SnapshotKeeper(
            Settings settings,
            SharedStream events,
            SharedPresence presence,
            SharedSnapshots snapshots,
            Lease lease,
            Source source,
            Listener listener,
            LongSupplier nanoTime,
            LongSupplier millis) {
        this.settings = settings;
        this.events = events;
        this.presence = presence;
        this.snapshots = snapshots;
        this.lease = lease;
        this.source = source;
        this.listener = listener;
        this.orphans = new OrphanConsumers(settings.orphanExpiry(), nanoTime);
        this.millis = millis;
    }

    /** Looks once more. Returns whether this gateway has written a snapshot. */
    public boolean tick() throws IOException, SnapshotException {
        presence.here(settings.gateway(), settings.inWords());
        Optional<SharedStream.Look> look = events.look();
        if (look.isEmpty()) {
            return false;
        }
        Map<String, Long> applied = new HashMap<>(look.get().applied());
        List<String> gone = orphans.look(applied.keySet(), presence.present().keySet());
        for (String gateway : gone) {
            events.forget(gateway);
            applied.remove(gateway);
            listener.removed(gateway);
        }
        long stream = look.get().stream().id();
        SnapshotCatalog catalog = snapshots.catalog().of(stream);
        boolean written = false;
        SnapshotRules rules = new SnapshotRules(settings.threshold(), look.get().retention());
        if (rules.due(look.get().stream(), catalog, millis.getAsLong())) {
            Optional<SnapshotCatalog> after = write(rules, look.get().stream());
            written = after.isPresent();
            catalog = after.map(c -> c.of(stream)).orElse(catalog);
        }
        // Also later: a slow gateway may have held it up. Without the lock, as what a snapshot
        // covers and all have applied stays so.
        long upTo = SnapshotRules.purgeable(catalog, applied.values());
        if (upTo > purged && upTo >= look.get().stream().first()) {
            events.purge(upTo);
            listener.purged(upTo);
        }
        purged = Math.max(purged, upTo);
        return written;
    }

    private Optional<SnapshotCatalog> write(SnapshotRules rules, SnapshotRules.Stream seen)
            throws IOException, SnapshotException {
        if (!lease.tryTake()) {
            return Optional.empty();
        }
        try {
            long begin = millis.getAsLong();
            // Another may have been faster: only now nobody else writes.
            if (!rules.due(seen, snapshots.catalog().of(seen.id()), begin)) {
                return Optional.empty();
            }
            Optional<SharedSnapshots.Prepared> prepared = source.prepare();
            if (prepared.isEmpty()) {
                return Optional.empty();
            }
            Optional<SnapshotCatalog> after =
                    snapshots.publish(lease, prepared.get(), seen.id(), begin);
            after.ifPresent(c -> listener.written(c, millis.getAsLong() - begin));
            return after;
        } finally {
            lease.release();
        }
    }

    /** Says goodbye, so that nobody waits. */
    public void close() throws IOException {
        presence.gone(settings.gateway());
    }

    /**
     * Forgets all snapshots and empties the stream: what is known of caches begins anew.
     *
     * @return other gateways that are alive, which this leaves with more than a new one can know
     * @throws IOException when another gateway is writing a snapshot, and does not end in time
     */
    public Map<String, String> reset(Runnable pause, int tries) throws IOException {
        Map<String, String> others = new HashMap<>(presence.present());
        others.remove(settings.gateway());
        for (int i = 0; !lease.tryTake(); i++) {
            if (i == tries) {
                throw new IOException(
                        "the gateway "
                                + lease.holder()
                                + " is writing a snapshot and does not end");
            }
            pause.run();
        }
        try {
            if (!snapshots.reset(lease)) {
                throw new IOException("another gateway took the lock meanwhile");
            }
            Optional<SharedStream.Look> look = events.look();
            if (look.isPresent()) {
                events.purge(look.get().stream().last());
            }
        } finally {
            lease.release();
        }
        return others;
    }
}
