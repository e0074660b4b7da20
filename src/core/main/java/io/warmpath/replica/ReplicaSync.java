package io.warmpath.replica;

import io.warmpath.fleet.Fleet;
import io.warmpath.load.Booked;
import io.warmpath.load.LoadTracker;
import io.warmpath.replica.ReplicaCounters.Count;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.Iterator;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;

/**
 * Keeps the load that routing sees together with that of other gateways.
 *
 * <p>Own bookings come through a {@link ChangeQueue} and are told every millisecond; those of
 * others are booked in the own {@link LoadTracker}, so that equal prefixes count once over all
 * gateways. A peer of which nothing certain is younger than {@link ReplicaOptions#maxAge} does not
 * count: stale load sends all gateways to the same worker at once, and is worse than none.
 *
 * <p>{@link #tick}: one thread, again and again. The rest: any thread. All of them hold one lock
 * for microseconds; after a drop-out for one look at each booking of that peer. Nothing here is
 * called on the path of a request.
 */
public final class ReplicaSync {
    /** Changes gather so long before they are sent. */
    private static final long GATHER_NANOS = 1_000_000;

    /** After the last change one is looked for as often for so long; then the queue wakes us. */
    private static final long BUSY_NANOS = 50_000_000;

    /** A link that is down for so long is worth a word. */
    private static final long DOWN_NANOS = 1_000_000_000;

    private static final long RECONCILE_NANOS = 1_000_000_000;

    /** A peer that is silent for so long is forgotten. */
    private static final Duration GONE = Duration.ofSeconds(30);

    /** What {@link #peers} answers is at most so old, beside the time between ticks. */
    private static final long SEE_NANOS = 10_000_000;

    private static final long SAY_AGAIN_NANOS = 60_000_000_000L;
    private static final int MOST_PEERS = 256;

    /** For whoever must not wait. */
    private record Seen(List<PeerStatus> peers, int announced) {}

    private final ReplicaOptions options;
    private final ChangeQueue queue;
    private final ReplicaLink link;
    private final LongSupplier nanoTime;
    private final Runnable freed;
    private final ReplicaLog log;
    private final @Nullable SessionViews sessions;
    private final ReplicaCounters counters = new ReplicaCounters();

    private volatile Seen seen = new Seen(List.of(), 0);

    // Guarded by this.
    private final LoadTracker load;
    private final PeerWork work;
    private final Ranks ranks;
    private final BookingAnnouncer announcer;
    private final Map<Long, PeerView> peers = new HashMap<>();
    private boolean stateWanted;
    private long lastState;
    private long lastBeat;
    private long lastReconciled;
    private long lastChange;
    private long droppedBefore;
    private long saidSame;
    private long lastSeen;
    private boolean up;
    private int place;
    private int gateways = 1;
    private boolean saidDown;
    private long downSince;

    /**
     * @param queue the listener of {@code load}
     * @param work told of what counts in {@code load} of others
     * @param freed called, on any thread, when load of others went down
     */
    public ReplicaSync(
            ReplicaOptions options,
            LoadTracker load,
            PeerWork work,
            ChangeQueue queue,
            Fleet fleet,
            ReplicaLink link,
            LongSupplier nanoTime,
            Runnable freed,
            ReplicaLog log) {
        this(options, load, work, queue, fleet, link, nanoTime, freed, log, null);
    }

    /** {@code sessions}: where sessions are bound; null: that is not shared. */
    public ReplicaSync(
            ReplicaOptions options,
            LoadTracker load,
            PeerWork work,
            ChangeQueue queue,
            Fleet fleet,
            ReplicaLink link,
            LongSupplier nanoTime,
            Runnable freed,
            ReplicaLog log,
            @Nullable SessionViews sessions) {
        this.sessions = sessions;
        this.options = options;
        this.load = load;
        this.work = work;
        this.queue = queue;
        this.link = link;
        this.nanoTime = nanoTime;
        this.freed = freed;
        this.log = log;
        ranks = new Ranks(fleet);
        announcer = new BookingAnnouncer(options, load, ranks, link, counters);
        long started = nanoTime.getAsLong();
        lastBeat = started - options.beatNanos();
        lastState = started - options.askNanos();
        lastReconciled = started;
        lastChange = started - BUSY_NANOS;
        lastSeen = started - SEE_NANOS;
        saidSame = started - SAY_AGAIN_NANOS;
        downSince = started;
    }

    public ReplicaOptions options() {
        return options;
    }

    public ReplicaCounters counters() {
        return counters;
    }

    /** Changes that found no place in the queue. */
    public long dropped() {
        return queue.dropped();
    }

    /** The link is up: gateways can hear each other. */
    public boolean isUp() {
        return link.isUp();
    }

    /** All that are not forgotten yet, as of the last {@link #tick}; no lock. */
    public List<PeerStatus> peers() {
        return seen.peers();
    }

    /** Own bookings that others have been told of, as of the last {@link #tick}; no lock. */
    public int announced() {
        return seen.announced();
    }

    private Seen see(long now) {
        List<PeerStatus> all = new ArrayList<>(peers.size());
        peers.values().forEach(p -> all.add(p.status(now)));
        return new Seen(List.copyOf(all), announcer.open());
    }

    /** A message from the link; own ones are ignored. */
    public void received(byte[] bytes) {
        boolean less;
        synchronized (this) {
            less = receive(bytes, nanoTime.getAsLong());
        }
        if (less) {
            freed.run();
        }
    }

    private boolean receive(byte[] bytes, long now) {
        counters.one(Count.RECEIVED);
        counters.add(Count.RECEIVED_BYTES, bytes.length);
        MessageReader message = new MessageReader(bytes);
        if (!message.isOurs() || (message.version() == Wire.VERSION && !message.hasHeader())) {
            counters.one(Count.MALFORMED);
            return false;
        }
        if (message.version() != Wire.VERSION) {
            counters.one(Count.OTHER_VERSION);
            return false;
        }
        if (message.router() == options.router()) {
            own(message, now);
            return false;
        }
        PeerView peer = peers.get(message.router());
        try {
            if (message.kind() == Wire.LEAVE) {
                left(message, peer);
                return peer != null && peer.hasFreed();
            }
            if (peer == null) {
                if (peers.size() >= MOST_PEERS) {
                    return false;
                }
                peer =
                        new PeerView(
                                options,
                                message.router(),
                                message.epoch(),
                                ranks,
                                load,
                                work,
                                announcer::sentAt,
                                sessions == null ? (what, name, w, rank) -> {} : sessions,
                                counters,
                                now);
                peers.put(message.router(), peer);
            }
            if (message.kind() == Wire.ASK) {
                MessageReader.Ask ask = message.ask();
                stateWanted |= ask.router() == options.router() && ask.epoch() == options.epoch();
            }
            peer.receive(message, now);
            age(peer, now);
        } catch (MessageReader.Malformed e) {
            counters.one(Count.MALFORMED);
        }
        return peer != null && peer.hasFreed();
    }

    private void own(MessageReader message, long now) {
        if (message.epoch() == options.epoch()) {
            return;
        }
        counters.one(Count.SAME_ROUTER);
        if (now - saidSame >= SAY_AGAIN_NANOS) {
            saidSame = now;
            log.warn(
                    "Another gateway calls itself "
                            + options.name()
                            + " too: its load is not counted here, nor ours there. Give each"
                            + " gateway an id of its own.");
        }
    }

    private void left(MessageReader message, @Nullable PeerView peer) {
        if (peer != null && peer.epoch() == message.epoch()) {
            peer.forget();
            peers.remove(message.router());
            log.info("Gateway " + label(peer, message.router()) + " has left.");
        }
    }

    /**
     * Does what is due.
     *
     * @return nanoseconds until it wants to be called again; earlier when the queue says so
     */
    public long tick() {
        boolean less;
        long wait;
        synchronized (this) {
            long now = nanoTime.getAsLong();
            link(now);
            if (ranks.refresh()) {
                peers.values().forEach(PeerView::place);
                announcer.reconcile(now);
            }
            boolean news = tell(now);
            less = listen(now);
            place();
            lastChange = news ? now : lastChange;
            if (now - lastSeen >= SEE_NANOS) {
                lastSeen = now;
                seen = see(now);
            }
            wait =
                    now - lastChange < BUSY_NANOS || !queue.sleeping()
                            ? GATHER_NANOS
                            : Math.max(GATHER_NANOS, options.beatNanos());
        }
        if (less) {
            freed.run();
        }
        return wait;
    }

    private void link(long now) {
        boolean is = link.isUp();
        if (is && !up) {
            log.info("There is a connection to the other gateways.");
            saidDown = false;
        } else if (!is && up) {
            downSince = now;
        }
        up = is;
        if (!up && !saidDown && now - downSince >= DOWN_NANOS) {
            saidDown = true;
            log.warn(
                    "There is no connection to the other gateways: this one goes on by its own load"
                            + " alone.");
        }
    }

    private boolean tell(long now) {
        boolean news = false;
        for (Booked b = queue.poll(); b != null; b = queue.poll()) {
            announcer.look(b, now);
            news = true;
        }
        long dropped = queue.dropped();
        if (dropped != droppedBefore) {
            droppedBefore = dropped;
            counters.one(Count.RECONCILED);
            lastReconciled = now;
            announcer.reconcile(now);
        } else if (now - lastReconciled >= RECONCILE_NANOS) {
            lastReconciled = now;
            announcer.reconcile(now);
            peers.values().forEach(PeerView::countUnplaced);
        }
        announcer.flush(now);
        List<SessionViews.News> bound = sessions == null ? List.of() : sessions.drain();
        if (!bound.isEmpty()) {
            announcer.sessions(bound, now);
            news = true;
        }
        if ((stateWanted || announcer.isCut()) && up && now - lastState >= options.askNanos() / 2) {
            stateWanted = false;
            lastState = now;
            announcer.state(now);
        }
        if (now - lastBeat >= options.beatNanos()) {
            lastBeat = now;
            announcer.heartbeat(peers.values(), now);
        }
        return news;
    }

    private boolean listen(long now) {
        boolean less = false;
        for (Iterator<Map.Entry<Long, PeerView>> all = peers.entrySet().iterator();
                all.hasNext(); ) {
            Map.Entry<Long, PeerView> entry = all.next();
            PeerView peer = entry.getValue();
            age(peer, now);
            long silent = peer.silentNanos(now);
            if (silent >= GONE.toNanos()) {
                peer.forget();
                all.remove();
                log.info("Gateway " + label(peer, entry.getKey()) + " is forgotten.");
            } else if (silent < options.maxAgeNanos() && peer.wants(now, options.askNanos())) {
                peer.asked(now);
                announcer.ask(entry.getKey(), peer.epoch(), now);
            }
            less |= peer.hasFreed();
        }
        return less;
    }

    /** In the order of their ids, so each takes another place where they count one another. */
    private void place() {
        int before = 0;
        int counted = 1;
        for (PeerView peer : peers.values()) {
            if (peer.isCounted()) {
                counted++;
                before += Long.compareUnsigned(peer.router(), options.router()) < 0 ? 1 : 0;
            }
        }
        if (before != place || counted != gateways) {
            place = before;
            gateways = counted;
            work.among(place, gateways);
        }
    }

    private void age(PeerView peer, long now) {
        boolean counted = peer.isCounted();
        long age = peer.age(now);
        if (counted && age > options.maxAgeNanos()) {
            peer.count(false);
        } else if (!counted && age <= options.backNanos()) {
            boolean first = peer.isNew();
            peer.count(true);
            if (first) {
                log.info("The load of gateway " + label(peer, peer.router()) + " counts here.");
            }
        }
        if (!up) {
            peer.lag().skip(now); // said for all of them
            return;
        }
        switch (peer.lag().passed(counted, now)) {
            case NONE -> {}
            case BEGUN -> log.warn(lasting(peer, now));
            case OVER ->
                    log.info("The load of " + label(peer, peer.router()) + " counts here again.");
        }
    }

    private String lasting(PeerView peer, long now) {
        long silent = peer.silentNanos(now);
        return "The load of gateway "
                + label(peer, peer.router())
                + " does not count here most of the time: "
                + (silent >= options.maxAgeNanos()
                        ? "nothing was heard of it for " + millis(silent) + " ms"
                        : peer.age(now) == Long.MAX_VALUE
                                ? "its whole state has not come yet"
                                : "what it tells is " + millis(peer.age(now)) + " ms old")
                + ", and "
                + options.maxAge().toMillis()
                + " ms may be (warmpath.replica.max-age). Look whether that gateway, this one or"
                + " NATS is short of CPU, or the network between them slow.";
    }

    private static long millis(long nanos) {
        return TimeUnit.NANOSECONDS.toMillis(nanos);
    }

    private static String label(PeerView peer, long router) {
        String number = Long.toHexString(router);
        return peer.name().isEmpty() ? number : peer.name() + " (" + number + ")";
    }

    /** Tells the others that this gateway ends, and counts them no longer. */
    public synchronized void close() {
        announcer.leave(nanoTime.getAsLong());
        peers.values().forEach(PeerView::forget);
        peers.clear();
    }
}
