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
import io.warmpath.gateway.answer.Continued;
import io.warmpath.gateway.observe.FlowMetrics.Outcome;
import io.warmpath.gateway.observe.FlowMetrics.RetryCause;
import io.warmpath.gateway.pin.PinTurn;
import io.warmpath.gateway.plan.Planner;
import io.warmpath.gateway.request.EngineForm;
import io.warmpath.gateway.request.InferenceRequest;
import io.warmpath.net.HeaderList;
import io.warmpath.upstream.UpstreamCall;
import io.warmpath.upstream.UpstreamListener;
import io.warmpath.upstream.UpstreamRequest;
import io.warmpath.upstream.answer.StreamText;
import java.util.List;
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

    private static final byte[] NOTHING = {};

    private final RequestScope scope;
    private final AttemptOwner owner;
    private final AttemptBooks books;
    private @Nullable UpstreamCall call;
    private @Nullable MultiMap headers;
    private @Nullable AnswerPipe pipe; // from the head on
    private @Nullable Relocation kept; // until the request has it
    private EngineAsk asked = EngineAsk.NOTHING;
    private @Nullable PinTurn pin;
    private long received;
    private int status;
    private boolean released;
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
        this.owner = owner;
        this.books = new AttemptBooks(scope, decided, continued);
        this.released = continued != null;
    }

    Planner.Decided decided() {
        return books.decided();
    }

    @Override
    public Candidate candidate() {
        return books.candidate();
    }

    boolean released() {
        return released;
    }

    void start(boolean freshConnection) {
        Sending sending = scope.parts.sending();
        InferenceRequest request = scope.request();
        SessionTurn session = scope.session();
        Candidate to = candidate();
        pin =
                PinTurn.of(
                        sending.pins(),
                        request,
                        scope.prompt,
                        books.decision(),
                        session != null && session.appends());
        asked = EngineAsk.of(scope, to, pin);
        // Before anything is booked: it may say that this worker cannot be asked so.
        EngineForm.Written written = scope.form.write(request, to.worker(), asked.changes());
        Continued continued = books.continued();
        Buffer body = continued == null ? written.body() : continued.body(written.body());
        books.open(asked.model());
        HeaderList extra = new HeaderList();
        extra.add("x-request-id", request.requestId());
        if (asked.rankInHeader()) {
            extra.add("X-data-parallel-rank", Integer.toString(to.dpRank()));
        }
        books.trace(extra);
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
        close();
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
                books.tellFleet(RequestOutcome.FAILED);
            }
            if (books.continued() != null) {
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
                owner.refused(
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
        if (pipe != null && pipe.isStream()) {
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
        Continued continued = books.continued();
        StreamText text = null;
        if (continued != null) {
            text = continued.said();
        } else if (kind == AnswerPipe.Kind.EVENTS) {
            Relocation keeper = owner.keep(candidate(), books.wholePrompt());
            kept = keeper;
            text = keeper == null ? null : keeper.text();
        }
        GatewayOptions options = scope.parts.options();
        pipe =
                new AnswerPipe(
                        scope.answer,
                        kind,
                        text,
                        options.holdBytes(),
                        options.tailBytes(),
                        asked.cutsUsage());
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
                books.output(status, p);
            }
            books.progress(p);
            if (p.cutUsage(b, from, length, complete, received)) {
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
            received += length;
            int complete = length > 0 ? p.scan(b, from, length) : 0;
            if (length > 0 && p.hasOutput()) {
                books.output(status, p);
            }
            books.answered();
            boolean cut = p.cutUsage(b, from, length, complete, received);
            close();
            books.compare(status, p);
            books.computed(status, p);
            if (!EngineFailures.isWorkersFault(status)) {
                books.tellFleet(RequestOutcome.OK);
            }
            if (!released) {
                release(p);
            }
            owner.finish(status < 400 ? Outcome.OK : Outcome.ENGINE_ERROR);
            p.end(b, from, cut ? 0 : length);
            if (pin != null) {
                pin.ended(status, books.foundCached(p));
            }
        } catch (RuntimeException e) {
            owner.crashed(e);
        }
    }

    @Override
    public void failed(GatewayError error) {
        books.failed(error);
        close();
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
            books.tellFleet(EngineFailures.outcome(error));
            if (EngineFailures.isLostConnection(error)) {
                books.lost();
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
                && books.isJustSent();
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
            owner.refused(Outcome.NO_WORKER, scope.noWorker());
        } else {
            owner.refused(Outcome.UPSTREAM_FAILED, error);
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
        AnswerPipe p = pipe;
        if (p != null && p.done()) {
            // Only the end of the HTTP message was lost; the client has all of the answer.
            books.compare(status, p);
            owner.finish(Outcome.OK);
            scope.answer.end(NOTHING, 0, 0);
            return;
        }
        if (!owner.moveElsewhere(this, error, p != null && p.isStream())) {
            owner.breakAnswer(error, isClean());
        }
    }

    @Override
    public boolean isClean() {
        if (pipe == null || !pipe.isStream()) {
            return books.continued() != null;
        }
        return pipe.isClean();
    }

    @Override
    public boolean finished() {
        return pipe != null && pipe.finished();
    }

    /** From here on the client gets what there is. */
    private void release(AnswerPipe p) {
        released = true;
        owner.won(this);
        InferenceRequest request = scope.request();
        MultiMap own = scope.explanation(books.decision(), books.promptTokens(), asked.priority());
        if (own != null && request.form().explain() && p.isStream()) {
            scope.answer.explain(books.decision());
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

    private void close() {
        Relocation nobodys = kept;
        if (nobodys != null) {
            kept = null;
            nobodys.drop();
        }
        books.close(status, pipe);
    }

    @Override
    public AnswerFacts facts() {
        return books.facts(status, pipe);
    }

    @Override
    public long cachedTokens() {
        return books.cachedTokens(pipe);
    }
}
