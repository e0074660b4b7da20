package io.warmpath.replica;

import io.warmpath.load.Booked;
import io.warmpath.load.LoadTracker;
import io.warmpath.replica.ReplicaCounters.Count;
import java.util.Collection;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/**
 * What this gateway tells the others of its bookings, and what it has told. Not thread-safe. It
 * holds a mirror of what all messages so far add up to; a change is the difference between a
 * booking and its mirror, so one told of twice, or late, or together with the next, does no harm.
 * What the link did not take is in the mirror all the same: the messages' numbers show that one is
 * missing, and the next thing sent when the link is back is the whole state.
 */
final class BookingAnnouncer {
    /** Changes in one message. */
    private static final int BATCH = 256;

    /** A message is sent when it has become this long. */
    private static final int BATCH_BYTES = 1 << 18;

    /** No message is cut shorter. */
    private static final int LEAST_BYTES = 1 << 10;

    /** Own messages whose time of sending is kept: more than are sent in any maximal age. */
    private static final int REMEMBERED = 1 << 14;

    /** No time. */
    static final long LONG_AGO = Long.MIN_VALUE;

    private final ReplicaOptions options;
    private final LoadTracker load;
    private final Ranks ranks;
    private final ReplicaLink link;
    private final ReplicaCounters counters;
    private final MessageWriter out = new MessageWriter(BATCH_BYTES);
    private final long[] sentAt = new long[REMEMBERED];
    private final Map<Booked, AnnouncedBooking> announced =
            new HashMap<>(); // bookings are equal to themselves only
    private long digest;
    private long lastNumber;
    private long sequence;
    private int changes;
    private boolean cut;

    BookingAnnouncer(
            ReplicaOptions options,
            LoadTracker load,
            Ranks ranks,
            ReplicaLink link,
            ReplicaCounters counters) {
        this.options = options;
        this.load = load;
        this.ranks = ranks;
        this.link = link;
        this.counters = counters;
        begin(Wire.CHANGES);
    }

    int open() {
        return announced.size();
    }

    /** Something was not sent: whoever listens needs the whole state. */
    boolean isCut() {
        return cut;
    }

    /** The booking is perhaps other than told. {@link #flush} sends what has gathered. */
    void look(Booked booking, long now) {
        booking.taken(); // first: what changes after this comes again
        AnnouncedBooking t = announced.get(booking);
        Ranks.Place place = t == null ? ranks.of(booking.slot()) : t.place;
        boolean over = booking.over() || place == null || ranks.of(booking.slot()) == null;
        if (t == null) {
            if (!over && place != null) {
                add(new AnnouncedBooking(booking, place, ++lastNumber), now);
            }
            return;
        }
        if (over) {
            room(now);
            announced.remove(booking);
            digest -= Wire.digest(t.number, t.prefilled);
            out.free(t.number);
            changed();
            return;
        }
        if (!t.prefilled && booking.prefilled()) {
            room(now);
            digest -= Wire.digest(t.number, false);
            t.prefilled = true;
            digest += Wire.digest(t.number, true);
            out.prefilled(t.number);
            changed();
        }
        if (t.outputTokens != booking.outputTokens() || t.weight != booking.weight()) {
            room(now);
            t.read();
            out.grown(t.number, t.outputTokens, t.weight);
            changed();
        }
    }

    private void add(AnnouncedBooking t, long now) {
        announced.put(t.booked, t);
        digest += Wire.digest(t.number, t.prefilled);
        int bytes = Wire.ADD_BYTES + out.names(t.booked.prompt()) * Long.BYTES;
        if (changes == BATCH || !out.fits(bytes)) {
            flush(now);
        }
        out.add(t);
        changed();
    }

    private void begin(byte kind) {
        out.begin(kind, Math.max(LEAST_BYTES, link.maxBytes()));
    }

    private void room(long now) {
        if (changes == BATCH || !out.fits(Wire.CHANGE_BYTES)) {
            flush(now);
        }
    }

    private void changed() {
        changes++;
        counters.one(Count.TOLD);
    }

    void flush(long now) {
        if (!out.isEmpty()) {
            send(now);
        }
        begin(Wire.CHANGES);
        changes = 0;
    }

    /** Looks at every booking there is, because something may have been missed. */
    void reconcile(long now) {
        load.forEachOpen(b -> look(b, now));
        for (Booked b : announced.keySet().toArray(Booked[]::new)) {
            look(b, now);
        }
    }

    /** {@code peers}: what was heard of each. */
    void heartbeat(Collection<PeerView> peers, long now) {
        flush(now);
        begin(Wire.HEARTBEAT);
        out.heartbeat(announced.size(), digest, options.name());
        for (PeerView p : peers) {
            if (out.fits(Wire.HEARD_BYTES)) {
                out.heard(p.router(), p.epoch(), p.heardNumber());
            }
        }
        sendAlone(now);
    }

    void sessions(List<SessionViews.News> news, long now) {
        flush(now);
        begin(Wire.SESSIONS);
        for (SessionViews.News n : news) {
            if (!out.fits(Wire.SESSION_BYTES)) {
                send(now);
                begin(Wire.SESSIONS);
            }
            out.session(n);
        }
        sendAlone(now);
    }

    void ask(long router, long epoch, long now) {
        flush(now);
        begin(Wire.ASK);
        out.ask(router, epoch);
        sendAlone(now);
        counters.one(Count.STATES_ASKED);
    }

    void leave(long now) {
        flush(now);
        begin(Wire.LEAVE);
        sendAlone(now);
    }

    /** Everything that is open, in as many messages as it takes. */
    void state(long now) {
        flush(now);
        cut = false;
        int flags = Wire.FLAG_FIRST;
        begin(Wire.STATE);
        out.stateFlags(flags);
        for (AnnouncedBooking t : announced.values()) {
            if (!out.fits(Wire.ADD_BYTES + out.names(t.booked.prompt()) * Long.BYTES)) {
                send(now);
                flags = 0;
                begin(Wire.STATE);
                out.stateFlags(flags);
            }
            out.add(t);
        }
        out.stateFlags(flags | Wire.FLAG_LAST);
        sendAlone(now);
        counters.one(Count.STATES_SENT);
    }

    private void sendAlone(long now) {
        send(now);
        begin(Wire.CHANGES);
        changes = 0;
    }

    private void send(long now) {
        sequence++;
        sentAt[(int) sequence & (REMEMBERED - 1)] = now;
        out.seal(options.router(), options.epoch(), sequence);
        if (link.send(out.bytes(), out.length())) {
            counters.one(Count.SENT);
            counters.add(Count.SENT_BYTES, out.length());
        } else {
            cut = true;
            counters.one(Count.UNSENT);
        }
    }

    /**
     * When the own message of this number was sent.
     *
     * @return {@link #LONG_AGO} for one that was sent long ago, or never
     */
    long sentAt(long number) {
        return number > 0 && number <= sequence && number > sequence - REMEMBERED
                ? sentAt[(int) number & (REMEMBERED - 1)]
                : LONG_AGO;
    }
}
