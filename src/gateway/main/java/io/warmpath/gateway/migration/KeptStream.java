package io.warmpath.gateway.migration;

import io.warmpath.upstream.answer.StreamText;

/**
 * What is kept of one request so that it can be gone on with elsewhere: the room for its body, and
 * what was answered. On the request's event loop.
 */
public final class KeptStream {
    private final Migration migration;
    private final StreamText text = new StreamText(this::take);
    private int taken;
    private int moves;

    KeptStream(Migration migration, int bytes) {
        this.migration = migration;
        this.taken = bytes;
    }

    /** What has been passed on, from all workers. */
    public StreamText text() {
        return text;
    }

    /** How often it has been moved. */
    public int moves() {
        return moves;
    }

    /** It is moved once more. */
    public void moved() {
        moves++;
    }

    /** It never reached the worker it was moved to. */
    public void notMoved() {
        moves--;
    }

    /** The request is over. */
    public void free() {
        migration.give(taken);
        taken = 0;
    }

    private boolean take(int bytes) {
        if (taken + bytes > migration.options().maxBytes() || !migration.take(bytes)) {
            return false;
        }
        taken += bytes;
        return true;
    }
}
