package io.warmpath.gateway.flow;

import io.vertx.core.MultiMap;
import io.vertx.core.buffer.Buffer;
import io.warmpath.fault.GatewayError;
import io.warmpath.fleet.Candidate;
import io.warmpath.fleet.Fleet;
import io.warmpath.fleet.RequestOutcome;
import io.warmpath.gateway.answer.Continued;
import io.warmpath.gateway.plan.Planner;
import io.warmpath.gateway.request.BodyChanges;
import io.warmpath.gateway.request.Bootstrap;
import io.warmpath.gateway.request.EngineForm;
import io.warmpath.gateway.request.Half;
import io.warmpath.gateway.request.InferenceRequest;
import io.warmpath.gateway.request.PrefillAnswer;
import io.warmpath.load.LoadBook;
import io.warmpath.net.HeaderList;
import io.warmpath.routing.RoutingDecision;
import io.warmpath.routing.rates.Sent;
import io.warmpath.upstream.UpstreamCall;
import io.warmpath.upstream.UpstreamListener;
import io.warmpath.upstream.UpstreamRequest;
import java.io.ByteArrayOutputStream;
import java.time.Duration;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * The half of a request that computes its prompt, on a worker that hands the KV cache to the one
 * that answers. Its answer has one token. SGLang's comes when the cache has gone and is thrown
 * away; vLLM's says where the cache is, and what was cached of the prompt. On the request's event
 * loop. Its load is booked from when it is sent until its answer has ended, or the other half has a
 * first token, whichever is first.
 */
final class PrefillLeg implements UpstreamListener {
    /** The other half. */
    interface Owner {
        /** Who answers. */
        Candidate candidate();

        /** This one's worker cannot do it, or has refused it; once, and not after {@link #stop}. */
        void prefillFailed(PrefillLeg leg, GatewayError error);

        /** The prompt is computed. */
        void prefilled(PrefillLeg leg, PrefillAnswer answer);

        /**
         * The prompt is late where it is decoded: so far as can be seen, it is not computed, or
         * does not arrive. Once; the leg goes on unless it is stopped.
         */
        void stalled(PrefillLeg leg);
    }

    /** Longer answers are no hand-offs: one of a million tokens has a tenth of it. */
    private static final int MOST_BYTES = 4 << 20;

    /** What is expected may take so many times as long before it counts as late. */
    private static final int PATIENCE = 3;

    private final RequestScope scope;
    private final Planner.Decided decided;
    private final Half half;
    private final Owner owner;
    private @Nullable ByteArrayOutputStream answer; // where it is read
    private LoadBook.@Nullable Booking booking;
    private Sent sent = Sent.UNSEEN;
    private @Nullable UpstreamCall call;
    private long started;
    private long timer = -1; // until the other half has a token
    private int promptTokens;
    private int status;
    private @Nullable Duration full; // the pause of an engine whose queue is
    private boolean over;
    private boolean stalls; // and the other half knows it

    PrefillLeg(RequestScope scope, Planner.Decided decided, Half half, Owner owner) {
        this.half = half;
        this.scope = scope;
        this.decided = decided;
        this.owner = owner;
    }

    Candidate candidate() {
        return decided.decision().chosen().candidate();
    }

    /**
     * @param answers of the other half
     * @param asked of the worker that answers
     * @param continued the stream that it goes on with; null: it begins the answer
     */
    void start(RoutingDecision answers, BodyChanges asked, @Nullable Continued continued) {
        Sending sending = scope.parts.sending();
        InferenceRequest request = scope.request();
        Candidate to = candidate();
        EngineForm.Written written = scope.form.write(request, to.worker(), asked.forPrefill(half));
        Buffer body = continued == null ? written.body() : continued.body(written.body());
        book();
        watch(answers);
        HeaderList extra = new HeaderList();
        extra.add("x-request-id", request.requestId());
        if (tellsCached()) {
            answer = new ByteArrayOutputStream(1024);
            if (to.worker().ranks().size() > 1) {
                extra.add("X-data-parallel-rank", Integer.toString(to.dpRank()));
            }
        }
        call =
                sending.engines()
                        .send(
                                new UpstreamRequest(
                                        to.worker().name(),
                                        to.worker().url(),
                                        written.target(),
                                        request.headers(),
                                        extra,
                                        body,
                                        false,
                                        request.passThrough(),
                                        List.of()),
                                new FirstLook(this, this::full));
        call.watchedBy(
                () -> {
                    if (!over) {
                        stall();
                    }
                });
    }

    private void watch(RoutingDecision answers) {
        Duration least = scope.parts.options().stallTimeout();
        if (least.isZero()) {
            return;
        }
        double expected = decided.decision().expectedMillis() + answers.expectedMillis();
        long millis = (long) (least.toMillis() + PATIENCE * expected);
        timer = scope.context.owner().setTimer(Math.max(1, millis), t -> late());
    }

    private void late() {
        timer = -1;
        // A whole answer's first byte comes with its last: its prompt's end is all that shows.
        if (!over || (status == 200 && scope.request().stream())) {
            stall();
        }
    }

    private void stall() {
        if (!stalls) {
            stalls = true;
            owner.stalled(this);
        }
    }

    private void inTime() {
        if (timer >= 0) {
            scope.context.owner().cancelTimer(timer);
            timer = -1;
        }
    }

    /** One that is asked by what stands before the engine that answers: its load is booked here. */
    static PrefillLeg named(RequestScope scope, Planner.Decided decided, Owner owner) {
        PrefillLeg leg = new PrefillLeg(scope, decided, new Half.Keep(), owner);
        leg.book();
        return leg;
    }

    private void book() {
        Candidate to = candidate();
        promptTokens = scope.prompt.length(to.worker());
        booking =
                scope.parts
                        .sending()
                        .load()
                        .book(
                                to.slot(),
                                decided.decision().chosen().prefillTokens(),
                                scope.prompt.blocks(to.worker()),
                                1);
        sent = scope.parts.planning().planner().sent(decided.decision(), true);
        scope.booked(decided);
        started = scope.now();
    }

    /** The other half has its first token: the prompt was computed and has arrived. */
    void arrived() {
        inTime();
        free(true);
    }

    /** The other half has ended without it, or nobody wants it any more. */
    void stop() {
        inTime();
        free(false);
        UpstreamCall running = call;
        if (!over && running != null) {
            over = true;
            running.cancel();
        }
    }

    /** {@code computed}: its speed shows. */
    private void free(boolean computed) {
        LoadBook.Booking held = booking;
        if (held == null) {
            return;
        }
        booking = null;
        if (computed) {
            held.firstToken();
            sent.firstToken();
            scope.parts
                    .metrics()
                    .disagg()
                    .handedOver(
                            candidate().worker().name(),
                            owner.candidate().worker().name(),
                            promptTokens);
        }
        held.close();
        sent.ended(1);
        scope.parts.planning().entrance().admission().wake();
    }

    private void full(Duration pause) {
        full = pause;
        fleet().full(candidate().worker().id(), pause);
    }

    @Override
    public void head(int code, MultiMap headers) {
        status = code;
    }

    @Override
    public void data(byte[] b, int from, int length) {
        ByteArrayOutputStream read = answer;
        if (read != null && read.size() + length <= MOST_BYTES) {
            read.write(b, from, length);
        }
    }

    @Override
    public void end(byte[] b, int from, int length) {
        if (over) {
            return;
        }
        over = true;
        Duration pause = full;
        if (pause != null) {
            free(false);
            owner.prefillFailed(this, FullQueue.error(candidate().worker().name(), pause));
            return;
        }
        if (status == 200) {
            tellFleet(RequestOutcome.OK);
            scope.parts.metrics().disagg().answered(scope.now() - started);
            free(true);
            data(b, from, length);
            owner.prefilled(
                    this,
                    answer == null
                            ? PrefillAnswer.NOTHING
                            : PrefillAnswer.of(answer.toByteArray()));
            return;
        }
        free(false);
        boolean faulty = EngineFailures.isWorkersFault(status);
        tellFleet(faulty ? RequestOutcome.FAILED : RequestOutcome.OK);
        owner.prefillFailed(
                this,
                new GatewayError.BadUpstreamAnswer(
                        candidate().worker().name(), "status " + status + " to a prefill"));
    }

    @Override
    public void failed(GatewayError error) {
        if (over) {
            return;
        }
        over = true;
        free(false);
        RequestOutcome outcome = EngineFailures.outcome(error);
        if (outcome != null) {
            tellFleet(outcome);
        }
        if (EngineFailures.isLostConnection(error)) {
            fleet().reportFailure(candidate().worker().id());
        }
        owner.prefillFailed(this, error);
    }

    /**
     * Its answer tells what was cached of the prompt, and what the other engine says of that does
     * not count. SGLang's other engine says the same.
     */
    boolean tellsCached() {
        return !(half instanceof Bootstrap);
    }

    /** Its worker has answered, or failed. */
    boolean isOver() {
        return over;
    }

    void tellFleet(RequestOutcome outcome) {
        fleet().ended(candidate().worker().id(), outcome, started);
    }

    /** Its worker has refused what no worker would take. */
    boolean refused() {
        return status >= 400 && full == null && !EngineFailures.isWorkersFault(status);
    }

    private Fleet fleet() {
        return scope.parts.planning().fleet();
    }
}
