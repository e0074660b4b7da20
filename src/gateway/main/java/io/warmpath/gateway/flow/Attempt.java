package io.warmpath.gateway.flow;

import io.vertx.core.MultiMap;
import io.vertx.core.buffer.Buffer;
import io.warmpath.fault.GatewayError;
import io.warmpath.fleet.Candidate;
import io.warmpath.fleet.RequestOutcome;
import io.warmpath.gateway.answer.Answer;
import io.warmpath.gateway.answer.AnswerFacts;
import io.warmpath.gateway.answer.Continued;
import io.warmpath.gateway.answer.Explanation;
import io.warmpath.gateway.answer.Holdback;
import io.warmpath.gateway.observe.DecisionLog;
import io.warmpath.gateway.observe.FlowMetrics.Outcome;
import io.warmpath.gateway.observe.FlowMetrics.RetryCause;
import io.warmpath.gateway.observe.Tracing;
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
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * One try of one request on one worker: books it, sends it, passes the answer on.
 *
 * <p>Until the first token nothing reaches the client ({@code released} is false), so a failure can
 * be answered by another attempt. A detached attempt has lost its request to another attempt; what
 * still comes is thrown away. All on the request's event loop.
 */
final class Attempt implements UpstreamListener, UpstreamCall.Watch {
    /** A detached error answer is read this far, so that its connection can be used again. */
    private static final int DRAIN_BYTES = 64 << 10;

    /** An engine's close of an idle connection shows within this time of sending on it. */
    private static final long STALE_NANOS = 1_000_000_000;

    private static final byte[] NOTHING = {};

    private final Exchange exchange;
    private final Planner.Decided decided;
    private final RoutingDecision decision;
    private final int promptTokens;
    private final @Nullable Continued continued;
    private final @Nullable Continued rest; // the same where its prompt ends with what was said
    private LoadBook.@Nullable Booking booking;
    private Sent sent = Sent.UNSEEN;
    private @Nullable AnswerReport report;
    private @Nullable UpstreamCall call;
    private Tracing.@Nullable Call traced;
    private String problem = "left";
    private @Nullable MultiMap headers;
    private @Nullable AnswerScanner scanner;
    private @Nullable Holdback held;
    private @Nullable Relocation kept; // until the exchange has it
    private long started;
    private long firstTokenNanos = -1;
    private int status;
    private long received;
    private boolean eventStream;
    private boolean keepLength;
    private boolean sawFirst;
    private boolean released;
    private EngineAsk asked = EngineAsk.NOTHING;
    private @Nullable PinTurn pin;
    private boolean detached;
    private long cutBefore; // usage events that end here or earlier are out already

    /**
     * @param continued the stream that it goes on with; null: it begins the answer
     */
    Attempt(
            Exchange exchange,
            Planner.Decided decided,
            int promptTokens,
            @Nullable Continued continued) {
        this.continued = continued;
        this.rest = continued == null || continued.anew() ? null : continued;
        this.released = continued != null;
        this.exchange = exchange;
        this.decided = decided;
        this.decision = decided.decision();
        this.promptTokens = promptTokens;
    }

    Planner.Decided decided() {
        return decided;
    }

    Candidate candidate() {
        return decision.chosen().candidate();
    }

    boolean released() {
        return released;
    }

    void start(boolean freshConnection) {
        RequestFlow flow = exchange.flow;
        InferenceRequest request = exchange.request;
        Candidate to = candidate();
        pin = PinTurn.of(exchange, decision);
        asked = EngineAsk.of(exchange, to, pin);
        // Before anything is booked: it may say that this worker cannot be asked so.
        EngineForm.Written written = exchange.form.write(request, to.worker(), asked.changes());
        Buffer body = continued == null ? written.body() : continued.body(written.body());
        booking =
                flow.load.book(
                        to.slot(),
                        decision.chosen().prefillTokens(),
                        exchange.prompt.blocks(to.worker()),
                        request.hints().expectedOutput());
        if (!request.passThrough()) {
            sent = flow.planner.sent(decision, request.stream());
        }
        report = AnswerReport.of(exchange, decision, promptTokens, continued, asked.model());
        started = flow.nanoTime.getAsLong();
        HeaderList extra = new HeaderList();
        extra.add("x-request-id", request.requestId());
        if (asked.rankInHeader()) {
            extra.add("X-data-parallel-rank", Integer.toString(to.dpRank()));
        }
        traced = exchange.traced(decision, promptTokens);
        if (traced != null) {
            traced.addTo(extra);
        }
        call =
                flow.engines.send(
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
                                ? exchange.nextTurn(
                                        to,
                                        exchange.form.read(to.worker(), exchange.answerTo(this)))
                                : continued.joining(this));
        call.watchedBy(this);
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
            if (code >= 400 && exchange.askAgainInFull(this)) {
                return;
            }
            if (isWorkersFault(code)) {
                tellFleet(RequestOutcome.FAILED);
            }
            if (continued != null) {
                goOn(code, engineHeaders);
                return;
            }
            if (code >= 300 && exchange.leftToOther(this)) {
                return;
            }
            if (isWorkersFault(code) && exchange.retryElsewhere(this, RetryCause.STATUS)) {
                return;
            }
            if (code >= 300 && code < 400 && code != 304) {
                // Its Location would name an address that the client must not see.
                abandon();
                exchange.refuse(
                        Outcome.UPSTREAM_FAILED,
                        new GatewayError.BadUpstreamAnswer(
                                candidate().worker().name(), "a redirect"));
                return;
            }
            prepare(code, engineHeaders);
        } catch (RuntimeException e) {
            exchange.crashed(e);
        }
    }

    /** The client reads a stream already: only another one can be a part of it. */
    private void goOn(int code, MultiMap engineHeaders) {
        prepare(code, engineHeaders);
        if (eventStream) {
            return;
        }
        detach();
        GatewayError error =
                new GatewayError.BadUpstreamAnswer(
                        candidate().worker().name(), "status " + code + " to the rest of a stream");
        boolean busy = code == 429 || isWorkersFault(code);
        if (!busy || !exchange.moveElsewhere(this, error, true)) {
            exchange.breakAnswer(error, true);
        }
    }

    private void prepare(int code, MultiMap engineHeaders) {
        String type = engineHeaders.get("content-type");
        boolean readable =
                code == 200
                        && !exchange.request.passThrough()
                        && type != null
                        && !engineHeaders.contains("content-encoding");
        eventStream = readable && startsWithIgnoreCase(type, "text/event-stream");
        keepLength = true;
        if (eventStream) {
            // A stream that may get an error event at its end cannot promise its length.
            keepLength = false;
            Relocation keeper = exchange.relocation();
            if (continued == null) {
                int known =
                        report == null || report.knowsBeginningOnly()
                                ? 0
                                : Math.max(0, promptTokens);
                keeper = Relocation.of(exchange, candidate(), known);
                kept = keeper;
            }
            scanner = AnswerScanner.ofEvents(keeper == null ? null : keeper.text());
            held = new Holdback(exchange.flow.options.tailBytes());
        } else if (readable && startsWithIgnoreCase(type, "application/json")) {
            scanner = AnswerScanner.ofJson();
        }
    }

    @Override
    public void data(byte[] b, int from, int length) {
        received += length;
        if (detached) {
            if (received > DRAIN_BYTES && call != null) {
                call.cancel();
            }
            return;
        }
        try {
            int complete = scan(b, from, length);
            if (booking != null) {
                booking.progress(scanner == null ? 0 : scanner.events());
            }
            if (cutUsage(b, from, length, complete)) {
                passOn(b, from, 0, 0);
            } else {
                passOn(b, from, length, complete);
            }
        } catch (RuntimeException e) {
            exchange.crashed(e);
        }
    }

    @Override
    public void end(byte[] b, int from, int length) {
        if (detached) {
            return;
        }
        try {
            received += length;
            int complete = length > 0 ? scan(b, from, length) : 0;
            problem = "";
            boolean cut = cutUsage(b, from, length, complete);
            closeBooking();
            compareWithReport();
            if (report != null) {
                report.computed(scanner, status, started);
            }
            if (!isWorkersFault(status)) {
                tellFleet(RequestOutcome.OK);
            }
            if (!released) {
                release();
            }
            exchange.finish(status < 400 ? Outcome.OK : Outcome.ENGINE_ERROR);
            Answer answer = exchange.answer;
            if (held == null) {
                answer.end(b, from, length);
            } else {
                held.end(b, from, cut ? 0 : length, answer::end);
            }
            if (pin != null) {
                pin.ended(status, foundCached());
            }
        } catch (RuntimeException e) {
            exchange.crashed(e);
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
            if (stale && !released && exchange.leftToOther(this)) {
                return;
            }
            if (stale && exchange.retryOnFreshConnection(this)) {
                return;
            }
            tellFleet(outcome(error));
            if (isLostConnection(error)) {
                exchange.flow.fleet.reportFailure(candidate().worker().id());
            }
            if (released) {
                breakAnswer(error);
            } else if (!exchange.leftToOther(this)) {
                answerOrRetry(error);
            }
        } catch (RuntimeException e) {
            exchange.crashed(e);
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
                && exchange.flow.nanoTime.getAsLong() - started < STALE_NANOS;
    }

    private void answerOrRetry(GatewayError error) {
        RetryCause cause = retryCause(error);
        boolean unreachable = cause == RetryCause.UNREACHABLE;
        if (cause != null && exchange.retryElsewhere(this, cause)) {
            return;
        }
        if (unreachable && exchange.retryAllLater(this)) {
            return;
        }
        if (unreachable) {
            exchange.refuse(Outcome.NO_WORKER, exchange.noWorker());
        } else {
            exchange.refuse(Outcome.UPSTREAM_FAILED, error);
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
            List<Candidate> others = exchange.wellOthers(this);
            if (others.isEmpty()) {
                return;
            }
            if (!released) {
                if (exchange.request.stream()
                        && (exchange.leftToOther(this)
                                || exchange.retryElsewhere(this, RetryCause.TIMEOUT))) {
                    waiting.cancel();
                }
            } else {
                exchange.whenMovable(
                        this,
                        others,
                        () -> {
                            waiting.cancel();
                            failed(new GatewayError.WorkerUnwell(candidate().worker().name()));
                        });
            }
        } catch (RuntimeException e) {
            exchange.crashed(e);
        }
    }

    /** Null: it is not tried again. */
    private @Nullable RetryCause retryCause(GatewayError error) {
        return switch (error) {
            case GatewayError.WorkerUnreachable e -> RetryCause.UNREACHABLE;
            case GatewayError.UpstreamBroke e -> RetryCause.BROKE;
            case GatewayError.BadUpstreamAnswer e -> RetryCause.BROKE;
            case GatewayError.UpstreamTimeout e when e.safeToRetry() -> RetryCause.UNREACHABLE;
            // A whole answer may just take as long as that, and would again.
            case GatewayError.UpstreamTimeout e ->
                    exchange.request.stream() ? RetryCause.TIMEOUT : null;
            default -> null;
        };
    }

    private void breakAnswer(GatewayError error) {
        if (scanner != null && scanner.done()) {
            // Only the end of the HTTP message was lost; the client has all of the answer.
            compareWithReport();
            exchange.finish(Outcome.OK);
            exchange.answer.end(NOTHING, 0, 0);
            return;
        }
        if (!exchange.moveElsewhere(this, error, eventStream)) {
            exchange.breakAnswer(error, isClean());
        }
    }

    /** All that has been passed on ends between two events of a stream. */
    boolean isClean() {
        return held == null ? continued != null : held.isClean();
    }

    /** The answer's end has been passed on, but for usage and {@code [DONE]}. */
    boolean finished() {
        return scanner != null && scanner.finished();
    }

    /** Looks at the bytes; how many of them lie before the end of the last complete event. */
    private int scan(byte[] b, int from, int length) {
        AnswerScanner s = scanner;
        int complete = s == null ? length : s.scan(b, from, length);
        if (!eventStream || (s != null && s.sawToken())) {
            firstToken();
        }
        return complete;
    }

    /**
     * Takes the usage report that we have asked for out of the stream, when these bytes end one.
     *
     * @return true when the bytes are held now, without it
     */
    private boolean cutUsage(byte[] b, int from, int length, int complete) {
        AnswerScanner s = scanner;
        Holdback h = held;
        if (!asked.cutsUsage() || s == null || h == null || s.usageEnd() <= cutBefore) {
            return false;
        }
        h.hold(b, from, length, complete);
        long start = received - h.length(); // of what is held, in the engine's stream
        h.cut(s.usageStart() - start, s.usageEnd() - start);
        cutBefore = s.usageEnd();
        return true;
    }

    private void firstToken() {
        if (!sawFirst) {
            sawFirst = true;
            firstTokenNanos = exchange.flow.nanoTime.getAsLong() - started;
            if (traced != null) {
                traced.firstToken(started + firstTokenNanos);
            }
            if (booking != null) {
                booking.firstToken();
                exchange.flow.admission.wake();
            }
            if (status < 400) {
                sent.firstToken();
                if (eventStream && continued == null) {
                    exchange.flow.retries.firstToken(exchange.request.model(), firstTokenNanos);
                }
                if (!exchange.request.passThrough() && continued == null) {
                    exchange.flow.fleet.firstToken(
                            candidate().worker().id(),
                            firstTokenNanos,
                            decision.chosen().prefillTokens());
                    exchange.meters().firstToken(exchange.nanosSinceStart());
                }
            }
        }
    }

    private void passOn(byte[] b, int from, int length, int complete) {
        Answer answer = exchange.answer;
        Holdback h = held;
        if (!released) {
            if (h != null && !isEnough(h.length() + length)) {
                h.hold(b, from, length, complete);
                return;
            }
            release();
        }
        if (h == null) {
            answer.write(b, from, length);
        } else {
            h.pass(b, from, length, complete, answer::write);
        }
        if (answer.isFull() && call != null) {
            UpstreamCall paused = call;
            paused.pause();
            answer.onDrain(paused::resume);
        }
    }

    /** A stream shows what the client should not wait for, or has become too long to be held. */
    private boolean isEnough(int heldBytes) {
        return (scanner != null && scanner.sawAnything())
                || heldBytes > exchange.flow.options.holdBytes();
    }

    private void release() {
        released = true;
        exchange.won(this);
        InferenceRequest request = exchange.request;
        boolean explain =
                switch (exchange.flow.options.explain()) {
                    case OFF -> false;
                    case ON_REQUEST -> request.explain();
                    case ALWAYS -> true;
                };
        MultiMap own =
                explain ? Explanation.headers(decision, promptTokens, request.several()) : null;
        if (own != null) {
            Explanation.addHints(own, request, asked.priority(), exchange.sessionTimeoutSeconds());
            Explanation.addSession(own, exchange.sessionWord());
        }
        if (explain && request.explain() && eventStream) {
            exchange.answer.explain(decision);
        }
        if (scanner != null && !request.hints().extras().isEmpty()) {
            exchange.answer.facts(this::facts);
        }
        MultiMap engineHeaders = headers == null ? MultiMap.caseInsensitiveMultiMap() : headers;
        exchange.answer.head(status, engineHeaders, own, keepLength);
        exchange.answered(kept);
        kept = null;
    }

    private void compareWithReport() {
        if (report != null) {
            boolean streamed = eventStream && firstTokenNanos >= 0;
            report.compare(
                    scanner,
                    status,
                    streamed ? exchange.flow.nanoTime.getAsLong() - started - firstTokenNanos : -1);
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
            sent.ended(scanner == null ? -1 : scanner.completionTokens());
            booking = null;
            exchange.flow.admission.wake();
            DecisionLog.Ending ending = ending();
            exchange.flow.planner.ended(decided, ending);
            if (status == 200) {
                long counted = ending.promptTokens();
                if (continued == null) {
                    exchange.used(counted < 0 ? promptTokens : counted, ending.outputTokens());
                } else { // the prompt and the first part have been counted where they were made
                    exchange.used(0, Math.max(0, ending.outputTokens() - continued.made()));
                }
            }
            endTrace();
        }
    }

    private void endTrace() {
        AnswerScanner s = scanner;
        if (traced != null) {
            traced.ended(
                    status,
                    problem,
                    s == null ? -1 : s.promptTokens(),
                    foundCached(),
                    s == null ? -1 : s.completionTokens(),
                    exchange.flow.nanoTime.getAsLong());
        }
    }

    /** Of the whole answer, whoever gave the first part of it. */
    AnswerFacts facts() {
        long nanos = exchange.nanosSinceStart();
        long untilSent = nanos - (exchange.flow.nanoTime.getAsLong() - started);
        long untilFirst = eventStream && firstTokenNanos >= 0 ? untilSent + firstTokenNanos : -1;
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
        AnswerScanner s = scanner;
        return s == null || rest != null ? -1 : s.cachedTokens();
    }

    /** The same of the worker that began the answer. */
    long cachedTokens() {
        return rest == null ? foundCached() : rest.cachedTokens();
    }

    private DecisionLog.Ending ending() {
        AnswerScanner s = scanner;
        long output = s == null ? -1 : s.completionTokens();
        int made = continued == null ? 0 : continued.made(); // the engine's count has it in it
        return new DecisionLog.Ending(
                status,
                s == null ? -1 : s.promptTokens(),
                output < 0 && s != null && eventStream ? made + s.events() : output,
                foundCached(),
                firstTokenNanos,
                exchange.flow.nanoTime.getAsLong() - started);
    }

    private void tellFleet(RequestOutcome outcome) {
        exchange.flow.fleet.ended(candidate().worker().id(), outcome, started);
    }

    private static RequestOutcome outcome(GatewayError error) {
        return switch (error) {
            case GatewayError.BadUpstreamAnswer e -> RequestOutcome.FAILED;
            case GatewayError.UpstreamTimeout e -> RequestOutcome.STALLED;
            case GatewayError.WorkerUnwell e -> RequestOutcome.STALLED;
            default -> RequestOutcome.LOST;
        };
    }

    private static boolean isWorkersFault(int code) {
        return code == 500 || code == 502 || code == 503 || code == 504;
    }

    private static boolean isLostConnection(GatewayError error) {
        return error instanceof GatewayError.WorkerUnreachable
                || error instanceof GatewayError.UpstreamBroke
                || (error instanceof GatewayError.UpstreamTimeout && error.safeToRetry());
    }

    private static boolean startsWithIgnoreCase(String text, String prefix) {
        return text.regionMatches(true, 0, prefix, 0, prefix.length());
    }
}
