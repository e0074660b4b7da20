package io.warmpath.gateway.flow;

import io.warmpath.fault.GatewayError;
import io.warmpath.fleet.Candidate;
import io.warmpath.gateway.observe.FlowMetrics.Outcome;
import io.warmpath.gateway.observe.FlowMetrics.RetryCause;
import io.warmpath.gateway.plan.Planner;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** The request of an attempt: decides what follows when the attempt answers or fails. */
interface AttemptOwner {
    /** This attempt answers the client; another one that was asked beside it is stopped. */
    void won(Attempt winner);

    /**
     * The answer has begun to reach the client: another worker may only continue it.
     *
     * @param kept of the answer; null: it will not go on elsewhere
     */
    void answered(@Nullable Relocation kept);

    /**
     * What is to be kept of a stream that begins now, so that it could go on elsewhere.
     *
     * @param promptTokens 0 when the prompt's length is not known
     * @return null: it will not go on elsewhere
     */
    @Nullable Relocation keep(Candidate from, int promptTokens);

    /**
     * This one has failed before it answered; another one that was asked beside it goes on alone.
     *
     * @return false when there is none
     */
    boolean leftToOther(Attempt failed);

    /**
     * RetryState another worker, if there is one, the request has not been sent to too many already
     * and there have not been too many retries lately.
     *
     * @return false when the caller has to answer with what it has
     */
    boolean retryElsewhere(Attempt failed, RetryCause cause);

    /**
     * As {@link #retryElsewhere}, where the worker that failed may be another one: that which was
     * to compute the prompt. {@code of}: it was asked; null: it is over already.
     */
    boolean retry(Candidate failed, RetryCause cause, @Nullable Attempt of);

    /** RetryState the same worker again over a new connection. */
    boolean retryOnFreshConnection(Attempt failed);

    /** Asks the same worker again with the whole prompt, when it has lost the turn's session. */
    boolean askAgainInFull(Attempt failed);

    /**
     * Waits a moment and asks all workers again, once, when none could be reached.
     *
     * @return false when that has been done already
     */
    boolean retryAllLater(Attempt failed);

    /**
     * Waits in the model's queue until a worker whose queue was full may be asked again.
     *
     * @param of null: it is over already
     * @return false when the model has no queue, or a worker has begun with the request
     */
    boolean waitForRoom(@Nullable Attempt of);

    /**
     * The request went to this worker, whatever was decided.
     *
     * @return null: it is not known as one that could have it
     */
    Planner.@Nullable Decided wentTo(long worker);

    /** Those that are well and could take over from this one. */
    List<Candidate> wellOthers(Attempt from);

    /**
     * Runs {@code move} when its stream, which the client is reading, would not have to be broken.
     */
    void whenMovable(Attempt from, List<Candidate> others, Runnable move);

    /**
     * Goes on elsewhere with an answer that has begun to reach the client.
     *
     * @param worker is not asked again
     * @param stream it is one of events
     * @return false when the caller has to break it
     */
    boolean moveElsewhere(Attempt failed, Candidate worker, GatewayError error, boolean stream);

    /** Ends an answer of which the client has a part. */
    void breakAnswer(GatewayError error, boolean betweenEvents);

    /** Answers with an error and ends; nothing of an answer has been passed on. */
    void refused(Outcome outcome, GatewayError error);

    /** Ends the books of this request. */
    void finish(Outcome outcome);

    /** A bug: the client gets what can still be said, the log gets the cause. */
    void crashed(RuntimeException cause);
}
