package io.warmpath.gateway.flow;

import io.vertx.core.MultiMap;
import io.vertx.core.buffer.Buffer;
import io.warmpath.fault.GatewayError;
import io.warmpath.fleet.Candidate;
import io.warmpath.fleet.Fleet;
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
import io.warmpath.gateway.request.Halves;
import io.warmpath.gateway.request.HandOff;
import io.warmpath.gateway.request.InferenceRequest;
import io.warmpath.gateway.request.PrefillAnswer;
import io.warmpath.gateway.request.Prefiller;
import io.warmpath.net.HeaderList;
import io.warmpath.routing.NotExact;
import io.warmpath.upstream.UpstreamCall;
import io.warmpath.upstream.UpstreamListener;
import io.warmpath.upstream.UpstreamRequest;
import io.warmpath.upstream.answer.AnswerScanner;
import io.warmpath.upstream.answer.StreamText;
import java.net.URI;
import java.time.Duration;
import java.util.List;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * One try of one request on one worker: books it, sends it, passes the answer on. {@link
 * AttemptState} has the table of its states. Until the first token nothing reaches the client, so
 * that a failure can be answered by another attempt. All on the request's event loop.
 */
final class Attempt
        implements UpstreamListener, UpstreamCall.Watch, Relocation.Source, PrefillLeg.Owner {
    /** A detached error answer is read this far, so that its connection can be used again. */
    private static final int DRAIN_BYTES = 64 << 10;

    private static final byte[] NOTHING = {};

    /** The engine that decodes has so long to refuse what the one that prefills has refused. */
    private static final long REFUSAL_MILLIS = 1000;

    private final RequestScope scope;
    private final AttemptOwner owner;
    private AttemptBooks books;
    private @Nullable UpstreamCall call;
    private @Nullable PrefillLeg prefill;
    private @Nullable UpstreamRequest later; // until its prompt has been computed elsewhere
    private AttemptState state = AttemptState.READY;
    private @Nullable MultiMap headers; // from the head on
    private @Nullable AnswerPipe pipe; // from the head on
    private @Nullable Relocation kept; // until the request has it
    private EngineAsk asked = EngineAsk.NOTHING;
    private @Nullable PinTurn pin;
    private long foundByPrefill = AnswerScanner.TOLD_HERE; // cached tokens of the prompt
    private long received;
    private int status;
    private @Nullable Duration full; // the pause of an engine whose queue is

    /** {@code continued}: the stream that it goes on with; null: it begins the answer. */
    Attempt(
            RequestScope scope,
            AttemptOwner owner,
            Planner.Decided decided,
            @Nullable Continued continued) {
        this.scope = scope;
        this.owner = owner;
        this.books = new AttemptBooks(scope, decided, continued);
    }

    private void become(AttemptState next) {
        assert state.mayBecome(next) : state + " to " + next;
        state = next;
    }

    Planner.Decided decided() {
        return books.decided();
    }

    @Override
    public Candidate candidate() {
        return books.candidate();
    }

    /** Its answer reaches the client. */
    boolean passesOn() {
        return state == AttemptState.PASSING;
    }

    void start(boolean freshConnection) {
        Sending sending = scope.parts.sending();
        InferenceRequest request = scope.request();
        SessionTurn session = scope.session();
        boolean appends = session != null && session.appends();
        if (appends) {
            books.notExact(NotExact.SESSION);
        }
        Candidate to = candidate();
        pin = PinTurn.of(sending.pins(), request, scope.prompt, books.decision(), appends);
        Planner.Decided computes = books.decided().prefill();
        boolean named = computes != null && sending.namesPrefill();
        Halves halves =
                computes == null || named
                        ? null
                        : Halves.of(computes.decision().chosen().candidate(), sending.random());
        asked = EngineAsk.of(scope, to, pin, halves == null ? null : halves.decode());
        // Before anything is booked: it may say that this worker cannot be asked so.
        EngineForm.Written written = scope.form.write(request, to.worker(), asked.changes());
        Continued continued = books.continued();
        Buffer body = continued == null ? written.body() : continued.body(written.body());
        books.open(asked.model(), asked.tag());
        HeaderList extra = new HeaderList();
        extra.add("x-request-id", request.requestId());
        if (asked.rankInHeader()) {
            extra.add("X-data-parallel-rank", Integer.toString(to.dpRank()));
        }
        if (computes != null && named) {
            extra.add(
                    Prefiller.HEADER, Prefiller.address(computes.decision().chosen().candidate()));
            prefill = PrefillLeg.named(scope, computes, this);
        }
        books.trace(extra);
        UpstreamRequest whole =
                new UpstreamRequest(
                        to.worker().name(),
                        to.worker().url(),
                        written.target(),
                        request.headers(),
                        extra,
                        body,
                        freshConnection,
                        request.passThrough(),
                        others(sending));
        if (halves == null || halves.together()) {
            send(whole);
        } else {
            later = whole;
        }
        if (computes != null && halves != null) {
            PrefillLeg leg = new PrefillLeg(scope, computes, halves.prefill(), this);
            prefill = leg;
            foundByPrefill = leg.tellsCached() ? -1 : AnswerScanner.TOLD_HERE;
            leg.start(books.decision(), asked.changes(), continued);
        }
    }

    private void send(UpstreamRequest request) {
        Continued continued = books.continued();
        call =
                scope.parts
                        .sending()
                        .engines()
                        .send(
                                request,
                                new FirstLook(
                                        continued == null
                                                ? listener(candidate(), scope.session())
                                                : continued.joining(this),
                                        this::full));
        call.watchedBy(this);
        become(AttemptState.SENT);
    }

    @Override
    public void prefilled(PrefillLeg leg, PrefillAnswer answer) {
        if (leg != prefill || state.isOver()) {
            return;
        }
        if (leg.tellsCached()) {
            foundByPrefill = answer.cachedTokens();
            if (pipe != null) {
                pipe.foundElsewhere(foundByPrefill);
            }
        }
        UpstreamRequest waiting = later;
        if (waiting == null) {
            return;
        }
        later = null;
        HandOff handOff = answer.handOff();
        books.sentNow();
        try {
            send(handOff == null ? waiting : waiting.withBody(handOff.into(waiting.body())));
        } catch (RuntimeException e) {
            owner.crashed(e);
        }
    }

    @Override
    public void prefillFailed(PrefillLeg leg, GatewayError error) {
        if (leg != prefill || state.isOver() || state == AttemptState.PASSING) {
            return; // what has begun to reach the client has all that it needs of it
        }
        try {
            if (leg.refused() && later != null) {
                // Who decodes says the same, in its own words.
                prefilled(leg, PrefillAnswer.REFUSED);
                return;
            }
            if (leg.refused()) {
                // As this worker will, in its own words: unless it waits for what never comes.
                scope.context.owner().setTimer(REFUSAL_MILLIS, t -> unlessAnswered(leg, error));
                return;
            }
            abandon();
            RetryCause known = EngineFailures.retryCause(error, scope.request().stream());
            RetryCause cause = known == null ? RetryCause.BROKE : known;
            scope.parts.metrics().disagg().failed(cause);
            boolean other =
                    books.continued() == null
                            && (owner.retry(leg.candidate(), cause, null)
                                    || (cause == RetryCause.FULL && owner.waitForRoom(null)));
            if (!other) {
                lost(leg.candidate(), error);
            }
        } catch (RuntimeException e) {
            owner.crashed(e);
        }
    }

    @Override
    public void stalled(PrefillLeg leg) {
        boolean begun = state == AttemptState.PASSING || books.continued() != null;
        if (leg != prefill || state.isOver() || begun) {
            return;
        }
        try {
            boolean computed = leg.isOver();
            Candidate late = computed ? candidate() : leg.candidate();
            if (!owner.leftToOther(this) && !owner.retry(late, RetryCause.TIMEOUT, this)) {
                return; // nobody else could do it: it may come yet
            }
            abandon();
            scope.parts.metrics().disagg().failed(RetryCause.TIMEOUT);
            if (computed) {
                books.tellFleet(RequestOutcome.STALLED);
            } else {
                leg.tellFleet(RequestOutcome.STALLED);
            }
        } catch (RuntimeException e) {
            owner.crashed(e);
        }
    }

    /** There is no answer without what this worker was to do. */
    private void lost(Candidate worker, GatewayError error) {
        if (books.continued() == null) {
            boolean busy = error instanceof GatewayError.Overloaded;
            owner.refused(busy ? Outcome.OVERLOADED : Outcome.UPSTREAM_FAILED, error);
        } else {
            breakAnswer(worker, error);
        }
    }

    private void unlessAnswered(PrefillLeg leg, GatewayError error) {
        if (state != AttemptState.SENT) {
            return;
        }
        try {
            abandon();
            lost(leg.candidate(), error);
        } catch (RuntimeException e) {
            owner.crashed(e);
        }
    }

    /** For who retries on its own. */
    private List<URI> others(Sending sending) {
        return sending.fallbacks() == 0
                ? List.of()
                : Fallbacks.of(books.decision(), sending.fallbacks());
    }

    /** What listens to the engine, before the client. */
    private UpstreamListener listener(Candidate to, @Nullable SessionTurn session) {
        UpstreamListener client = session == null ? this : session.listener(this);
        return scope.beside(to, scope.form.read(to.worker(), client));
    }

    /** The request goes on elsewhere: free the worker, let an error answer run out. */
    void detach() {
        if (!state.isOver()) {
            become(state == AttemptState.READY ? AttemptState.CLOSED : AttemptState.DETACHED);
        }
        close();
    }

    /** Nobody waits for it any more: stop the engine. */
    void abandon() {
        detach();
        if (call != null) {
            call.cancel();
        }
    }

    /** The client has nothing of its answer, and another one will do. */
    private boolean fullIsElsewhere() {
        return state == AttemptState.HOLDING
                && isFull()
                && (owner.leftToOther(this)
                        || owner.retryElsewhere(this, RetryCause.FULL)
                        || owner.waitForRoom(this));
    }

    private void full(Duration pause) {
        full = pause;
        fleet().full(candidate().worker().id(), pause);
    }

    private Fleet fleet() {
        return scope.parts.planning().fleet();
    }

    /** Its worker has not begun with the request: its queue is full. */
    boolean isFull() {
        return full != null;
    }

    /** Its status says that the worker is not well. */
    private boolean isFaulty() {
        return status >= 400 && !isFull() && EngineFailures.isWorkersFault(status);
    }

    @Override
    public void head(int code, MultiMap engineHeaders) {
        if (state != AttemptState.SENT) {
            return;
        }
        try {
            status = code;
            headers = engineHeaders;
            if (code >= 400 && !isFull() && owner.askAgainInFull(this)) {
                return;
            }
            boolean faulty = isFaulty();
            if (faulty) {
                books.tellFleet(RequestOutcome.FAILED);
            }
            if (books.continued() != null) {
                goOn(code, engineHeaders);
                return;
            }
            if (code >= 300 && owner.leftToOther(this)) {
                return;
            }
            if (faulty && owner.retryElsewhere(this, RetryCause.STATUS)) {
                return;
            }
            if (isFull()
                    && (owner.retryElsewhere(this, RetryCause.FULL) || owner.waitForRoom(this))) {
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
            AnswerPipe p = pipe(code, engineHeaders);
            pipe = p;
            become(AttemptState.HOLDING);
            if (scope.parts.options().holdBytes() == 0) {
                release(p); // nobody waits for its first token
            }
        } catch (RuntimeException e) {
            owner.crashed(e);
        }
    }

    /** The client reads a stream already: only another one can be a part of it. */
    private void goOn(int code, MultiMap engineHeaders) {
        AnswerPipe p = pipe(code, engineHeaders);
        pipe = p;
        if (p.isStream()) {
            become(AttemptState.PASSING);
            return;
        }
        detach();
        Duration pause = full;
        String name = candidate().worker().name();
        GatewayError error =
                pause == null
                        ? new GatewayError.BadUpstreamAnswer(
                                name, "status " + code + " to the rest of a stream")
                        : FullQueue.error(name, pause);
        boolean busy = code == 429 || pause != null || EngineFailures.isWorkersFault(code);
        if (!busy || !owner.moveElsewhere(this, candidate(), error, true)) {
            owner.breakAnswer(error, true);
        }
    }

    private AnswerPipe pipe(int code, MultiMap engineHeaders) {
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
        AnswerPipe made =
                new AnswerPipe(
                        scope.answer,
                        kind,
                        text,
                        options.holdBytes(),
                        options.tailBytes(),
                        asked.cutsUsage());
        made.foundElsewhere(foundByPrefill);
        return made;
    }

    @Override
    public void data(byte[] b, int from, int length) {
        received += length;
        AnswerPipe p = pipe;
        if (!state.isRead() || p == null) {
            if (received > DRAIN_BYTES && call != null) {
                call.cancel();
            }
            return;
        }
        try {
            if (status == 200 && fullIsElsewhere()) {
                return;
            }
            int complete = p.scan(b, from, length);
            if (p.hasOutput()) {
                books.output(status, p);
                if (prefill != null && status < 400) {
                    prefill.arrived();
                }
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
        if (state == AttemptState.HOLDING) {
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
        if (!state.isRead() || p == null) {
            become(AttemptState.CLOSED);
            return;
        }
        try {
            received += length;
            if (status == 200 && fullIsElsewhere()) {
                become(AttemptState.CLOSED);
                return;
            }
            int complete = length > 0 ? p.scan(b, from, length) : 0;
            if (length > 0 && p.hasOutput()) {
                books.output(status, p);
            }
            books.answered();
            boolean cut = p.cutUsage(b, from, length, complete, received);
            close();
            books.compare(status, p);
            books.computed(status, p);
            if (!isFull() && !isFaulty()) {
                books.tellFleet(RequestOutcome.OK);
            }
            if (state == AttemptState.HOLDING) {
                release(p);
            }
            become(AttemptState.CLOSED);
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
        AttemptState before = state;
        become(AttemptState.CLOSED);
        close();
        if (before == AttemptState.DETACHED) {
            return;
        }
        try {
            boolean begun = before == AttemptState.PASSING || books.continued() != null;
            boolean stale = before == AttemptState.SENT && isStaleConnection(error);
            if (stale && !begun && owner.leftToOther(this)) {
                return;
            }
            if (stale && owner.retryOnFreshConnection(this)) {
                return;
            }
            RequestOutcome outcome = EngineFailures.outcome(error);
            if (outcome != null) {
                books.tellFleet(outcome);
            }
            if (EngineFailures.isLostConnection(error)) {
                books.lost();
            }
            if (begun) {
                breakAnswer(candidate(), error);
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
        } else if (error instanceof GatewayError.OutOfFiles) {
            scope.parts.metrics().noFiles();
            owner.refused(Outcome.OVERLOADED, error);
        } else {
            owner.refused(Outcome.UPSTREAM_FAILED, error);
        }
    }

    /** Goes on elsewhere where that is certain to be possible; waits on where it is not. */
    @Override
    public void silent() {
        UpstreamCall waiting = call;
        if (waiting == null || state.isOver()) {
            return;
        }
        try {
            List<Candidate> others = owner.wellOthers(this);
            if (others.isEmpty()) {
                return;
            }
            if (!passesOn() && books.continued() == null) {
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

    @Override
    public void answeredBy(long worker) {
        if (state != AttemptState.SENT) {
            return;
        }
        try {
            Planner.Decided there = owner.wentTo(worker);
            if (there == null) {
                return;
            }
            AttemptBooks before = books;
            before.close(0, null);
            books = new AttemptBooks(scope, there, null);
            books.openLate(before, asked.model());
        } catch (RuntimeException e) {
            owner.crashed(e);
        }
    }

    private void breakAnswer(Candidate failed, GatewayError error) {
        AnswerPipe p = pipe;
        if (p != null && p.done()) {
            // Only the end of the HTTP message was lost; the client has all of the answer.
            books.compare(status, p);
            owner.finish(Outcome.OK);
            scope.answer.end(NOTHING, 0, 0);
            return;
        }
        if (!owner.moveElsewhere(this, failed, error, p != null && p.isStream())) {
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
        become(AttemptState.PASSING);
        owner.won(this);
        InferenceRequest request = scope.request();
        MultiMap own = scope.explanation(books.decided(), books.promptTokens(), asked.priority());
        if (own != null && request.form().explain() && p.isStream()) {
            scope.answer.explain(books.decision());
        }
        if (p.scanner() != null && !request.hints().extras().isEmpty()) {
            scope.answer.facts(this::facts);
        }
        MultiMap engine = Objects.requireNonNull(headers);
        Duration pause = full;
        if (pause != null && status >= 400 && !engine.contains("retry-after")) {
            own = own == null ? new HeaderList() : own;
            own.set("retry-after", Long.toString(pause.toSeconds()));
        }
        // A stream that may get an error event at its end cannot promise its length.
        scope.answer.head(status, engine, own, !p.isStream());
        owner.answered(kept);
        kept = null;
    }

    private void close() {
        PrefillLeg leg = prefill;
        if (leg != null) {
            prefill = null;
            leg.stop();
        }
        Relocation unused = kept;
        if (unused != null) {
            kept = null;
            unused.drop();
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
