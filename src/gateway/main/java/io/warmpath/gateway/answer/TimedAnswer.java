package io.warmpath.gateway.answer;

import io.vertx.core.Context;
import io.vertx.core.MultiMap;
import io.warmpath.fault.GatewayError;
import io.warmpath.gateway.request.ClientBounds;
import io.warmpath.gateway.request.InferenceRequest;
import io.warmpath.net.Deadlines;
import io.warmpath.net.LoopDeadlines;
import io.warmpath.routing.RoutingDecision;
import java.time.Duration;
import java.util.function.LongSupplier;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * {@link Answer} whose client is never left in silence for long: a stream with nothing to say says
 * that it is alive, between two events. Also ends what takes longer than any request may. A stream
 * that has not begun is begun for it with a head of our own; the engine's head is then no longer
 * needed, and an answer that is no stream becomes an error event. Another worker may still be
 * asked. One per request, on its event loop; a write moves one deadline.
 */
public final class TimedAnswer extends Deadlines.Entry implements Answer {
    /** Whose answer it is. */
    public interface Owner {
        /** Runs the step on the request's event loop. */
        void later(Runnable step);

        /** It has taken longer than any request may: ends it. */
        void overtime(Duration limit);
    }

    /** What is done about time; shared by all requests. */
    public static final class Times {
        private final @Nullable LoopDeadlines deadlines;
        private final long keepAliveNanos; // 0: never
        private final Duration timeout;
        private final LongSupplier nanoTime;

        public Times(ClientBounds bounds, LongSupplier nanoTime) {
            this.keepAliveNanos = bounds.keepAlive().toNanos();
            this.timeout = bounds.requestTimeout();
            this.nanoTime = nanoTime;
            Duration shortest =
                    keepAliveNanos == 0
                                    || (!timeout.isZero()
                                            && timeout.compareTo(bounds.keepAlive()) < 0)
                            ? timeout
                            : bounds.keepAlive();
            this.deadlines = shortest.isZero() ? null : new LoopDeadlines(shortest, nanoTime);
        }
    }

    /** How far the answer has come, as its client sees it. */
    private enum Stage {
        SILENT,
        /** The head of a stream is out, made here; nothing of an engine's answer is. */
        ALIVE,
        /** A stream of events has begun. */
        EVENTS,
        /** A refusal of which the client, who reads a stream, will get an event. */
        REFUSAL,
        /** Something else than a stream has begun: nothing can be put into it. */
        OTHER
    }

    private static final int MAX_REFUSAL = 16 << 10;

    private final Answer next;
    private final Owner owner;
    private final Times times;
    private final @Nullable Deadlines deadlines;
    private final boolean mayBegin;
    private final long end;
    private Stage stage = Stage.SILENT;
    private int tail = ('\n' << 8) | '\n'; // the last three bytes that were written
    private @Nullable EngineRefusal refusal;
    private boolean settled;

    /** {@code started}: of {@code times}' clock. */
    public TimedAnswer(
            Answer next,
            Owner owner,
            InferenceRequest request,
            Context context,
            Times times,
            long started) {
        this.next = next;
        this.owner = owner;
        this.times = times;
        this.mayBegin = request.stream() && !request.passThrough();
        this.end = started + times.timeout.toNanos();
        this.deadlines = times.deadlines == null ? null : times.deadlines.of(context);
        due(started);
        if (deadlines != null) {
            deadlines.add(this);
            next.onInputEnd(this::inputEnded);
        }
    }

    /** Its client may have left: a stream shows. */
    private void inputEnded() {
        if (!settled && (stage == Stage.ALIVE || stage == Stage.EVENTS)) {
            keepAlive();
        }
    }

    /** No sign of life is due before this time has passed since {@code now}. */
    private void due(long now) {
        boolean speaks = times.keepAliveNanos > 0 && (mayBegin || stage == Stage.EVENTS);
        boolean ends = !times.timeout.isZero();
        long left = end - now;
        long never = Long.MAX_VALUE / 2;
        long speech = speaks ? times.keepAliveNanos : never;
        deadline(now, ends ? Math.min(speech, left) : speech);
    }

    /** The request is over; what is still written is its end. */
    public void settled() {
        settled = true;
        if (deadlines != null) {
            deadlines.remove(this);
        }
    }

    @Override
    protected void expired() {
        owner.later(this::late);
    }

    private void late() {
        if (settled || deadlines == null) {
            return;
        }
        long now = times.nanoTime.getAsLong();
        if (!times.timeout.isZero() && now - end >= 0) {
            owner.overtime(times.timeout);
            return;
        }
        keepAlive();
        due(now);
        if (!settled) { // a client that has gone shows while it is written to
            deadlines.add(this);
        }
    }

    @Override
    public void keepAlive() {
        if (stage == Stage.SILENT && mayBegin) {
            stage = Stage.ALIVE;
            MultiMap head = MultiMap.caseInsensitiveMultiMap();
            head.add("content-type", "text/event-stream").add("cache-control", "no-cache");
            next.head(200, head, null, false);
        }
        if ((stage == Stage.ALIVE || stage == Stage.EVENTS) && isBetweenEvents() && !isFull()) {
            next.keepAlive();
        }
    }

    /** Ends the answer in whatever way its client can still understand. */
    public void cutOff(GatewayError error) {
        switch (stage) {
            case SILENT -> next.fail(error);
            case ALIVE, REFUSAL -> next.endWithErrorEvent(error);
            case EVENTS -> {
                // A full answer means that the client has stopped reading; it would not see it.
                if (isBetweenEvents() && !isFull()) {
                    next.endWithErrorEvent(error);
                } else {
                    next.reset();
                }
            }
            case OTHER -> next.reset();
        }
    }

    @Override
    public void explain(RoutingDecision decision) {
        next.explain(decision);
    }

    @Override
    public void moved(StreamMove move) {
        next.moved(move);
    }

    @Override
    public void facts(Supplier<AnswerFacts> now) {
        next.facts(now);
    }

    @Override
    public void head(int status, MultiMap engine, @Nullable MultiMap own, boolean keepLength) {
        String type = engine.get("content-type");
        boolean events =
                status == 200
                        && type != null
                        && type.regionMatches(true, 0, "text/event-stream", 0, 17)
                        && !engine.contains("content-encoding");
        if (stage != Stage.ALIVE) {
            stage = events ? Stage.EVENTS : Stage.OTHER;
            next.head(status, engine, own, keepLength);
        } else if (events) {
            stage = Stage.EVENTS; // a head is out
        } else {
            stage = Stage.REFUSAL;
            refusal = new EngineRefusal(status, MAX_REFUSAL);
        }
    }

    @Override
    public void write(byte[] b, int from, int length) {
        EngineRefusal refused = refusal;
        if (refused != null) {
            refused.add(b, from, length);
            return;
        }
        if (deadlines != null && stage == Stage.EVENTS && length > 0) {
            for (int i = Math.max(from, from + length - 3); i < from + length; i++) {
                tail = ((tail << 8) | (b[i] & 0xff)) & 0xffffff;
            }
            due(times.nanoTime.getAsLong());
        }
        next.write(b, from, length);
    }

    /**
     * What has been written ends with a blank line. A line may end in CRLF whose LF is still to
     * come.
     */
    private boolean isBetweenEvents() {
        int last = tail & 0xff;
        int before = (tail >> 8) & 0xff;
        int third = tail >> 16;
        return last == '\r'
                ? before == '\n' || before == '\r'
                : last == '\n'
                        && (before == '\n' || (before == '\r' && (third == '\n' || third == '\r')));
    }

    @Override
    public void end(byte[] b, int from, int length) {
        EngineRefusal refused = refusal;
        if (refused == null) {
            next.end(b, from, length);
        } else {
            refused.add(b, from, length);
            next.endWithErrorEvent(refused.error());
        }
    }

    @Override
    public void fail(GatewayError error) {
        if (stage == Stage.SILENT) {
            next.fail(error);
        } else {
            next.endWithErrorEvent(error);
        }
    }

    @Override
    public void endWithErrorEvent(GatewayError error) {
        next.endWithErrorEvent(error);
    }

    @Override
    public void reset() {
        next.reset();
    }

    @Override
    public boolean isFull() {
        return next.isFull();
    }

    @Override
    public void onInputEnd(Runnable action) {
        next.onInputEnd(action);
    }

    @Override
    public void onDrain(Runnable action) {
        next.onDrain(action);
    }
}
