package io.warmpath.gateway.flow;

/**
 * Where one attempt stands. {@link Attempt} moves it, by this table alone:
 *
 * <pre>
 * state     event                             next      what happens
 * READY     its session is ready, if any      SENT      load is booked, the worker is asked
 * READY     the request is over               CLOSED    nothing was booked
 * SENT      head of an answer                 HOLDING   its bytes are kept until the first token
 * SENT      head of the rest of a stream      PASSING   the client has the stream's beginning
 * HOLDING   first token, end, or all that     PASSING   the head goes to the client, and what was
 *           may be kept is there                        kept
 * SENT,     another attempt goes on, or the   DETACHED  the load is freed; what still comes is
 * HOLDING,  client has gone                             thrown away
 * PASSING
 * SENT,     the worker has answered or failed CLOSED    the load is freed, the fleet learns of it
 * HOLDING,
 * PASSING
 * DETACHED  the worker has answered or failed CLOSED
 * </pre>
 *
 * A failure before {@code PASSING} may be answered by another attempt.
 */
enum AttemptState {
    READY,
    SENT,
    /** The answer is read; nothing of it has reached the client. */
    HOLDING,
    PASSING,
    DETACHED,
    CLOSED;

    /** Whether the table has it. */
    boolean mayBecome(AttemptState next) {
        return switch (this) {
            case READY -> next == SENT || next == CLOSED;
            case SENT -> next != READY && next != SENT;
            case HOLDING -> next == PASSING || next == DETACHED || next == CLOSED;
            case PASSING -> next == DETACHED || next == CLOSED;
            case DETACHED -> next == CLOSED;
            case CLOSED -> false;
        };
    }

    /** What comes of the answer is for the client. */
    boolean isRead() {
        return this == HOLDING || this == PASSING;
    }

    /** What still comes is thrown away. */
    boolean isOver() {
        return this == DETACHED || this == CLOSED;
    }
}
