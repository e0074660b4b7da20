package io.warmpath.gateway.flow;

import io.warmpath.admission.Admission;
import io.warmpath.fault.GatewayError;
import io.warmpath.fleet.Candidate;
import io.warmpath.fleet.Fleet;
import io.warmpath.fleet.RequestOutcome;
import io.warmpath.gateway.answer.AnswerFacts;
import io.warmpath.gateway.answer.AnswerPipe;
import io.warmpath.gateway.answer.AnswerReport;
import io.warmpath.gateway.answer.Continued;
import io.warmpath.gateway.observe.DecisionLog;
import io.warmpath.gateway.observe.Tracing;
import io.warmpath.gateway.plan.Planner;
import io.warmpath.gateway.request.InferenceRequest;
import io.warmpath.load.LoadBook;
import io.warmpath.load.PromptBlocks;
import io.warmpath.net.HeaderList;
import io.warmpath.routing.NotExact;
import io.warmpath.routing.RoutingDecision;
import io.warmpath.routing.rates.Sent;
import io.warmpath.upstream.answer.AnswerScanner;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * The books of one attempt: the load booked on its worker, and what the fleet, the router, the
 * meters, the trace and the log of decisions get from it. Opened once, closed once. On the
 * request's event loop.
 */
final class AttemptBooks {
    /** An engine's close of an idle connection shows within this time of sending on it. */
    private static final long STALE_NANOS = 1_000_000_000;

    /** Expected of an answer without tokens: 0 would say that it is not known. */
    private static final int NOTHING_DECODED = 1;

    private final RequestScope scope;
    private Planner.Decided decided;
    private final @Nullable Continued continued;
    private final int promptTokens; // -1 when it is not known
    private LoadBook.@Nullable Booking booking;
    private List<LoadBook.Booking> beside = List.of(); // decodes that run beside the first one
    private Sent sent = Sent.UNSEEN;
    private @Nullable UnseenPrefill unseen;
    private @Nullable AnswerReport report;
    private Tracing.@Nullable Call traced;
    private String problem = "left";
    private long started;
    private long asked;
    private long firstTokenNanos = -1;
    private boolean late;

    /** {@code continued}: the stream that it goes on with; null: it begins the answer. */
    AttemptBooks(RequestScope scope, Planner.Decided decided, @Nullable Continued continued) {
        this.scope = scope;
        this.decided = decided;
        this.continued = continued;
        int length = scope.prompt.length(candidate().worker());
        this.promptTokens = continued != null || length == 0 ? -1 : length;
    }

    Planner.Decided decided() {
        return decided;
    }

    /** What the engine will report is not what was predicted. Before {@link #open}. */
    void notExact(NotExact why) {
        decided = decided.notExact(why);
    }

    RoutingDecision decision() {
        return decided.decision();
    }

    Candidate candidate() {
        return decision().chosen().candidate();
    }

    /** Tokens of the prompt that were predicted to be cached where it is computed. */
    private int predictedCached() {
        return decided.computing().chosen().cachedTokens();
    }

    /** The stream that it goes on with; null: it begins the answer. */
    @Nullable Continued continued() {
        return continued;
    }

    /** -1 when it is not known. */
    int promptTokens() {
        return promptTokens;
    }

    /** The prompt's length where it is known whole; else 0. */
    int wholePrompt() {
        return report == null || report.knowsBeginningOnly() ? 0 : Math.max(0, promptTokens);
    }

    /**
     * It is about to be sent.
     *
     * @param model by the engine's name
     * @param tag that its engine tells of it with; empty: none
     */
    void open(String model, String tag) {
        book(model);
        if (report != null) {
            report.tagged(tag);
        }
        if (!scope.request().passThrough()) {
            sent = planner().sent(decision(), scope.request().stream());
            watchPrefill();
        }
        started = scope.now();
        asked = started;
    }

    /** Where neither a first token nor its end tells when the prompt is computed. */
    private void watchPrefill() {
        InferenceRequest request = scope.request();
        long nanos = request.stream() ? Sent.NOT_KNOWN : sent.prefillNanos();
        if (nanos != Sent.NOT_KNOWN
                && request.form().decodes() > 0
                && decision().chosen().prefillTokens() > 0) {
            unseen = new UnseenPrefill(scope, decision(), sent, this::prefilled, nanos);
        }
    }

    /** It is sent now: its prompt was computed elsewhere meanwhile. */
    void sentNow() {
        asked = scope.now();
    }

    /**
     * As {@link #open}, of a worker that has it already: how long it takes from when it was sent
     * there nobody has seen, and nobody learns from.
     *
     * @param asked the books of the worker that was asked
     */
    void openLate(AttemptBooks asked, String model) {
        book(model);
        late = true;
        started = asked.started;
        if (scope.trace != null) {
            traced = scope.trace.call(decision(), promptTokens, started);
        }
    }

    private void book(String model) {
        InferenceRequest request = scope.request();
        Sending sending = scope.parts.sending();
        Candidate to = candidate();
        booking =
                sending.load()
                        .book(
                                to.slot(),
                                decision().chosen().prefillTokens(),
                                scope.prompt.blocks(to.worker()),
                                expectedOutput());
        for (int i = 1; i < request.form().decodes(); i++) {
            beside = beside.isEmpty() ? new ArrayList<>() : beside;
            PromptBlocks none = PromptBlocks.unnamed(to.worker().blockSize(), 0);
            beside.add(sending.load().book(to.slot(), 0, none, expectedOutput()));
        }
        if (!request.name().lora().isEmpty()) {
            planner().adapters().began(to.slot(), request.name().lora());
        }
        report =
                AnswerReport.of(
                        sending.reports(),
                        scope.meters(),
                        request,
                        scope.prompt,
                        decided.computing(),
                        promptTokens,
                        continued,
                        model);
    }

    private int expectedOutput() {
        InferenceRequest request = scope.request();
        return request.form().decodes() == 0 ? NOTHING_DECODED : request.hints().expectedOutput();
    }

    /** Tells the engine of the request's trace, where it is followed. */
    void trace(HeaderList headers) {
        if (scope.trace != null) {
            traced = scope.trace.call(decision(), promptTokens, scope.now());
            traced.addTo(headers);
        }
    }

    /** It was sent so short a time ago that a kept connection may not have been alive any more. */
    boolean isJustSent() {
        return scope.now() - asked < STALE_NANOS;
    }

    /** The answer grows. */
    void progress(AnswerPipe pipe) {
        if (booking != null) {
            booking.progress(pipe.events());
        }
    }

    /** Output has come; only the first time counts. */
    void output(int status, AnswerPipe pipe) {
        if (firstTokenNanos >= 0) {
            return;
        }
        firstTokenNanos = scope.now() - started;
        if (traced != null) {
            traced.firstToken(started + firstTokenNanos);
        }
        prefilled();
        if (status >= 400) {
            return;
        }
        sent.firstToken();
        if (continued != null) {
            return;
        }
        InferenceRequest request = scope.request();
        if (pipe.isStream()) {
            scope.parts.retries().firstToken(request.model(), firstTokenNanos);
        }
        if (!request.passThrough()) {
            if (!late && decided.prefill() == null) {
                fleet().firstToken(
                                candidate().worker().id(),
                                firstTokenNanos,
                                decision().chosen().prefillTokens());
            }
            scope.meters().firstToken(scope.nanosSinceStart());
        }
    }

    /** Its prompt is computed: the worker has room for that of another one. */
    private void prefilled() {
        if (booking != null) {
            booking.firstToken();
            beside.forEach(LoadBook.Booking::firstToken);
            admission().wake();
        }
    }

    /** The worker has failed it so. */
    void failed(GatewayError error) {
        problem = error.getClass().getSimpleName();
    }

    /** The worker has given all of its answer. */
    void answered() {
        problem = "";
    }

    /** The worker is done with it, or left. Harmless when it was closed before. */
    void close(int status, @Nullable AnswerPipe pipe) {
        if (booking == null) {
            return;
        }
        AnswerScanner s = scanner(pipe);
        booking.close();
        beside.forEach(LoadBook.Booking::close);
        String adapter = scope.request().name().lora();
        if (!adapter.isEmpty()) {
            planner().adapters().ended(candidate().slot(), adapter);
        }
        if (unseen != null) {
            unseen.stop(problem.isEmpty() && status == 200);
        }
        // Answers of one request are decoded side by side.
        sent.ended(s == null ? -1 : s.completionTokens() / (1 + beside.size()));
        booking = null;
        admission().wake();
        DecisionLog.Ending ending = ending(status, pipe);
        planner().ended(decided, problem, ending);
        scope.made(ending.outputTokens() - (continued == null ? 0 : continued.made()));
        if (status == 200) {
            long counted = ending.promptTokens();
            if (continued == null) {
                scope.used(counted < 0 ? promptTokens : counted, ending.outputTokens());
            } else {
                scope.usedMore(ending.outputTokens() - continued.made());
            }
        }
        if (traced != null) {
            boolean whole = problem.isEmpty() || (pipe != null && pipe.done());
            if (whole && report != null && report.isComparable(s)) {
                traced.compared(predictedCached(), ending.cachedTokens());
            }
            traced.ended(problem, ending, scope.now());
        }
    }

    /** Holds what was predicted against what the engine reports: the client has all of it. */
    void compare(int status, AnswerPipe pipe) {
        if (report != null) {
            boolean streamed = pipe.isStream() && firstTokenNanos >= 0;
            report.compare(
                    pipe.scanner(),
                    status,
                    streamed ? scope.now() - started - firstTokenNanos : -1);
        }
    }

    /** The rank has computed the prompt: its events should say so. */
    void computed(int status, AnswerPipe pipe) {
        if (report != null) {
            report.computed(pipe.scanner(), status, started);
        }
    }

    void tellFleet(RequestOutcome outcome) {
        fleet().ended(candidate().worker().id(), outcome, started);
    }

    /** The connection to the worker is gone, or none could be made. */
    void lost() {
        fleet().reportFailure(candidate().worker().id());
    }

    /** Of the whole answer, whoever gave the first part of it. */
    AnswerFacts facts(int status, @Nullable AnswerPipe pipe) {
        long nanos = scope.nanosSinceStart();
        long untilSent = nanos - (scope.now() - started);
        boolean streams = pipe != null && pipe.isStream();
        long untilFirst = streams && firstTokenNanos >= 0 ? untilSent + firstTokenNanos : -1;
        DecisionLog.Ending now = ending(status, pipe);
        AnswerFacts before = continued == null ? null : continued.before();
        Candidate computing = decided.computing().chosen().candidate();
        return new AnswerFacts(
                candidate().worker().id(),
                candidate().dpRank(),
                computing.worker().id(),
                computing.dpRank(),
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
        Continued r = rest();
        if (r != null) {
            return r.before().cachedTokens();
        }
        return reported < 0 && promptTokens >= 0 ? predictedCached() : reported;
    }

    /** Tokens that this worker has found cached of the request's own prompt; -1: not known. */
    long foundCached(@Nullable AnswerPipe pipe) {
        AnswerScanner s = scanner(pipe);
        return s == null || rest() != null ? -1 : s.cachedTokens();
    }

    /** The same of the worker that began the answer. */
    long cachedTokens(@Nullable AnswerPipe pipe) {
        Continued r = rest();
        return r == null ? foundCached(pipe) : r.cachedTokens();
    }

    /** The stream that it goes on with, where its prompt ends with what was said. */
    private @Nullable Continued rest() {
        return continued == null || continued.anew() ? null : continued;
    }

    private DecisionLog.Ending ending(int status, @Nullable AnswerPipe pipe) {
        AnswerScanner s = scanner(pipe);
        long output = s == null ? -1 : s.completionTokens();
        int made = continued == null ? 0 : continued.made(); // the engine's count has it in it
        boolean streams = pipe != null && pipe.isStream();
        return new DecisionLog.Ending(
                status,
                s == null ? -1 : s.promptTokens(),
                output < 0 && s != null && streams ? made + s.events() : output,
                output >= 0,
                foundCached(pipe),
                firstTokenNanos,
                scope.now() - started);
    }

    private static @Nullable AnswerScanner scanner(@Nullable AnswerPipe pipe) {
        return pipe == null ? null : pipe.scanner();
    }

    private Admission admission() {
        return scope.parts.planning().entrance().admission();
    }

    private Planner planner() {
        return scope.parts.planning().planner();
    }

    private Fleet fleet() {
        return scope.parts.planning().fleet();
    }
}
