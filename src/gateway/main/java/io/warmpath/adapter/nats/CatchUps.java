package io.warmpath.adapter.nats;

import io.nats.client.Connection;
import io.nats.client.JetStreamApiException;
import java.io.IOException;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;

/**
 * Sources that were subscribed to later, or are not as far as the rest: each reads the stream for
 * itself, by its subject, until it has come as far as the common reader. One thread.
 */
final class CatchUps {
    /** Sources that read for themselves at once. */
    private static final int MOST = 8;

    private static final int NOT_FOUND = 404;

    /** Takes a message of a source; its number in the stream. */
    interface Taker {
        void take(NatsSource source, long sequence, byte[] data);
    }

    /** One that reads, to the newest message it has in the stream. */
    private record CatchUp(NatsSource source, StreamReader reader, long until) {}

    private final NatsNames names;
    private final int burst;
    private final List<CatchUp> running = new ArrayList<>();

    /** {@code burst}: messages read of each at a step. */
    CatchUps(NatsNames names, int burst) {
        this.names = names;
        this.burst = burst;
    }

    boolean isEmpty() {
        return running.isEmpty();
    }

    /** Reads a little of each that is behind. */
    void step(Connection c, Collection<NatsSource> sources, Taker taker)
            throws IOException, JetStreamApiException, InterruptedException {
        for (NatsSource s : sources) {
            if (running.size() >= MOST) {
                break;
            }
            if (s.catchingUp && running.stream().noneMatch(u -> u.source == s)) {
                begin(c, s);
            }
        }
        for (CatchUp u : List.copyOf(running)) {
            u.reader.read(burst, 1, (subject, at, data) -> taker.take(u.source, at, data));
            if (u.source.position() >= Math.max(u.until, u.source.passed)) {
                u.reader.close();
                running.remove(u);
                u.source.joined();
            }
        }
    }

    private void begin(Connection c, NatsSource s) throws IOException, JetStreamApiException {
        String subject = names.events(s.source().workerId(), s.source().dpRank());
        long until;
        try {
            until = c.jetStreamManagement().getLastMessage(names.stream(), subject).getSeq();
        } catch (JetStreamApiException e) {
            if (e.getErrorCode() != NOT_FOUND) {
                throw e;
            }
            until = 0;
        }
        if (s.position() >= Math.max(until, s.passed)) {
            s.joined();
            return;
        }
        running.add(
                new CatchUp(s, StreamReader.of(c, names.stream(), subject, s.position()), until));
    }

    /** It reads no more. */
    void drop(NatsSource gone) {
        for (CatchUp u : List.copyOf(running)) {
            if (u.source == gone) {
                u.reader.close();
                running.remove(u);
            }
        }
    }

    void closeAll() {
        running.forEach(u -> u.reader.close());
        running.clear();
    }
}
