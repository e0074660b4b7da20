package io.warmpath.adapter.nats;

import io.nats.client.JetStream;
import io.nats.client.api.PublishAck;
import io.nats.client.impl.Headers;
import io.warmpath.events.BatchSink;
import io.warmpath.events.EventSource;
import io.warmpath.events.SourceMark;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.HexFormat;
import java.util.List;
import java.util.concurrent.atomic.LongAdder;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;

/**
 * One engine rank on its way into the stream: what its session delivers goes into the ring, from
 * there in messages to the server, each kept until it is acknowledged. {@link BatchSink} on the
 * feed's thread, {@link #send} and {@link #alive} on the relay's, the rest any. Messages that fail
 * are sent again as they were, so that the server knows those it has by their id; until then later
 * ones may be in the stream before them, which readers repair by asking.
 */
final class RelayLane implements BatchSink {
    /** Messages under way at once. */
    static final int WINDOW = 64;

    /** Of a message: small enough to be no burden, large enough that its cost vanishes. */
    private static final int MOST = 256 << 10;

    /**
     * What a server that comes back is given a second time. Younger than the time for which it
     * knows what it has by the id (EventStream), so that nothing is stored twice.
     */
    private static final int DOUBTFUL_MESSAGES = 1_024;

    private static final int DOUBTFUL_BYTES = 8 << 20;
    private static final long DOUBTFUL_NANOS = 60_000_000_000L;

    /** Left of the server's limit for the id and what else stands before the payload. */
    private static final int HEADERS = 512;

    private static final long FIRST_PAUSE = 100_000_000;
    private static final long LONGEST_PAUSE = 2_000_000_000;

    private enum Fate {
        UNDER_WAY,
        STORED,
        FAILED
    }

    /** One message; its fate is written by jnats' threads. */
    private static final class Sent {
        final String id;
        final byte[] data;
        final long process;
        final long next;
        final long last;
        final int batches;
        boolean counted;
        long storedAt;
        volatile Fate fate = Fate.FAILED;

        Sent(String id, byte[] data, long process, long next, long last, int batches) {
            this.id = id;
            this.data = data;
            this.process = process;
            this.next = next;
            this.last = last;
            this.batches = batches;
        }
    }

    private final EventSource source;
    private final String subject;
    private final RelayRing ring;
    private final LongSupplier nanoTime;
    private final LongSupplier millis;
    private final LongSupplier processes;
    private final Runnable wake;
    private final ArrayDeque<Sent> unacknowledged = new ArrayDeque<>();

    /** Acknowledged not long ago: a server that is killed may lose the newest of these. */
    private final ArrayDeque<Sent> doubtful = new ArrayDeque<>();

    private long doubtfulBytes;
    private final LongAdder messages = new LongAdder();
    private final LongAdder batches = new LongAdder();
    private final LongAdder failures = new LongAdder();
    private volatile String problem = "";

    // Of the sink, guarded by this.
    private long process;
    private boolean started;
    private long next;
    private long last;

    // Of the relay's thread.
    private long pause = FIRST_PAUSE;
    private long again;
    private boolean failing;
    private long storedProcess;
    private long storedNext;
    private long storedLast;

    /** What was there when the server came back is not all stored yet: up to before this batch. */
    private boolean owing;

    private long owedProcess;
    private long owedNext;

    /**
     * @param processes numbers for processes of the engine, never the same twice, never 0
     * @param wake called when there is something to send
     */
    RelayLane(
            EventSource source,
            String subject,
            long ringBytes,
            LongSupplier nanoTime,
            LongSupplier millis,
            LongSupplier processes,
            Runnable wake) {
        this.source = source;
        this.subject = subject;
        this.ring = new RelayRing(ringBytes);
        this.nanoTime = nanoTime;
        this.millis = millis;
        this.processes = processes;
        this.wake = wake;
        this.process = processes.getAsLong();
        this.storedProcess = process;
    }

    EventSource source() {
        return source;
    }

    RelayRing ring() {
        return ring;
    }

    /** Messages the server has acknowledged, batches in them, and messages that failed. */
    long messages() {
        return messages.sum();
    }

    long batches() {
        return batches.sum();
    }

    long failures() {
        return failures.sum();
    }

    /** Why the server takes nothing; empty when it does. */
    String problem() {
        return problem;
    }

    /**
     * Goes on behind the newest message of the stream, which a relay before this one has sent.
     *
     * @return where the engine is to be asked to go on; null when that message tells nothing of use
     */
    synchronized @Nullable SourceMark resume(Envelope newest) {
        if (newest.kind() != Envelope.Kind.BATCHES) {
            return null;
        }
        for (int i = 0; i < newest.count(); i++) {
            ring.seed(newest.process(), newest.first() + i, newest.batches().get(i));
        }
        process = newest.process();
        started = true;
        next = newest.next();
        last = SourceMark.fingerprint(newest.batches().getLast());
        storedProcess = process;
        storedNext = next;
        storedLast = last;
        return new SourceMark(source.dpRank(), source.ownSlot(), next, last, true, List.of());
    }

    @Override
    public synchronized Effect take(long sequence, byte[] payload) {
        long before = started && sequence == next ? last : 0;
        ring.add(process, sequence, before, millis.getAsLong(), payload);
        started = true;
        next = sequence + 1;
        last = SourceMark.fingerprint(payload);
        wake.run();
        return Effect.APPLIED;
    }

    @Override
    public synchronized void forget(boolean restarted) {
        // A hole shows in the numbers.
        if (restarted) {
            process = processes.getAsLong();
            started = false;
        }
    }

    /** Who reads the stream is told of another process: it must not call this one exact. */
    @Override
    public void unproven() {
        forget(true);
    }

    /** The process that speaks now. */
    synchronized long process() {
        return process;
    }

    /**
     * Sends what may be sent.
     *
     * @param maxPayload the server's limit
     * @return false when nothing was to be done
     */
    boolean send(JetStream stream, long maxPayload) {
        settle();
        if (failing) {
            return resend(stream);
        }
        boolean some = false;
        int most = (int) Math.min(MOST, Math.max(1024, maxPayload - HEADERS));
        while (unacknowledged.size() < WINDOW) {
            // Another process only when all of the one before is in: a reader forgets that.
            Sent newest = unacknowledged.peekLast();
            Envelope e = ring.take(most, newest == null ? null : newest.process);
            if (e == null) {
                break;
            }
            for (Sent s : messages(e, most)) {
                unacknowledged.add(s);
                publish(stream, s);
            }
            some = true;
        }
        return some;
    }

    private static List<Sent> messages(Envelope e, int most) {
        long last = SourceMark.fingerprint(e.batches().getLast());
        String id = HexFormat.of().toHexDigits(e.process()) + "-" + e.first() + "-" + e.next();
        byte[] data = e.encoded();
        if (data.length <= most) {
            return List.of(new Sent(id, data, e.process(), e.next(), last, e.count()));
        }
        List<Sent> out = new ArrayList<>();
        for (Envelope part : pieces(e, most)) {
            // Only with the last piece the batch is there.
            boolean whole = part.part() == part.parts() - 1;
            out.add(
                    new Sent(
                            id + "-" + part.part(),
                            part.encoded(),
                            e.process(),
                            whole ? e.next() : e.first(),
                            whole ? last : e.before(),
                            whole ? 1 : 0));
        }
        return out;
    }

    private static List<Envelope> pieces(Envelope e, int most) {
        return Envelope.parts(
                e.process(),
                e.first(),
                e.before(),
                e.millis(),
                e.batches().getFirst(),
                most - Envelope.HEADER);
    }

    /** What the ring has from a number on, as it goes over the wire. */
    List<byte[]> answer(long from, long maxPayload) {
        int most = (int) Math.min(MOST, Math.max(1024, maxPayload - HEADERS));
        long now = process();
        List<byte[]> out = new ArrayList<>();
        for (Envelope e : ring.from(now, from, most)) {
            byte[] data = e.encoded();
            if (data.length <= most) {
                out.add(data);
            } else {
                pieces(e, most).forEach(p -> out.add(p.encoded()));
            }
        }
        out.add(Envelope.end(now, out.size()).encoded());
        return out;
    }

    @SuppressWarnings("FutureReturnValueIgnored") // done() has every end of it
    private void publish(JetStream stream, Sent s) {
        s.fate = Fate.UNDER_WAY;
        try {
            stream.publishAsync(subject, new Headers().add("Nats-Msg-Id", s.id), s.data)
                    .whenComplete((ack, failure) -> done(s, ack, failure));
        } catch (IllegalStateException e) {
            done(s, null, e); // the connection is lost
        }
    }

    private void done(Sent s, @Nullable PublishAck ack, @Nullable Throwable failure) {
        if (failure == null && ack != null) {
            s.fate = Fate.STORED;
        } else {
            String why = failure == null ? "no answer" : String.valueOf(failure.getMessage());
            problem = why;
            failures.increment();
            s.fate = Fate.FAILED;
        }
        wake.run();
    }

    /** Looks at what has become of the messages. */
    private void settle() {
        for (Sent s = unacknowledged.peek();
                s != null && s.fate == Fate.STORED;
                s = unacknowledged.peek()) {
            unacknowledged.remove();
            if (!s.counted) {
                s.counted = true;
                s.storedAt = nanoTime.getAsLong();
                messages.increment();
                batches.add(s.batches);
                storedProcess = s.process;
                storedNext = s.next;
                storedLast = s.last;
            }
            doubt(s);
            pause = FIRST_PAUSE;
        }
        if (!failing && unacknowledged.stream().anyMatch(s -> s.fate == Fate.FAILED)) {
            failing = true;
            again = nanoTime.getAsLong() + pause;
            pause = Math.min(2 * pause, LONGEST_PAUSE);
        } else if (unacknowledged.isEmpty()) {
            problem = "";
        }
        owing &=
                !(unacknowledged.isEmpty() && ring.waiting() == 0)
                        && (storedProcess != owedProcess
                                || Long.compareUnsigned(storedNext, owedNext) < 0);
    }

    private void doubt(Sent s) {
        long now = nanoTime.getAsLong();
        doubtful.add(s);
        doubtfulBytes += s.data.length;
        for (Sent old = doubtful.peek();
                old != null
                        && (doubtful.size() > DOUBTFUL_MESSAGES
                                || doubtfulBytes > DOUBTFUL_BYTES
                                || now - old.storedAt > DOUBTFUL_NANOS);
                old = doubtful.peek()) {
            doubtful.remove();
            doubtfulBytes -= old.data.length;
        }
    }

    /**
     * The server was away, and may have been killed: it acknowledges before the disk has a message.
     * Those of the last while are sent again before anything new; what it has it knows by the id.
     */
    void serverCameBack() {
        synchronized (this) {
            owing = true;
            owedProcess = process;
            owedNext = next;
        }
        settle();
        long now = nanoTime.getAsLong();
        for (Sent s = doubtful.pollLast(); s != null; s = doubtful.pollLast()) {
            if (now - s.storedAt <= DOUBTFUL_NANOS) {
                s.fate = Fate.FAILED;
                unacknowledged.addFirst(s);
            }
        }
        doubtfulBytes = 0;
        if (!unacknowledged.isEmpty()) {
            failing = true;
            again = now;
        }
    }

    private boolean resend(JetStream stream) {
        boolean underWay = unacknowledged.stream().anyMatch(s -> s.fate == Fate.UNDER_WAY);
        if (underWay || nanoTime.getAsLong() - again < 0) {
            return false;
        }
        failing = false;
        for (Sent s : unacknowledged) {
            if (s.fate == Fate.FAILED) {
                publish(stream, s);
            }
        }
        return true;
    }

    /**
     * A sign of life: how far the stream has been written.
     *
     * @param engine whether the engine is connected
     */
    Envelope alive(boolean engine) {
        settle();
        boolean stuck = owing || !problem.isEmpty();
        return Envelope.alive(storedProcess, storedNext, storedLast, engine, stuck);
    }

    /** Nothing waits, and nothing is under way. Of the relay's thread. */
    boolean idle() {
        settle();
        return unacknowledged.isEmpty() && ring.waiting() == 0;
    }
}
