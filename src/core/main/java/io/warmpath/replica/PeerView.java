package io.warmpath.replica;

import io.warmpath.load.LoadTracker;
import io.warmpath.replica.ReplicaCounters.Count;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.HashMap;
import java.util.Iterator;
import java.util.Map;
import java.util.function.LongUnaryOperator;

/**
 * The bookings of one other gateway, as far as heard, and how old that is. Not thread-safe.
 * Messages are numbered. After one is missing the view goes on to be kept up, but no longer gets
 * younger, until the whole state has come. It gets younger by heartbeats that agree with it and
 * name an own message that the peer had heard by then: what it says is newer than that message, by
 * the own clock, wherever time was lost. It counts in the load while it is young enough.
 */
final class PeerView implements MessageReader.Changes {
    private static final int FORMER_EPOCHS = 8;

    /** A sender that goes beyond it is broken. */
    private static final int MOST_OPEN = 1 << 20;

    private final ReplicaOptions options;
    private final MessageReader.Sessions sessions;
    private final LongUnaryOperator ownSentAt;
    private final long router;
    private final Ranks ranks;
    private final LoadTracker load;
    private final PeerWork work;
    private final ReplicaCounters counters;
    private final Map<Long, Heard> open = new HashMap<>();
    private final Map<PeerRank, Integer> incarnations = new HashMap<>();
    private final Deque<Long> formerEpochs = new ArrayDeque<>();
    private long epoch;
    private long next;
    private boolean exact;

    /** When that was sent which the peer had heard when it said what is known. */
    private long knownAt = BookingAnnouncer.LONG_AGO;

    private long heardAt;
    private long askedAt;
    private boolean asked;
    private String name = "";
    private boolean counted;
    private boolean fresh = true; // has never counted
    private boolean freed;
    private long digest;

    private int state;
    private boolean collecting;

    private int unplaced;
    private long lost;
    private long resyncs;
    private long dropouts;
    private final Lag lag;

    /**
     * @param now when it was first heard
     * @param ownSentAt as {@link BookingAnnouncer#sentAt}
     */
    PeerView(
            ReplicaOptions options,
            long router,
            long epoch,
            Ranks ranks,
            LoadTracker load,
            PeerWork work,
            LongUnaryOperator ownSentAt,
            MessageReader.Sessions sessions,
            ReplicaCounters counters,
            long now) {
        this.lag = new Lag(options.lastingNanos(), now);
        this.sessions = sessions;
        this.options = options;
        this.ownSentAt = ownSentAt;
        this.router = router;
        this.epoch = epoch;
        this.ranks = ranks;
        this.load = load;
        this.work = work;
        this.counters = counters;
    }

    long router() {
        return router;
    }

    long epoch() {
        return epoch;
    }

    String name() {
        return name;
    }

    boolean isCounted() {
        return counted;
    }

    /** Its load has never counted since it started. */
    boolean isNew() {
        return fresh;
    }

    Lag lag() {
        return lag;
    }

    long silentNanos(long now) {
        return now - heardAt;
    }

    /** The whole state is wanted, and was not asked for lately. */
    boolean wants(long now, long askNanos) {
        return !exact && (!asked || now - askedAt >= askNanos);
    }

    void asked(long now) {
        asked = true;
        askedAt = now;
    }

    /** Number of its last message. */
    long heardNumber() {
        return next - 1;
    }

    /** What is known is at most so old; {@link Long#MAX_VALUE}: nothing is. */
    long age(long now) {
        return knownAt == BookingAnnouncer.LONG_AGO ? Long.MAX_VALUE : now - knownAt;
    }

    /** Load went down since it was asked last. */
    boolean hasFreed() {
        boolean yes = freed;
        freed = false;
        return yes;
    }

    /** A message of this sender; ends with an exception when it cannot be read. */
    void receive(MessageReader message, long now) throws MessageReader.Malformed {
        if (message.epoch() != epoch && !begins(message.epoch())) {
            counters.one(Count.REPEATED);
            return;
        }
        long number = message.sequence();
        if (next == 0) {
            exact = number == 1; // from its first word on
        } else if (number < next) {
            counters.one(Count.REPEATED);
            return;
        } else if (number > next) {
            lost += number - next;
            counters.add(Count.LOST, number - next);
            exact = false;
            collecting = false;
        }
        next = number + 1;
        heardAt = now;
        try {
            read(message);
        } catch (MessageReader.Malformed e) {
            exact = false;
            collecting = false;
            throw e;
        }
    }

    private void read(MessageReader message) throws MessageReader.Malformed {
        switch (message.kind()) {
            case Wire.CHANGES -> message.changes(this);
            case Wire.STATE -> state(message);
            case Wire.HEARTBEAT -> {
                heartbeat(message);
            }
            case Wire.ASK -> {} // for whom it is meant
            case Wire.SESSIONS -> message.sessions(sessions);
            default -> counters.one(Count.OTHER_KIND);
        }
    }

    /** What the view is then is newer than the own message that the peer had heard by then. */
    private void heartbeat(MessageReader message) throws MessageReader.Malformed {
        MessageReader.Heartbeat beat = message.heartbeat(options.router(), options.epoch());
        name = beat.name();
        if (!exact) {
            return;
        }
        if (beat.open() != open.size() || beat.digest() != digest) {
            counters.one(Count.DIVERGED);
            exact = false;
            return;
        }
        long sent = ownSentAt.applyAsLong(beat.heard());
        if (sent != BookingAnnouncer.LONG_AGO) {
            knownAt = sent;
        }
    }

    /** False for an epoch that is over. */
    private boolean begins(long other) {
        if (formerEpochs.contains(other)) {
            return false;
        }
        formerEpochs.addLast(epoch);
        if (formerEpochs.size() > FORMER_EPOCHS) {
            formerEpochs.removeFirst();
        }
        forget();
        epoch = other;
        next = 0;
        exact = false;
        knownAt = BookingAnnouncer.LONG_AGO;
        counted = false;
        fresh = true;
        asked = false;
        collecting = false;
        return true;
    }

    private void state(MessageReader message) throws MessageReader.Malformed {
        int flags = message.stateFlags();
        if ((flags & Wire.FLAG_FIRST) != 0) {
            collecting = true;
            state++;
        }
        message.state(this); // without its beginning too: what it says is true all the same
        if (collecting && (flags & Wire.FLAG_LAST) != 0) {
            collecting = false;
            for (Iterator<Heard> all = open.values().iterator(); all.hasNext(); ) {
                Heard h = all.next();
                if (h.seenIn != state) {
                    all.remove();
                    drop(h);
                }
            }
            if (!exact) {
                resyncs++;
                counters.one(Count.STATES_TAKEN);
            }
            exact = true;
            asked = false;
        }
    }

    @Override
    public void add(Heard h) throws MessageReader.Malformed {
        h.seenIn = state;
        Heard before = open.get(h.number);
        if (before != null) {
            before.seenIn = state;
            update(before, h);
            return;
        }
        if (open.size() >= MOST_OPEN) {
            throw new MessageReader.Malformed("more than " + MOST_OPEN + " open bookings");
        }
        fence(h);
        open.put(h.number, h);
        digest += Wire.digest(h.number, h.prefilled);
        if (counted) {
            h.count(ranks, load, work);
        }
    }

    private void update(Heard before, Heard now) {
        if (now.prefilled) {
            prefilled(before.number);
        }
        if (before.outputTokens != now.outputTokens || before.weight != now.weight) {
            before.grown(now.outputTokens, now.weight);
        }
    }

    /** A new process of the worker has nothing of what ran in the old one. */
    private void fence(Heard h) {
        int newest = incarnations.getOrDefault(h.rank, h.incarnation);
        if (h.incarnation - newest < 0) {
            h.fenced = true;
            return;
        }
        incarnations.put(h.rank, h.incarnation);
        if (h.incarnation != newest) {
            for (Heard old : open.values()) {
                if (old.rank.equals(h.rank) && old.incarnation != h.incarnation) {
                    old.fenced = true;
                    old.withdraw();
                }
            }
        }
    }

    @Override
    public void prefilled(long number) {
        Heard h = open.get(number);
        if (h != null && !h.prefilled) {
            digest += Wire.digest(number, true) - Wire.digest(number, false);
            h.prefilled();
            freed = true;
        }
    }

    @Override
    public void free(long number) {
        Heard h = open.remove(number);
        if (h != null) {
            drop(h);
        }
    }

    @Override
    public void grown(long number, int outputTokens, int weight) {
        Heard h = open.get(number);
        if (h != null) {
            h.grown(outputTokens, weight);
        }
    }

    private void drop(Heard h) {
        digest -= Wire.digest(h.number, h.prefilled);
        h.withdraw();
        freed = true;
    }

    /** Counts in the load from now on, or no longer. */
    void count(boolean now) {
        if (counted == now) {
            return;
        }
        counted = now;
        if (now) {
            fresh = false;
            place();
        } else {
            dropouts++;
            freed = true;
            open.values().forEach(Heard::withdraw);
        }
    }

    /** The fleet has changed: perhaps more of them have a place now. */
    void place() {
        if (counted) {
            open.values().forEach(h -> h.count(ranks, load, work));
        }
    }

    /** Nothing of it is left. */
    void forget() {
        open.values().forEach(Heard::withdraw);
        open.clear();
        incarnations.clear();
        digest = 0;
        freed = true;
    }

    /** To be called now and then: looks at every booking. */
    void countUnplaced() {
        int count = 0;
        for (Heard h : open.values()) {
            count += !h.fenced && ranks.of(h.rank) == null ? 1 : 0;
        }
        unplaced = count;
    }

    PeerStatus status(long now) {
        return new PeerStatus(
                router,
                name,
                counted,
                age(now),
                silentNanos(now),
                open.size(),
                unplaced,
                lost,
                resyncs,
                dropouts);
    }
}
