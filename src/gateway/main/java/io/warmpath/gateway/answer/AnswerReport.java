package io.warmpath.gateway.answer;

import io.warmpath.fleet.Candidate;
import io.warmpath.fleet.EventWatch;
import io.warmpath.fleet.probe.EngineTokenizer;
import io.warmpath.gateway.observe.FlowMetrics;
import io.warmpath.gateway.observe.ModelMeters;
import io.warmpath.gateway.prompt.AskedPrompt;
import io.warmpath.gateway.prompt.Engines;
import io.warmpath.gateway.request.InferenceRequest;
import io.warmpath.gateway.selfcheck.SelfCheck;
import io.warmpath.gateway.shared.SharedCache;
import io.warmpath.routing.NotExact;
import io.warmpath.routing.RoutingDecision;
import io.warmpath.session.WarmLedger;
import io.warmpath.tokens.profile.EngineProfile;
import io.warmpath.tokens.template.LearntMedia;
import io.warmpath.tokens.template.PromptInput;
import io.warmpath.upstream.answer.AnswerScanner;
import org.jspecify.annotations.Nullable;

/**
 * What was predicted for one attempt, compared with what its engine reports at the end: cached
 * tokens, the prompt's length, what must be stored now. On the request's event loop.
 */
public final class AnswerReport {
    /** So many whole blocks beyond what was cached are computed for certain, and stored. */
    private static final int CERTAIN_BLOCKS = 2;

    /**
     * Parts that all reports use.
     *
     * @param warmed what has been computed ahead
     * @param shared the pools of the workers; null: none is asked
     * @param events where what ranks have computed should show
     */
    public record Parts(
            WarmLedger warmed,
            @Nullable SharedCache shared,
            SelfCheck selfCheck,
            EventWatch events,
            FlowMetrics metrics) {}

    private final Parts parts;
    private final ModelMeters meters;
    private final RoutingDecision decision;
    private final int promptTokens;
    private final boolean passThrough;
    private final @Nullable Continued stream;
    private final boolean beginningOnly; // what is cached beyond it was not predicted
    private final LearntMedia.@Nullable Lesson media;
    private final SelfCheck.@Nullable Check check;
    private final @Nullable Runnable pooled;
    private final WarmLedger.@Nullable Warmed warmed;
    private @Nullable StoredMedia stored;

    private AnswerReport(
            Parts parts,
            ModelMeters meters,
            InferenceRequest request,
            RoutingDecision decision,
            int promptTokens,
            @Nullable Continued stream,
            boolean beginningOnly,
            LearntMedia.@Nullable Lesson media,
            SelfCheck.@Nullable Check check,
            @Nullable Runnable pooled,
            WarmLedger.@Nullable Warmed warmed) {
        this.parts = parts;
        this.meters = meters;
        this.passThrough = request.passThrough();
        this.decision = decision;
        this.promptTokens = promptTokens;
        this.stream = stream;
        this.beginningOnly = beginningOnly;
        this.media = media;
        this.check = check;
        this.pooled = pooled;
        this.warmed = warmed;
    }

    /**
     * For an attempt that is about to be sent.
     *
     * @param meters of its model
     * @param promptTokens -1 when they are not known
     * @param stream that it goes on with; null: it begins the answer
     * @param model by the engine's name
     */
    public static AnswerReport of(
            Parts parts,
            ModelMeters meters,
            InferenceRequest request,
            AskedPrompt prompt,
            RoutingDecision decision,
            int promptTokens,
            @Nullable Continued stream,
            String model) {
        Candidate to = decision.chosen().candidate();
        EngineProfile engine = Engines.of(to.worker().kind());
        PromptInput.Extent extent =
                !request.passThrough() && request.prompt() instanceof PromptInput.Conversation chat
                        ? chat.extent()
                        : null;
        boolean beginningOnly = extent != null && extent.isBeginning(engine);
        LearntMedia.Lesson media = extent == null ? null : extent.lesson(engine);
        if (stream != null) {
            return new AnswerReport(
                    parts,
                    meters,
                    request,
                    decision,
                    promptTokens,
                    stream,
                    beginningOnly,
                    null,
                    null,
                    null,
                    null);
        }
        WarmLedger.Warmed warmed =
                parts.warmed().take(prompt.blocks(to.worker()).chain(), to.slot().index());
        SharedCache shared = parts.shared();
        Runnable pooled =
                shared == null || request.passThrough()
                        ? null
                        : shared.sent(to.worker(), prompt.knownIds(to.worker()), request.space());
        SelfCheck.Check check =
                beginningOnly || media != null || request.passThrough()
                        ? null
                        : check(parts.selfCheck(), request, prompt, to, model);
        return new AnswerReport(
                parts,
                meters,
                request,
                decision,
                promptTokens,
                null,
                beginningOnly,
                media,
                check,
                pooled,
                warmed);
    }

    private static SelfCheck.@Nullable Check check(
            SelfCheck selfCheck,
            InferenceRequest request,
            AskedPrompt prompt,
            Candidate to,
            String model) {
        return selfCheck.sent(
                request.model(),
                to.worker(),
                request.prompt(),
                prompt.length(to.worker()),
                prompt.ids(to.worker(), request),
                () ->
                        new EngineTokenizer.Question(
                                model,
                                request.body().getBytes(),
                                request.headers().get("authorization")));
    }

    /**
     * What its engine stores is told with this tag.
     *
     * @param tag empty: with none
     */
    public void tagged(String tag) {
        if (media != null && !tag.isEmpty()) {
            stored = new StoredMedia(media);
            parts.events().listen(tag, stored);
        }
    }

    /** The prompt is known up to some place only, so that its length is not. */
    public boolean knowsBeginningOnly() {
        return beginningOnly;
    }

    /**
     * The cached tokens that the engine reports are those that were predicted, or should be.
     *
     * @param s has read the answer to its end
     */
    public boolean isComparable(@Nullable AnswerScanner s) {
        return stream == null && knowsWhole() && s != null && s.cachedTokens() >= 0;
    }

    private boolean knowsWhole() {
        NotExact why = decision.notExact();
        return promptTokens >= 0 && !beginningOnly && (why == null || why.compares());
    }

    /**
     * The answer has ended.
     *
     * @param s has read it; null: its body was not read along
     * @param streamedNanos from its first token to its end; -1 where it was no stream
     */
    public void compare(@Nullable AnswerScanner s, int status, long streamedNanos) {
        if (stream != null) {
            // What was predicted was the prompt's, without the answer's beginning.
            if (s != null && status < 400) {
                long cached = stream.anew() ? s.cachedTokens() : stream.cachedTokens();
                meters.reported(s.promptTokens(), cached, s.completionTokens());
                parts.metrics().predictions().notExact(NotExact.MOVED);
            }
            return;
        }
        FlowMetrics metrics = parts.metrics();
        NotExact why = decision.notExact();
        if (why == null && (s == null || s.cachedTokens() < 0)) {
            why = NotExact.NOT_REPORTED;
        }
        if (why != null && status < 400) {
            metrics.predictions().notExact(why);
        }
        int predicted = decision.chosen().cachedTokens();
        boolean whole = knowsWhole();
        if (whole && !passThrough) {
            metrics.predictions()
                    .predicted(promptTokens, predicted); // beside what is reported, else misleading
        }
        if (s != null && s.cachedTokens() >= 0) {
            metrics.predictions().reported(s.cachedTokens());
            if (warmed != null) {
                metrics.prefills().found(warmed.hit(s.cachedTokens()));
            }
            if (whole) {
                metrics.predictions()
                        .compared(
                                decision.chosen().candidate().worker().name(),
                                predicted,
                                s.cachedTokens());
            }
        }
        if (s != null && s.promptTokens() >= 0 && check != null) {
            check.answered(s.promptTokens());
        }
        if (s != null && s.promptTokens() > 0 && status < 400 && media != null) {
            media.answered(s.promptTokens());
            if (stored != null && s.cachedTokens() >= 0) {
                stored.answered(s.promptTokens(), s.cachedTokens());
            }
        }
        if (s != null && status < 400 && !passThrough) {
            meters.reported(s.promptTokens(), s.cachedTokens(), s.completionTokens());
            if (streamedNanos >= 0) {
                meters.streamed(
                        streamedNanos,
                        s.completionTokens() >= 0 ? s.completionTokens() : s.events());
            }
        }
    }

    /**
     * The rank has computed whole blocks: its events should say so.
     *
     * @param since when it was sent, by the flow's clock
     */
    public void computed(@Nullable AnswerScanner s, int status, long since) {
        Candidate to = decision.chosen().candidate();
        int blockSize = to.worker().blockSize();
        if (status >= 400
                || promptTokens < 0
                || blockSize <= 0
                || to.worker().disaggregation().decodesOnly()) {
            return;
        }
        long reported = s == null ? -1 : s.cachedTokens();
        long cached = Math.max(decision.chosen().cachedTokens(), reported);
        if (pooled != null) {
            pooled.run();
        }
        if (promptTokens - cached >= (long) CERTAIN_BLOCKS * blockSize) {
            parts.events().computed(to, since);
        }
    }
}
