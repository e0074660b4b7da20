package io.warmpath.gateway.answer;

import io.vertx.core.MultiMap;
import io.warmpath.upstream.answer.AnswerScanner;
import io.warmpath.upstream.answer.StreamText;
import org.jspecify.annotations.Nullable;

/**
 * The bytes of one engine's answer on their way to the client: read along with, held back as far as
 * a stream needs it, and without the usage report that only the gateway has asked for. For each
 * piece: {@link #scan}, {@link #cutUsage}, then {@link #hold} while nothing may reach the client
 * yet, {@link #pass} later, {@link #end} for the last one. On the request's event loop.
 */
public final class AnswerPipe {
    /** What can be read along with of an answer. */
    public enum Kind {
        /** A stream of events. */
        EVENTS,
        JSON,
        OTHER;

        /** {@code passThrough}: its content is not looked at. */
        public static Kind of(int status, MultiMap headers, boolean passThrough) {
            String type = headers.get("content-type");
            if (status != 200
                    || passThrough
                    || type == null
                    || headers.contains("content-encoding")) {
                return OTHER;
            } else if (startsWithIgnoreCase(type, "text/event-stream")) {
                return EVENTS;
            }
            return startsWithIgnoreCase(type, "application/json") ? JSON : OTHER;
        }

        private static boolean startsWithIgnoreCase(String text, String prefix) {
            return text.regionMatches(true, 0, prefix, 0, prefix.length());
        }
    }

    private final Answer answer;
    private final @Nullable AnswerScanner scanner;
    private final @Nullable Holdback held;
    private final int holdBytes;
    private final boolean cutsUsage;
    private long cutBefore; // usage events that end here or earlier are out already

    /**
     * @param kept gets the text of a stream that may go on elsewhere
     * @param holdBytes of a stream that are held back before its first token
     * @param tailBytes of an unfinished event that are held back
     * @param cutsUsage the client does not get to see the usage report
     */
    public AnswerPipe(
            Answer answer,
            Kind kind,
            @Nullable StreamText kept,
            int holdBytes,
            int tailBytes,
            boolean cutsUsage) {
        this.answer = answer;
        this.scanner =
                switch (kind) {
                    case EVENTS -> AnswerScanner.ofEvents(kept);
                    case JSON -> AnswerScanner.ofJson();
                    case OTHER -> null;
                };
        this.held = kind == Kind.EVENTS ? new Holdback(tailBytes) : null;
        this.holdBytes = holdBytes;
        this.cutsUsage = cutsUsage;
    }

    /** It is a stream of events. */
    public boolean isStream() {
        return held != null;
    }

    /** What reads along; null: nothing does. */
    public @Nullable AnswerScanner scanner() {
        return scanner;
    }

    /**
     * Where it was computed, this was cached of the prompt.
     *
     * @param cachedTokens as of {@link AnswerScanner#foundElsewhere}
     */
    public void foundElsewhere(long cachedTokens) {
        if (scanner != null) {
            scanner.foundElsewhere(cachedTokens);
        }
    }

    /**
     * Looks at the bytes. Returns how many of them lie before the end of the last complete event.
     */
    public int scan(byte[] b, int from, int length) {
        return scanner == null ? length : scanner.scan(b, from, length);
    }

    /** Output has come: a stream's first token, or any byte of another answer. */
    public boolean hasOutput() {
        return held == null || (scanner != null && scanner.sawToken());
    }

    /**
     * Takes the usage report out of the stream, when these bytes, which have been scanned, end one.
     *
     * @param received of the engine's answer, these bytes among them
     * @return true when the bytes are held now, without it
     */
    public boolean cutUsage(byte[] b, int from, int length, int complete, long received) {
        AnswerScanner s = scanner;
        Holdback h = held;
        if (!cutsUsage || s == null || h == null || s.usageEnd() <= cutBefore) {
            return false;
        }
        h.hold(b, from, length, complete);
        long start = received - h.length(); // of what is held, in the engine's stream
        h.cut(s.usageStart() - start, s.usageEnd() - start);
        cutBefore = s.usageEnd();
        return true;
    }

    /**
     * Keeps the bytes back while the client may not see anything yet.
     *
     * @return false when it should see what there is: it shows what the client should not wait for,
     *     has become too long to be held, or is no stream
     */
    public boolean hold(byte[] b, int from, int length, int complete) {
        Holdback h = held;
        if (h == null
                || (scanner != null && scanner.sawAnything())
                || h.length() + length > holdBytes) {
            return false;
        }
        h.hold(b, from, length, complete);
        return true;
    }

    /** Passes on what is complete. */
    public void pass(byte[] b, int from, int length, int complete) {
        if (held == null) {
            answer.write(b, from, length);
        } else {
            held.pass(b, from, length, complete, answer::write);
        }
    }

    /** Passes on the last bytes, maybe none, with all that is held. */
    public void end(byte[] b, int from, int length) {
        if (held == null) {
            answer.end(b, from, length);
        } else {
            held.end(b, from, length, answer::end);
        }
    }

    /** All that has been passed on of a stream ends between two events. */
    public boolean isClean() {
        return held != null && held.isClean();
    }

    /** The answer's end has been passed on, but for usage and {@code [DONE]}. */
    public boolean finished() {
        return scanner != null && scanner.finished();
    }

    /** Only the end of the HTTP message is missing. */
    public boolean done() {
        return scanner != null && scanner.done();
    }

    /** Events of a stream so far. */
    public int events() {
        return scanner == null ? 0 : scanner.events();
    }
}
