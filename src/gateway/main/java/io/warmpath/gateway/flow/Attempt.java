package io.warmpath.gateway.flow;

import io.vertx.core.MultiMap;
import io.vertx.core.buffer.Buffer;
import io.warmpath.fault.GatewayError;
import io.warmpath.fleet.Candidate;
import io.warmpath.fleet.RequestOutcome;
import io.warmpath.gateway.agent.SessionTurn;
import io.warmpath.gateway.answer.Answer;
import io.warmpath.gateway.answer.AnswerFacts;
import io.warmpath.gateway.answer.AnswerPipe;
import io.warmpath.gateway.answer.AnswerReport;
import io.warmpath.gateway.answer.Continued;
import io.warmpath.gateway.answer.Explanation;
import io.warmpath.gateway.observe.DecisionLog;
import io.warmpath.gateway.observe.FlowMetrics.Outcome;
import io.warmpath.gateway.observe.FlowMetrics.RetryCause;
import io.warmpath.gateway.observe.Tracing;
import io.warmpath.gateway.pin.PinTurn;
import io.warmpath.gateway.plan.Planner;
import io.warmpath.gateway.request.EngineForm;
import io.warmpath.gateway.request.InferenceRequest;
import io.warmpath.load.LoadBook;
import io.warmpath.net.HeaderList;
import io.warmpath.routing.RoutingDecision;
import io.warmpath.routing.Sent;
import io.warmpath.upstream.UpstreamCall;
import io.warmpath.upstream.UpstreamListener;
import io.warmpath.upstream.UpstreamRequest;
import io.warmpath.upstream.answer.AnswerScanner;
import io.warmpath.upstream.answer.StreamText;
import java.util.List;
import java.util.OptionalInt;
import org.jspecify.annotations.Nullable;

/**
 * One try of one request on one worker: books it, sends it, passes the answer on.
 *
 * <p>Until the first token nothing reaches the client ({@code released} is false), so a failure can
 * be answered by another attempt. A detached attempt has lost its request to another attempt; what
 * still comes is thrown away. All on the request's event loop.
 */
final class Attempt implements UpstreamListener, UpstreamCall.Watch, Relocation.Source {
    /** A detached error answer is read this far, so that its connection can be used again. */
    private static final int DRAIN_BYTES = 64 << 10;

    /** An engine's close of an idle connection shows within this time of sending on it. */
    private static final long STALE_NANOS = 1_000_000_000;

    private static final byte[] NOTHING = {};

    private final RequestScope scope;
    private final FlowParts parts;
    private final AttemptOwner owner;
    private final Planner.Decided decided;
    private final RoutingDecision decision;
    private final int promptTokens; // -1 when it is not known
    private final @Nullable Continued continued;
    private final @Nullable Continued rest; // the same where its prompt ends with what was said
    private LoadBook.@Nullable Booking booking;
    private Sent sent = Sent.UNSEEN;
    private @Nullable AnswerReport report;
    private @Nullable UpstreamCall call;
    private Tracing.@Nullable Call traced;
    private String problem = "left";
    private @Nullable MultiMap headers;
    private @Nullable AnswerPipe pipe; // from the head on
    private @Nullable Relocation kept; // until the request has it
    private long started;
    private long firstTokenNanos = -1;
    private int status;
    private long received;
    private boolean sawFirst;
    private boolean released;
    private EngineAsk asked = EngineAsk.NOTHING;
    private @Nullable PinTurn pin;
    private boolean detached;

    /**
     * @param continued the stream that it goes on with; null: it begins the answer
     */
    Attempt(
            RequestScope scope,
            AttemptOwner owner,
            Planner.Decided decided,
            @Nullable Continued continued) {
        this.scope = scope;
        this.parts = scope.parts;
        this.owner = owner;
        this.continued = continued;
        this.rest = continued == null || continued.anew() ? null : continued;
        this.released = continued != null;
        this.decided = decided;
        this.decision = decided.decision();
        int length = scope.prompt.length(candidate().worker());
        this.promptTokens = continued != null || length == 0 ? -1 : length;
    }

    Planner.Decided decided() {
        return decided;
    }

    @Override
    public Candidate candidate() {
        return decision.chosen().candidate();
    }

    boolean released() {
        return released;
    }

    void start(boolean freshConnection) {
        Sending sending = parts.sending();
        InferenceRequest request = scope.request();
        SessionTurn session = scope.session();
        Candidate to = candidate();
        pin =
                PinTurn.of(
                        sending.pins(),
                        request,
                        scope.prompt,
                        decision,
                        session != null && session.appends());
        asked = EngineAsk.of(scope, to, pin);
        // Before anything is booked: it may say that this worker cannot be asked so.
        EngineForm.Written written = scope.form.write(request, to.worker(), asked.changes());
        Buffer body = continued == null ? written.body() : continued.body(written.body());
        booking =
                sending.load()
                        .book(
                                to.slot(),
                                decision.chosen().prefillTokens(),
                                scope.prompt.blocks(to.worker()),
                                request.hints().expectedOutput());
        if (!request.passThrough()) {
            sent = parts.planning().planner().sent(decision, request.stream());
        }
        report =
                AnswerReport.of(
                        sending.reports(),
                        scope.meters(),
                        request,
                        scope.prompt,
                        decision,
                        promptTokens,
                        continued,
                        asked.model());
        started = scope.now();
        HeaderList extra = new HeaderList();
        extra.add("x-request-id", request.requestId());
        if (asked.rankInHeader()) {
            extra.add("X-data-parallel-rank", Integer.toString(to.dpRank()));
        }
        if (scope.trace != null) {
            traced = scope.trace.call(decision, promptTokens, scope.now());
            traced.addTo(extra);
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
                                        freshConnection,
                                        request.passThrough()),
                                continued == null
                                        ? listener(to, session)
                                        : continued.joining(this));
        call.watchedBy(this);
    }

    /** What listens to the engine, before the client. */
    private UpstreamListener listener(Candidate to, @Nullable SessionTurn session) {
        UpstreamListener client = session == null ? this : session.listener(this);
        return scope.beside(to, scope.form.read(to.worker(), client));
    }

    /** The request goes on elsewhere: free the worker, let an error answer run out. */
    void detach() {
        detached = true;
        closeBooking();
    }

    /** The request is over: stop the engine. */
    void abandon() {
        detach();
        if (call != null) {
            call.cancel();
        }
    }

    @Override
    public void head(int code, MultiMap engineHeaders) {
        if (detached) {
            return;
        }
        try {
            status = code;
            headers = engineHeaders;
            if (code >= 400 && owner.askAgainInFull(this)) {
                return;
            }
            if (EngineFailures.isWorkersFault(code)) {
                tellFleet(RequestOutcome.FAILED);
            }
            if (continued != null) {
                goOn(code, engineHeaders);
                return;
            }
            if (code >= 300 && owner.leftToOther(this)) {
                return;
            }
            if (EngineFailures.isWorkersFault(code)
                    && owner.retryElsewhere(this, RetryCause.STATUS)) {
                return;
            }
            if (code >= 300 && code < 400 && code != 304) {
                // Its Location would name an address that the client must not see.
                abandon();
                owner.refuse(
                        Outcome.UPSTREAM_FAILED,
                        new GatewayError.BadUpstreamAnswer(
                                candidate().worker().name(), "a redirect"));
                return;
            }
            prepare(code, engineHeaders);
        } catch (RuntimeException e) {
            owner.crashed(e);
        }
    }

    /** The client reads a stream already: only another one can be a part of it. */
    private void goOn(int code, MultiMap engineHeaders) {
        prepare(code, engineHeaders);
        if (isStream()) {
            return;
        }
        detach();
        GatewayError error =
                new GatewayError.BadUpstreamAnswer(
                        candidate().worker().name(), "status " + code + " to the rest of a stream");
        boolean busy = code == 429 || EngineFailures.isWorkersFault(code);
        if (!busy || !owner.moveElsewhere(this, error, true)) {
            owner.breakAnswer(error, true);
        }
    }

    private void prepare(int code, MultiMap engineHeaders) {
        AnswerPipe.Kind kind =
                AnswerPipe.Kind.of(code, engineHeaders, scope.request().passThrough());
        StreamText text = null;
        if (continued != null) {
            text = continued.said();
        } else if (kind == AnswerPipe.Kind.EVENTS) {
            int known =
                    report == null || report.knowsBeginningOnly() ? 0 : Math.max(0, promptTokens);
            Relocation keeper = owner.keep(candidate(), known);
            kept = keeper;
            text = keeper == null ? null : keeper.text();
        }
        GatewayOptions options = parts.options();
        pipe =
                new AnswerPipe(
                        scope.answer,
                        kind,
                        text,
                        options.holdBytes(),
                        options.tailBytes(),
                        asked.cutsUsage());
    }

    private boolean isStream() {
        return pipe != null && pipe.isStream();
    }

    private @Nullable AnswerScanner scanner() {
        return pipe == null ? null : pipe.scanner();
    }

    @Override
    public void data(byte[] b, int from, int length) {
        received += length;
        AnswerPipe p = pipe;
        if (detached || p == null) {
            if (received > DRAIN_BYTES && call != null) {
                call.cancel();
            }
            return;
        }
        try {
            int complete = p.scan(b, from, length);
            if (p.hasOutput()) {
                firstToken();
            }
            if (booking != null) {
                booking.progress(p.events());
            }
            if (p.cutUsage(b, from, length, complete)) {
                passOn(p, b, from, 0, 0);
            } else {
                passOn(p, b, from, length, complete);
            }
        } catch (RuntimeException e) {
            owner.crashed(e);
        }
    }

    private void passOn(AnswerPipe p, byte[] b, int from, int length, int complete) {
        if (!released) {
            if (p.hold(b, from, length, complete)) {
                return;
            }
            release(p);
        }
        p.pass(b, from, length, complete);
        Answer answer = scope.answer;
        if (answer.isFull() && call != null) {
            UpstreamCall paused = call;
            paused.pause();
            answer.onDrain(paused::resume);
        }
    }

    @Override
    public void end(byte[] b, int from, int length) {
        AnswerPipe p = pipe;
        if (detached || p == null) {
            return;
        }
        try {
            int complete = p.scan(b, from, length);
            if (length > 0 && p.hasOutput()) {
                firstToken();
            }
            problem = "";
            boolean cut = p.cutUsage(b, from, length, complete);
            closeBooking();
            compareWithReport();
            if (report != null) {
                report.computed(p.scanner(), status, started);
            }
            if (!EngineFailures.isWorkersFault(status)) {
                tellFleet(RequestOutcome.OK);
            }
            if (!released) {
                release(p);
            }
            owner.finish(status < 400 ? Outcome.OK : Outcome.ENGINE_ERROR);
            p.end(b, from, cut ? 0 : length);
            if (pin != null) {
                pin.ended(status, foundCached());
            }
        } catch (RuntimeException e) {
            owner.crashed(e);
        }
    }

    @Override
    public void failed(GatewayError error) {
        problem = error.getClass().getSimpleName();
        closeBooking();
        if (detached) {
            return;
        }
        try {
            boolean stale = isStaleConnection(error);
            if (stale && !released && owner.leftToOther(this)) {
                return;
            }
            if (stale && owner.retryOnFreshConnection(this)) {
                return;
            }
            tellFleet(EngineFailures.outcome(error));
            if (EngineFailures.isLostConnection(error)) {
                parts.planning().fleet().reportFailure(candidate().worker().id());
            }
            if (released) {
                breakAnswer(error);
            } else if (!owner.leftToOther(this)) {
                answerOrRetry(error);
            }
        } catch (RuntimeException e) {
            owner.crashed(e);
        }
    }

    /**
     * The engine has probably closed a kept connection just as the request was sent on it: it has
     * not seen the request, and its cache is still the best place.
     */
    private boolean isStaleConnection(GatewayError error) {
        return error instanceof GatewayError.UpstreamBroke
                && headers == null
                && call != null
                && call.reusedConnection()
                && scope.now() - started < STALE_NANOS;
    }

    private void answerOrRetry(GatewayError error) {
        RetryCause cause = EngineFailures.retryCause(error, scope.request().stream());
        boolean unreachable = cause == RetryCause.UNREACHABLE;
        if (cause != null && owner.retryElsewhere(this, cause)) {
            return;
        }
        if (unreachable && owner.retryAllLater(this)) {
            return;
        }
        if (unreachable) {
            owner.refuse(Outcome.NO_WORKER, scope.noWorker());
        } else {
            owner.refuse(Outcome.UPSTREAM_FAILED, error);
        }
    }

    /** Goes on elsewhere where that is certain to be possible; waits on where it is not. */
    @Override
    public void silent() {
        UpstreamCall waiting = call;
        if (detached || waiting == null) {
            return;
        }
        try {
            List<Candidate> others = owner.wellOthers(this);
            if (others.isEmpty()) {
                return;
            }
            if (!released) {
                if (scope.request().stream()
                        && (owner.leftToOther(this)
                                || owner.retryElsewhere(this, RetryCause.TIMEOUT))) {
                    waiting.cancel();
                }
            } else {
                owner.whenMovable(
                        this,
                        others,
                        () -> {
                            waiting.cancel();
                            failed(new GatewayError.WorkerUnwell(candidate().worker().name()));
                        });
            }
        } catch (RuntimeException e) {
            owner.crashed(e);
        }
    }

    private void breakAnswer(GatewayError error) {
        if (pipe != null && pipe.done()) {
            // Only the end of the HTTP message was lost; the client has all of the answer.
            compareWithReport();
            owner.finish(Outcome.OK);
            scope.answer.end(NOTHING, 0, 0);
            return;
        }
        if (!owner.moveElsewhere(this, error, isStream())) {
            owner.breakAnswer(error, isClean());
        }
    }

    @Override
    public boolean isClean() {
        if (pipe == null || !pipe.isStream()) {
            return continued != null;
        }
        return pipe.isClean();
    }

    @Override
    public boolean finished() {
        return pipe != null && pipe.finished();
    }

    private void firstToken() {
        if (!sawFirst) {
            sawFirst = true;
            firstTokenNanos = scope.now() - started;
            if (traced != null) {
                traced.firstToken(started + firstTokenNanos);
            }
            if (booking != null) {
                booking.firstToken();
                parts.planning().entrance().admission().wake();
            }
            if (status < 400) {
                sent.firstToken();
                if (isStream() && continued == null) {
                    parts.retries().firstToken(scope.request().model(), firstTokenNanos);
                }
                if (!scope.request().passThrough() && continued == null) {
                    parts.planning()
                            .fleet()
                            .firstToken(
                                    candidate().worker().id(),
                                    firstTokenNanos,
                                    decision.chosen().prefillTokens());
                    scope.meters().firstToken(scope.nanosSinceStart());
                }
            }
        }
    }

    /** From here on the client gets what there is. */
    private void release(AnswerPipe p) {
        released = true;
        owner.won(this);
        InferenceRequest request = scope.request();
        MultiMap own = explanation(request);
        if (own != null && request.explain() && p.isStream()) {
            scope.answer.explain(decision);
        }
        if (p.scanner() != null && !request.hints().extras().isEmpty()) {
            scope.answer.facts(this::facts);
        }
        MultiMap engineHeaders = headers == null ? MultiMap.caseInsensitiveMultiMap() : headers;
        // A stream that may get an error event at its end cannot promise its length.
        scope.answer.head(status, engineHeaders, own, !p.isStream());
        owner.answered(kept);
        kept = null;
    }

    /** Null: it is not explained why this worker was chosen. */
    private @Nullable MultiMap explanation(InferenceRequest request) {
        boolean explain =
                switch (parts.options().explain()) {
                    case OFF -> false;
                    case ON_REQUEST -> request.explain();
                    case ALWAYS -> true;
                };
        if (!explain) {
            return null;
        }
        SessionTurn session = scope.session();
        MultiMap own = Explanation.headers(decision, promptTokens, request.several());
        Explanation.addHints(
                own,
                request,
                asked.priority(),
                session == null ? OptionalInt.empty() : session.timeoutSeconds());
        Explanation.addSession(own, session == null ? null : session.word());
        return own;
    }

    private void compareWithReport() {
        if (report != null) {
            boolean streamed = isStream() && firstTokenNanos >= 0;
            report.compare(
                    scanner(), status, streamed ? scope.now() - started - firstTokenNanos : -1);
        }
    }

    private void closeBooking() {
        Relocation nobodys = kept;
        if (nobodys != null) {
            kept = null;
            nobodys.drop();
        }
        if (booking != null) {
            booking.close();
            sent.ended(scanner() == null ? -1 : scanner().completionTokens());
            booking = null;
            parts.planning().entrance().admission().wake();
            DecisionLog.Ending ending = ending();
            parts.planning().planner().ended(decided, ending);
            if (status == 200) {
                long counted = ending.promptTokens();
                if (continued == null) {
                    scope.used(counted < 0 ? promptTokens : counted, ending.outputTokens());
                } else { // the prompt and the first part have been counted where they were made
                    scope.used(0, Math.max(0, ending.outputTokens() - continued.made()));
                }
            }
            endTrace();
        }
    }

    private void endTrace() {
        AnswerScanner s = scanner();
        if (traced != null) {
            traced.ended(
                    status,
                    problem,
                    s == null ? -1 : s.promptTokens(),
                    foundCached(),
                    s == null ? -1 : s.completionTokens(),
                    scope.now());
        }
    }

    @Override
    public AnswerFacts facts() {
        long nanos = scope.nanosSinceStart();
        long untilSent = nanos - (scope.now() - started);
        long untilFirst = isStream() && firstTokenNanos >= 0 ? untilSent + firstTokenNanos : -1;
        DecisionLog.Ending now = ending();
        AnswerFacts before = continued == null ? null : continued.before();
        return new AnswerFacts(
                candidate().worker().id(),
                candidate().dpRank(),
                before == null ? untilSent : before.sentNanos(),
                before == null || before.firstTokenNanos() < 0
                        ? untilFirst
                        : before.firstTokenNanos(),
                nanos,
                now.promptTokens() < 0 ? promptTokens : now.promptTokens(),
                knownCached(now.cachedTokens()),
                now.outputTokens());
    }

    private long knownCached(long reported) {
        if (rest != null) {
            return rest.before().cachedTokens();
        }
        return reported < 0 && promptTokens >= 0 ? decision.chosen().cachedTokens() : reported;
    }

    /** Tokens that this worker has found cached of the request's own prompt; -1: not known. */
    private long foundCached() {
        AnswerScanner s = scanner();
        return s == null || rest != null ? -1 : s.cachedTokens();
    }

    @Override
    public long cachedTokens() {
        return rest == null ? foundCached() : rest.cachedTokens();
    }

    private DecisionLog.Ending ending() {
        AnswerScanner s = scanner();
        long output = s == null ? -1 : s.completionTokens();
        int made = continued == null ? 0 : continued.made(); // the engine's count has it in it
        return new DecisionLog.Ending(
                status,
                s == null ? -1 : s.promptTokens(),
                output < 0 && s != null && isStream() ? made + s.events() : output,
                foundCached(),
                firstTokenNanos,
                scope.now() - started);
    }

    private void tellFleet(RequestOutcome outcome) {
        parts.planning().fleet().ended(candidate().worker().id(), outcome, started);
    }
}
