package io.warmpath.api.admin;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.vertx.core.Vertx;
import io.vertx.core.http.HttpServerResponse;
import io.warmpath.fault.GatewayError;
import io.warmpath.fault.GatewayException;
import io.warmpath.gateway.observe.DecisionFeed;
import io.warmpath.gateway.observe.DecisionFeed.Change;
import java.io.UncheckedIOException;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import org.jspecify.annotations.Nullable;

/**
 * Those who read the decisions as they are made. A few times a second what has come is told to all
 * of them, from one thread of the pool for such work; each row is encoded once, if anybody wants
 * it. Without readers there is no timer, and nothing is collected. Any thread.
 */
public final class DecisionStream implements AutoCloseable {
    /** Readers at the same time. */
    static final int MOST_READERS = 64;

    private static final ObjectMapper JSON = new ObjectMapper();
    private static final long PERIOD_MILLIS = 250;
    private static final int TURNS_PER_COMMENT = 60;

    /** A minute without taking anything. */
    private static final int MOST_FULL_TURNS = 240;

    private final Vertx vertx;
    private final DecisionFeed feed;
    private final byte[] hello;
    private final List<DecisionReader> readers = new CopyOnWriteArrayList<>();
    private long timer = -1;
    private boolean closed;

    /** Its turns are taken one after the other, by whichever thread. */
    private final Object turn = new Object();

    public DecisionStream(Vertx vertx, DecisionFeed feed, GatewayInstance instance) {
        this.vertx = vertx;
        this.feed = feed;
        this.hello = json(instance);
    }

    /**
     * One more reader, who gets the head of the answer now.
     *
     * @throws GatewayException there are too many, or the gateway stops
     */
    synchronized void open(HttpServerResponse response, DecisionFilter filter) {
        if (closed) {
            throw new GatewayException(new GatewayError.Stopping());
        }
        if (readers.size() >= MOST_READERS) {
            throw new GatewayException(new GatewayError.TooManyStreams(MOST_READERS));
        }
        DecisionReader reader = new DecisionReader(response, filter);
        reader.greet(hello);
        readers.add(reader);
        if (timer < 0) {
            feed.follow(true);
            timer = vertx.setPeriodic(PERIOD_MILLIS, id -> vertx.executeBlocking(this::turn, true));
        }
    }

    /** Those who read now. */
    public int readers() {
        return readers.size();
    }

    /** The connection is gone. Harmless when it was left before. */
    synchronized void left(HttpServerResponse response) {
        readers.removeIf(reader -> reader.response == response);
        if (readers.isEmpty()) {
            stop();
        }
    }

    private void stop() {
        if (timer >= 0) {
            vertx.cancelTimer(timer);
            timer = -1;
            feed.follow(false);
        }
    }

    private @Nullable Void turn() {
        synchronized (turn) {
            List<Change> changes = new ArrayList<>();
            long missed = feed.drainTo(changes);
            byte[][] rows = new byte[changes.size()][];
            for (DecisionReader reader : readers) {
                HttpServerResponse response = reader.response;
                if (response.closed() || response.ended()) {
                    left(response);
                } else if (reader.send(
                                changes, missed, i -> row(rows, changes, i), TURNS_PER_COMMENT)
                        >= MOST_FULL_TURNS) {
                    response.reset();
                    left(response);
                }
            }
            return null;
        }
    }

    private static byte[] row(byte[][] rows, List<Change> changes, int i) {
        byte[] known = rows[i];
        if (known == null) {
            Change change = changes.get(i);
            known = json(DecisionRow.of(change.decision(), change.end(), false));
            rows[i] = known;
        }
        return known;
    }

    private static byte[] json(Object value) {
        try {
            return JSON.writeValueAsBytes(value);
        } catch (JsonProcessingException e) {
            throw new UncheckedIOException(e); // a record of numbers and texts
        }
    }

    /** Ends all streams; nobody can open another one. */
    @Override
    public void close() {
        List<DecisionReader> last;
        synchronized (this) {
            closed = true;
            last = List.copyOf(readers);
            readers.clear();
            stop();
        }
        for (DecisionReader reader : last) {
            reader.response.end();
        }
    }
}
