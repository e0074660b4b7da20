package io.warmpath.api.inference;

import static io.warmpath.api.json.EventBytes.joined;

import io.vertx.core.MultiMap;
import io.warmpath.api.json.EventBytes;
import io.warmpath.fault.GatewayError;
import io.warmpath.gateway.answer.Answer;
import io.warmpath.gateway.answer.AnswerFacts;
import io.warmpath.gateway.answer.StreamMove;
import io.warmpath.routing.RoutingDecision;
import java.io.ByteArrayOutputStream;
import java.util.Arrays;
import java.util.function.IntPredicate;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * {@link Answer} that says more than the engine does: what its {@link NvextNote} holds becomes the
 * {@code nvext} of a stream's last chunk or of a body, and events in front of and behind the
 * stream.
 *
 * <p>Events are passed on as they are until one says that a choice has finished; from there on one
 * event is kept back, because only the next one tells whether it was the last. A stream without
 * such an event, and one whose last chunk has an {@code nvext} of its own, stays as it is. A body
 * is gathered whole. For requests that ask for it only: it copies. On the request's event loop.
 */
final class ExplainedAnswer implements Answer {
    private static final String EVENT_STREAM = "text/event-stream";
    private static final byte[] NOTHING = {};

    /** More than any model says in one answer; what is longer is passed on as it is. */
    private static final int MAX_BODY = 64 << 20;

    /** Of events that wait for their end, or for that of the stream; then all is passed on. */
    private static final int MAX_WAITING = 1 << 20;

    private enum Kind {
        AS_IT_IS,
        STREAM,
        BODY
    }

    private final Answer next;
    private final NvextNote note;
    private final ByteArrayOutputStream whole = new ByteArrayOutputStream(0);
    private Kind kind = Kind.AS_IT_IS;
    private boolean begun; // of a stream: what stands in front of it is out
    private byte[] unread = NOTHING; // an event's beginning
    private byte[] kept = NOTHING; // the last chunk, when a choice has finished
    private byte[] behind = NOTHING; // comments that came after it
    private final IntPredicate room;
    private boolean finishing;
    private boolean done; // what stands behind a stream's last chunk is out

    /** {@code room}: whether there is memory for so many bytes more of a body. */
    ExplainedAnswer(Answer next, NvextNote note, IntPredicate room) {
        this.room = room;
        this.next = next;
        this.note = note;
    }

    @Override
    public void explain(RoutingDecision decision) {
        note.explain(decision);
    }

    @Override
    public void moved(StreamMove move) {
        note.moved(move);
    }

    @Override
    public void facts(Supplier<AnswerFacts> now) {
        note.facts(now);
    }

    @Override
    public void head(int status, MultiMap engine, @Nullable MultiMap own, boolean keepLength) {
        String type = engine.get("content-type");
        if (type != null && type.regionMatches(true, 0, EVENT_STREAM, 0, EVENT_STREAM.length())) {
            kind = Kind.STREAM; // what there is to say may be known only when its head is out
        } else if (note.isWanted()) {
            kind = Kind.BODY;
        }
        next.head(status, engine, own, keepLength && kind != Kind.BODY);
    }

    @Override
    public void write(byte[] b, int from, int length) {
        switch (kind) {
            case AS_IT_IS -> next.write(b, from, length);
            case STREAM -> {
                byte[] out = take(b, from, length);
                if (unread.length + behind.length > MAX_WAITING) {
                    kind = Kind.AS_IT_IS;
                    out = joined(out, explained(), behind, unread);
                }
                next.write(out, 0, out.length);
            }
            case BODY -> {
                whole.write(b, from, length);
                if (whole.size() > MAX_BODY || !room.test(length)) {
                    kind = Kind.AS_IT_IS;
                    next.write(whole.toByteArray(), 0, whole.size());
                    whole.reset();
                }
            }
        }
    }

    @Override
    public void end(byte[] b, int from, int length) {
        switch (kind) {
            case AS_IT_IS -> next.end(b, from, length);
            case STREAM -> {
                byte[] out = joined(take(b, from, length), explained(), behind, last(), unread);
                next.end(out, 0, out.length);
            }
            case BODY -> {
                whole.write(b, from, length);
                byte[] out = EventBytes.withMember(whole.toByteArray(), note.member());
                next.end(out, 0, out.length);
            }
        }
    }

    /** What can be passed on now that these bytes are there, too. */
    private byte[] take(byte[] b, int from, int length) {
        byte[] all = joined(unread, Arrays.copyOfRange(b, from, from + length));
        byte[] out = begun ? NOTHING : note.first();
        begun = true;
        int start = 0;
        for (int end = EventBytes.eventEnd(all, 0);
                end > 0;
                end = EventBytes.eventEnd(all, start)) {
            byte[] event = Arrays.copyOfRange(all, start, end);
            start = end;
            finishing |= EventBytes.saysFinished(event);
            if (EventBytes.isDone(event)) {
                out = joined(out, explained(), behind, last(), event);
                kept = NOTHING;
                behind = NOTHING;
            } else if (!finishing) {
                out = joined(out, event);
            } else if (EventBytes.isChunk(event)) {
                out = joined(out, kept, behind);
                kept = event;
                behind = NOTHING;
            } else {
                behind = joined(behind, event);
            }
        }
        unread = Arrays.copyOfRange(all, start, all.length);
        return out;
    }

    /** The event that is kept, with the note in it. */
    private byte[] explained() {
        return kept.length == 0 ? kept : EventBytes.withMember(kept, note.member());
    }

    private byte[] last() {
        byte[] last = done ? NOTHING : note.last();
        done = true;
        return last;
    }

    @Override
    public void onInputEnd(Runnable action) {
        next.onInputEnd(action);
    }

    @Override
    public void keepAlive() {
        next.keepAlive();
    }

    @Override
    public void fail(GatewayError error) {
        next.fail(error);
    }

    @Override
    public void endWithErrorEvent(GatewayError error) {
        byte[] rest = joined(begun ? NOTHING : note.first(), kept, behind);
        next.write(rest, 0, rest.length);
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
    public void onDrain(Runnable action) {
        next.onDrain(action);
    }
}
