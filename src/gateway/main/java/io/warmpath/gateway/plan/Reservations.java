package io.warmpath.gateway.plan;

import io.vertx.core.Vertx;
import io.warmpath.admission.Admission;
import io.warmpath.fault.GatewayError;
import io.warmpath.fault.GatewayException;
import io.warmpath.load.LoadBook;
import io.warmpath.load.PromptBlocks;
import io.warmpath.routing.RoutingDecision;
import io.warmpath.routing.rates.Sent;
import java.time.Duration;
import java.util.OptionalDouble;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentMap;
import java.util.concurrent.TimeUnit;
import java.util.function.LongSupplier;

/**
 * Bookings by name, for callers who send their requests themselves. A reservation ends when it is
 * released, or when nothing has been heard of it for its time to live. Any thread; constant time
 * each. At most {@link #LIMIT} are open. Nothing is learnt from them: when a caller tells of a
 * first token says as much of the caller as of the worker.
 */
public final class Reservations {
    /** Enough for any real caller; keeps a broken one from filling the memory. */
    static final int LIMIT = 65_536;

    /** How often a reservation says of its booking that it is still wanted. */
    private static final int LOOKS_PER_EXPIRY = 4;

    private final class Reservation {
        final String id;
        final LoadBook.Booking booking;
        final Sent sent;
        final int blockSize;
        final long lifeNanos;
        volatile long until;
        private int outputTokens;

        Reservation(String id, LoadBook.Booking booking, Sent sent, int blockSize, long lifeNanos) {
            this.id = id;
            this.booking = booking;
            this.sent = sent;
            this.blockSize = Math.max(1, blockSize);
            this.lifeNanos = lifeNanos;
            heard();
        }

        void heard() {
            until = nanoTime.getAsLong() + lifeNanos;
        }

        /** Renews its booking, which would expire by itself. */
        synchronized void keep() {
            booking.progress(outputTokens);
        }

        synchronized void outputBlock(OptionalDouble weight) {
            outputTokens = (int) Math.min(Integer.MAX_VALUE, (long) outputTokens + blockSize);
            booking.firstToken();
            if (weight.isPresent()) {
                booking.progress(outputTokens, weight.getAsDouble());
            } else {
                booking.progress(outputTokens);
            }
        }

        void close() {
            booking.close();
            sent.ended(-1);
            admission.wake();
        }
    }

    private final Planner planner;
    private final LoadBook load;
    private final Admission admission;
    private final LongSupplier nanoTime;
    private final ConcurrentMap<String, Reservation> open = new ConcurrentHashMap<>();

    Reservations(Planner planner, LoadBook load, Admission admission, LongSupplier nanoTime) {
        this.planner = planner;
        this.load = load;
        this.admission = admission;
        this.nanoTime = nanoTime;
    }

    /** Before anything is decided; {@link #open} asks again. */
    void refuseIfTaken(String id) {
        if (open.containsKey(id)) {
            throw new GatewayException(new GatewayError.ReservationExists(id));
        }
        if (open.size() >= LIMIT) {
            throw new GatewayException(new GatewayError.TooManyReservations(LIMIT));
        }
    }

    /**
     * @param expectedOutput tokens of the answer; 0 when not known
     * @throws GatewayException when the id is taken
     */
    void open(
            Vertx vertx,
            String id,
            RoutingDecision decision,
            PromptBlocks prompt,
            int expectedOutput,
            Duration timeToLive) {
        refuseIfTaken(id);
        LoadBook.Booking booking =
                load.book(
                        decision.chosen().candidate().slot(),
                        decision.chosen().prefillTokens(),
                        prompt,
                        expectedOutput);
        Reservation mine =
                new Reservation(
                        id,
                        booking,
                        planner.sent(decision, false),
                        prompt.blockSize(),
                        timeToLive.toNanos());
        if (open.putIfAbsent(id, mine) != null) {
            mine.close();
            throw new GatewayException(new GatewayError.ReservationExists(id));
        }
        expireLater(vertx, mine, mine.lifeNanos);
    }

    /** The first token has come. */
    public void prefillComplete(String id) {
        Reservation r = find(id);
        r.heard();
        r.booking.firstToken();
        r.sent.prefilled();
        admission.wake();
    }

    /**
     * The answer has grown by another block of tokens.
     *
     * @param weight what the blocks count from now on that only this request uses, from 0 to 1;
     *     empty: as the expected length of the answer says
     */
    public void outputBlock(String id, OptionalDouble weight) {
        Reservation r = find(id);
        r.heard();
        r.outputBlock(weight);
        admission.wake();
    }

    /** The request has left its worker. */
    public void release(String id) {
        Reservation r = open.remove(id);
        if (r == null) {
            throw new GatewayException(new GatewayError.NoSuchReservation(id));
        }
        r.close();
    }

    private Reservation find(String id) {
        Reservation r = open.get(id);
        if (r == null) {
            throw new GatewayException(new GatewayError.NoSuchReservation(id));
        }
        return r;
    }

    private void expireLater(Vertx vertx, Reservation r, long nanos) {
        long expiry = load.expiry().toNanos() / LOOKS_PER_EXPIRY;
        vertx.setTimer(
                Math.max(1, TimeUnit.NANOSECONDS.toMillis(Math.min(nanos, expiry))),
                t -> {
                    if (open.get(r.id) != r) {
                        return; // released; another one may have the id by now
                    }
                    long left = r.until - nanoTime.getAsLong();
                    if (left > 0) {
                        r.keep();
                        expireLater(vertx, r, left);
                    } else if (open.remove(r.id, r)) {
                        r.close();
                    }
                });
    }
}
