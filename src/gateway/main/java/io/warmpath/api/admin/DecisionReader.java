package io.warmpath.api.admin;

import io.vertx.core.buffer.Buffer;
import io.vertx.core.http.HttpServerResponse;
import io.warmpath.gateway.observe.DecisionFeed.Change;
import java.nio.charset.StandardCharsets;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.SequencedSet;
import java.util.function.IntFunction;

/**
 * One reader of the stream of decisions. It is sent whole events as long as it takes them, and none
 * while it does not: nothing waits for it but what its connection has taken already. One thread at
 * a time.
 */
final class DecisionReader {
    /** Rows in one event. */
    static final int MOST_ROWS = 50;

    /** Decisions whose end is still to be told; ends of older ones come as there is room. */
    private static final int MOST_OPEN = 4096;

    private static final byte[] ROWS = utf8("event: decisions\ndata: {\"rows\":[");
    private static final byte[] COMMENT = utf8(":\n\n");

    final HttpServerResponse response;
    private final DecisionFilter filter;
    private final SequencedSet<Long> open = new LinkedHashSet<>();
    private long skipped;
    private int full;
    private int turns;

    DecisionReader(HttpServerResponse response, DecisionFilter filter) {
        this.response = response;
        this.filter = filter;
    }

    /** It is there. */
    void greet(byte[] hello) {
        response.putHeader("content-type", "text/event-stream");
        response.putHeader("cache-control", "no-cache");
        response.putHeader("x-accel-buffering", "no"); // as proxies would
        response.setChunked(true);
        response.write(
                Buffer.buffer("event: hello\ndata: ").appendBytes(hello).appendString("\n\n"));
    }

    /**
     * Sends what it wants of this.
     *
     * @param missed changes that nobody knows any more
     * @param rows the row of a change, encoded
     * @param commentTurns after so many turns it is sent a comment
     * @return turns for which it has taken nothing, one after the other
     */
    int send(List<Change> changes, long missed, IntFunction<byte[]> rows, int commentTurns) {
        boolean[] wanted = new boolean[changes.size()];
        int count = 0;
        for (int i = 0; i < wanted.length; i++) {
            Change change = changes.get(i);
            wanted[i] = filter.fits(change.decision(), change.end());
            count += wanted[i] ? 1 : 0;
        }
        skipped += missed;
        if (response.writeQueueFull()) {
            skipped += count;
            return ++full;
        }
        full = 0;
        if (count > 0 || skipped > 0) {
            write(changes, wanted, count, rows);
        }
        turns = (turns + 1) % commentTurns;
        if (turns == 0) {
            response.write(Buffer.buffer(COMMENT));
        }
        return 0;
    }

    private void write(
            List<Change> changes, boolean[] wanted, int count, IntFunction<byte[]> rows) {
        boolean[] sent = count > MOST_ROWS ? chosen(changes, wanted) : wanted;
        Buffer event = Buffer.buffer(1024).appendBytes(ROWS);
        int rowsSent = 0;
        for (int i = 0; i < sent.length; i++) {
            if (sent[i]) {
                if (rowsSent++ > 0) {
                    event.appendByte((byte) ',');
                }
                event.appendBytes(rows.apply(i));
                remember(changes.get(i));
            }
        }
        event.appendString("],\"skipped\":" + (skipped + count - rowsSent) + "}\n\n");
        skipped = 0;
        response.write(event);
    }

    /** Ends of what it has been shown come first, so that it sees few rows that never end. */
    private boolean[] chosen(List<Change> changes, boolean[] wanted) {
        boolean[] chosen = new boolean[wanted.length];
        int left = MOST_ROWS;
        for (int i = 0; i < wanted.length && left > 0; i++) {
            Change change = changes.get(i);
            if (wanted[i] && change.end() != null && open.contains(change.decision().number())) {
                chosen[i] = true;
                left--;
            }
        }
        for (int i = 0; i < wanted.length && left > 0; i++) {
            if (wanted[i] && !chosen[i]) {
                chosen[i] = true;
                left--;
            }
        }
        return chosen;
    }

    private void remember(Change change) {
        long number = change.decision().number();
        if (change.end() != null) {
            open.remove(number);
            return;
        }
        if (open.size() == MOST_OPEN) {
            open.removeFirst();
        }
        open.add(number);
    }

    private static byte[] utf8(String text) {
        return text.getBytes(StandardCharsets.UTF_8);
    }
}
