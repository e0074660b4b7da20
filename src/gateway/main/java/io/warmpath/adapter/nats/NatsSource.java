package io.warmpath.adapter.nats;

import io.warmpath.adapter.nats.Envelope.BadEnvelope;
import io.warmpath.events.EventCounters;
import io.warmpath.events.EventSource;
import io.warmpath.events.SourceMark;
import io.warmpath.events.SourceSession;
import java.io.ByteArrayOutputStream;
import java.util.List;
import java.util.function.BooleanSupplier;
import java.util.function.Function;
import java.util.function.LongConsumer;
import org.jboss.logging.Logger;
import org.jspecify.annotations.Nullable;

/**
 * One source as it is read from the stream: which process of the engine speaks, pieces put
 * together, signs of life of its relay; everything else is the session's. The feed's thread only.
 */
final class NatsSource implements SourceSession.ReplayLink {
    private static final Logger LOG = Logger.getLogger(NatsSource.class);

    /** Signs of life in a row that tell the same before they are acted on. */
    private static final int SURE = 3;

    /** Of one batch, in all its pieces: as much as an engine may send at once. */
    private static final int MOST_BATCH = 64 << 20;

    /** Puts the pieces of one batch together. */
    private static final class Pieces {
        private long sequence;
        private int next;
        private ByteArrayOutputStream bytes = new ByteArrayOutputStream();

        /** The whole batch with its last piece; null before, or when a piece is missing. */
        byte @Nullable [] add(Envelope part) {
            if (part.part() == 0) {
                bytes.reset();
                sequence = part.first();
                next = 0;
            }
            if (part.part() != next || part.first() != sequence) {
                return null;
            }
            next++;
            byte[] piece = part.batches().getFirst();
            if (piece.length > MOST_BATCH - bytes.size()) {
                bytes = new ByteArrayOutputStream();
                next = -1; // what still comes of it goes nowhere
                return null;
            }
            bytes.writeBytes(piece);
            return next == part.parts() ? bytes.toByteArray() : null;
        }
    }

    private final EventSource source;
    private final EventCounters counters;
    private final LongConsumer ask;
    private final BooleanSupplier reading;
    private final long aliveNanos;
    private final Pieces pieces = new Pieces();
    private final Pieces answered = new Pieces();
    private SourceSession session;

    /** Number in the stream up to which all of this source has been taken. */
    private long position;

    /** The same, but not beyond what waits behind a hole. */
    private long applied;

    /** It reads the stream by itself until it has come as far as the others. */
    boolean catchingUp = true;

    /** The newest number of its own that went by meanwhile. */
    long passed;

    /** Messages that came since something is missing. */
    private int behindHole;

    /** Number of its newest question. */
    long question;

    private boolean known;
    private long process;

    /** The process before this one. */
    private long former;

    private boolean hasFormer;
    private boolean reported;

    /** Number behind the newest batch of this process that came. */
    private long newest;

    private boolean any;

    /** What was taken before a restart of ours has not been found to be of this process. */
    private boolean unproven;

    private long heardAt;
    private boolean linkedBefore;
    private boolean relay;
    private int ahead;
    private int another;
    private long aheadNext;
    private int replies;
    private boolean foreign;

    /**
     * @param ask sends a question for batches from a number on
     * @param reading whether the stream has more, and is being read
     * @param aliveNanos silence of the relay after which it counts as gone
     */
    NatsSource(
            EventSource source,
            EventCounters counters,
            LongConsumer ask,
            BooleanSupplier reading,
            long aliveNanos,
            long now,
            Function<NatsSource, SourceSession> session) {
        this.source = source;
        this.counters = counters;
        this.ask = ask;
        this.reading = reading;
        this.aliveNanos = aliveNanos;
        this.heardAt = now;
        this.session = session.apply(this);
    }

    EventSource source() {
        return source;
    }

    SourceSession session() {
        return session;
    }

    long position() {
        return position;
    }

    long applied() {
        return session.waiting() == 0 ? position : applied;
    }

    /** Goes on where another process of ours has stopped. */
    void resume(SourceMark mark, long expiryNanos, long streamPosition) {
        session.resume(mark, expiryNanos);
        any = true;
        unproven = true;
        newest = mark.next();
        position = streamPosition;
        applied = streamPosition;
    }

    /** It has come as far as the common reader. */
    void joined() {
        catchingUp = false;
        passed = 0;
    }

    /** The numbers of the stream begin anew. */
    void anotherStream() {
        position = 0;
        applied = 0;
        passed = 0;
    }

    /** A message of the stream. */
    void stored(long streamSequence, byte[] data) {
        if (streamSequence <= position) {
            return;
        }
        if (session.waiting() == 0) {
            applied = position;
        }
        position = streamSequence;
        behindHole = session.replaying() ? behindHole + 1 : 0;
        try {
            Envelope e = Envelope.decode(data);
            switch (e.kind()) {
                case BATCHES -> live(e, e.batches());
                case PART -> {
                    byte[] whole = pieces.add(e);
                    if (whole != null) {
                        live(e, List.of(whole));
                    }
                }
                case ALIVE, END -> session.unusable("an envelope of the kind " + e.kind());
            }
        } catch (BadEnvelope e) {
            session.unusable("an envelope that cannot be read: " + e.getMessage());
        }
    }

    /** Bytes of a batch of which more pieces are to come. */
    int pieces() {
        return pieces.bytes.size();
    }

    private void live(Envelope e, List<byte[]> batches) {
        if (hasFormer && e.process() == former) {
            // A process that has ended does not speak again: two relays read one engine.
            former();
            return;
        }
        if (known && e.process() != process) {
            hasFormer = true;
            former = process;
            forgetProcess();
        } else if (unproven && !session.replaying()) {
            long at = session.next() - 1 - e.first();
            if (at >= batches.size()) {
                return; // the snapshot has it
            }
            unproven = false;
            joins(e, batches, at);
        }
        known = true;
        process = e.process();
        for (int i = 0; i < batches.size(); i++) {
            one(e.first() + i, batches.get(i));
        }
    }

    /** The newest one counts: else each message would drop what the other relay told. */
    private void former() {
        counters.duplicate();
        if (!reported) {
            reported = true;
            LOG.warnf(
                    "KV events of %s/%d come from two relays: stop one of them",
                    source.worker(), source.dpRank());
        }
    }

    /**
     * Messages that failed at first are in the stream behind later ones. The session would take an
     * old number for a restart, which the relay has ruled out.
     */
    private void one(long sequence, byte[] batch) {
        if (any && Long.compareUnsigned(sequence, newest) < 0) {
            session.overtaken(sequence, batch);
            return;
        }
        any = true;
        newest = sequence + 1;
        session.live(sequence, batch);
    }

    private void forgetProcess() {
        any = false;
        unproven = false;
        session.anotherProcess();
    }

    /**
     * Whether a message follows what was taken before a restart of ours.
     *
     * @param at where in it the batch is that was taken last; -1: right before it
     */
    private void joins(Envelope e, List<byte[]> batches, long at) {
        long theirs;
        if (at == -1) {
            theirs = e.before();
        } else if (at >= 0) {
            theirs = SourceMark.fingerprint(batches.get((int) at));
        } else {
            return; // behind a hole: the session asks
        }
        if (theirs == session.lastFingerprint()) {
            session.confirm();
        } else if (theirs != 0) {
            forgetProcess();
        }
    }

    /** A sign of life of its relay. {@code caughtUp}: all that the stream has is here. */
    void alive(byte[] data, long now, boolean caughtUp) {
        Envelope e;
        try {
            e = Envelope.decode(data);
        } catch (BadEnvelope bad) {
            counters.badFrame();
            return;
        }
        if (hasFormer && e.process() == former) {
            return;
        }
        heardAt = now;
        if (!e.engine()) {
            relay = false;
            session.disconnected();
        } else if (!relay) {
            relay = true;
            session.rejoined(!known || e.process() == process);
        }
        session.away(e.stuck() ? "its relay has events that are not stored yet" : null);
        if (unproven && session.next() == e.first() && session.lastFingerprint() == e.before()) {
            unproven = false;
            known = true;
            process = e.process();
            session.confirm();
        }
        compare(e, caughtUp);
    }

    /** The stream should have brought what its relay says it has stored. */
    private void compare(Envelope e, boolean caughtUp) {
        if (!caughtUp || catchingUp || !session.started() || session.replaying()) {
            return;
        }
        boolean same = !known || e.process() == process;
        another = same || e.first() == 0 ? 0 : another + 1;
        if (another >= SURE) {
            another = 0;
            known = true;
            process = e.process();
            forgetProcess();
            return;
        }
        boolean more = same && Long.compareUnsigned(e.first(), session.next()) > 0;
        ahead = more && aheadNext == session.next() ? ahead + 1 : 0;
        aheadNext = session.next();
        if (ahead >= SURE) {
            ahead = 0;
            session.missed("its relay has stored more than came");
        }
    }

    @Override
    public void request(long fromSequence) {
        replies = 0;
        foreign = false;
        ask.accept(fromSequence);
    }

    @Override
    public boolean hasHistory() {
        return false; // it is in the stream
    }

    /** Messages that failed at first stand behind at most so many that did not. */
    @Override
    public boolean mayStillCome() {
        return reading.getAsBoolean() && behindHole < RelayLane.WINDOW;
    }

    /** Part of an answer to the newest question. */
    void answer(byte[] data) {
        Envelope e;
        try {
            e = Envelope.decode(data);
        } catch (BadEnvelope bad) {
            counters.badFrame();
            return;
        }
        if (e.kind() == Envelope.Kind.END) {
            ended(e);
            return;
        }
        replies++;
        if (known && e.process() != process) {
            foreign = true; // the stream tells of the other process
            return;
        }
        if (e.kind() == Envelope.Kind.BATCHES) {
            for (int i = 0; i < e.batches().size(); i++) {
                session.replayed(e.first() + i, e.batches().get(i));
            }
        } else if (e.kind() == Envelope.Kind.PART) {
            byte[] whole = answered.add(e);
            if (whole != null) {
                session.replayed(e.first(), whole);
            }
        }
    }

    private void ended(Envelope e) {
        if (e.count() != replies) {
            return; // some were lost on the way: asked again after a while
        }
        if (replies == 0 || foreign) {
            session.replayRefused();
        } else {
            session.replayEnded();
        }
    }

    /**
     * NATS itself came or went. When it is back, what the engine said meanwhile comes with its
     * relay, whose connection may take longer than ours.
     */
    void linked(boolean there, long now) {
        heardAt = now;
        if (!there) {
            session.away("NATS is away");
        } else if (linkedBefore) {
            session.away("NATS is back, its relay has not been heard yet");
        } else {
            session.away(null);
        }
        linkedBefore = true;
    }

    void tick(long now, boolean linked) {
        if (linked && now - heardAt >= aliveNanos) {
            relay = false;
            session.disconnected();
        }
        session.tick();
    }
}
