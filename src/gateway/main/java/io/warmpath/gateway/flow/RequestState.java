package io.warmpath.gateway.flow;

/**
 * Where one request stands. {@link Exchange} moves it, by this table alone:
 *
 * <pre>
 * state      event                          next       what happens
 * ARRIVED    its model is served            TOKENISING tokens are made, pools are asked
 * TOKENISING the prompt is known, or not    QUEUED     it enters; at once where the queue is empty
 * QUEUED     it may start                   ASKED      decided, booked, sent to a worker
 * ASKED      the worker failed, others left ASKED      decided again without it, sent once more
 * ASKED      its first token is late        ASKED      a second worker is asked beside the first
 * ASKED      no worker could be reached     PAUSED     a moment passes, once
 * ASKED      all queues are full            PAUSED     a moment passes, then it waits for room
 * PAUSED     the moment is over             QUEUED     all workers may be asked again
 * ASKED      first token, or whole answer   ANSWERING  it is passed on; the loser beside is stopped
 * ANSWERING  the worker failed its stream   MOVING     what was said is counted, a place is looked for
 * MOVING     a place is found               ANSWERING  it goes on there
 * any        end, refusal, client gone,     OVER       the books are closed, exactly once
 *            time-out, a bug
 * </pre>
 *
 * Nothing leaves {@code OVER}; what still comes then (tokens, a second cancel) is ignored.
 */
enum RequestState {
    ARRIVED,
    TOKENISING,
    QUEUED,
    /** One worker, or two, have it; nothing of an answer has reached the client. */
    ASKED,
    PAUSED,
    /** The client has a part of the answer. */
    ANSWERING,
    MOVING,
    OVER;

    /** Whether the table has it. */
    boolean mayBecome(RequestState next) {
        return switch (this) {
            case ARRIVED -> next == TOKENISING || next == OVER;
            case TOKENISING, PAUSED -> next == QUEUED || next == OVER;
            case QUEUED -> next == ASKED || next == OVER;
            case ASKED -> next == ASKED || next == PAUSED || next == ANSWERING || next == OVER;
            case ANSWERING -> next == MOVING || next == OVER;
            case MOVING -> next == ANSWERING || next == OVER;
            case OVER -> false;
        };
    }
}
