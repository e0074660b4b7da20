package io.warmpath.gateway.flow;

import io.warmpath.fault.GatewayError;
import io.warmpath.fault.GatewayException;
import io.warmpath.fleet.Candidate;
import io.warmpath.fleet.EngineKind;
import io.warmpath.gateway.answer.AnswerFacts;
import io.warmpath.gateway.answer.Continued;
import io.warmpath.gateway.answer.StreamMove;
import io.warmpath.gateway.migration.ContinuationPoint;
import io.warmpath.gateway.migration.ContinuedBody;
import io.warmpath.gateway.migration.KeptStream;
import io.warmpath.gateway.migration.LastChunks;
import io.warmpath.gateway.migration.Migration;
import io.warmpath.gateway.migration.Migration.Cause;
import io.warmpath.gateway.migration.NotContinuedException;
import io.warmpath.gateway.migration.WhyNot;
import io.warmpath.gateway.observe.DecisionCause;
import io.warmpath.gateway.observe.FlowMetrics.Outcome;
import io.warmpath.gateway.plan.Planner;
import io.warmpath.gateway.prompt.Engines;
import io.warmpath.gateway.request.EngineForm;
import io.warmpath.gateway.request.InferenceRequest;
import io.warmpath.tokens.template.PromptInput;
import io.warmpath.upstream.answer.StreamText;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.concurrent.RejectedExecutionException;
import org.jboss.logging.Logger;
import org.jspecify.annotations.Nullable;

/**
 * Goes on elsewhere with a stream whose worker has failed it after output had begun. One per
 * attempt whose answer could be moved, from its head on; the request keeps that of the attempt that
 * answers its client. On the request's event loop; only the text is counted elsewhere.
 */
final class Relocation {
    private static final Logger LOG = Logger.getLogger(Relocation.class);

    /** One worker's part of the stream. */
    interface Source {
        Candidate candidate();

        /** The answer's end has been passed on, but for usage and {@code [DONE]}. */
        boolean finished();

        /** All that has been passed on ends between two events. */
        boolean isClean();

        /** Of the prompt, as the worker that began the answer has reported; -1: it has not. */
        long cachedTokens();

        /** Of the whole answer, whoever gave the first part of it. */
        AnswerFacts facts();
    }

    /** The request of the stream. */
    interface Owner {
        boolean isOver();

        /** The one that answers the client; null when there is none. */
        @Nullable Source running();

        /** On the request's event loop; what goes wrong there is a bug. */
        void later(Runnable step);

        /** Goes on with the stream there. */
        void goOn(Planner.Decided decided, Continued stream);

        /** Ends the answer, of which only this was missing. */
        void completed(byte[] end);

        /** Ends an answer of which the client has a part. */
        void breakAnswer(GatewayError error, boolean betweenEvents);

        void crashed(RuntimeException cause);
    }

    private final RequestScope scope;
    private final Owner owner;
    private final Migration migration;
    private final KeptStream kept;
    private final int promptTokens;
    private final boolean chat;
    private final ContinuationFinder continuations;
    private @Nullable Cause cause; // of the last move

    private Relocation(
            RequestScope scope,
            Owner owner,
            KeptStream kept,
            int promptTokens,
            boolean chat,
            ContinuationFinder continuations) {
        this.scope = scope;
        this.owner = owner;
        this.migration = scope.parts.moving().migration();
        this.kept = kept;
        this.promptTokens = promptTokens;
        this.chat = chat;
        this.continuations = continuations;
    }

    /**
     * For a stream that begins now.
     *
     * @param promptTokens 0 when the prompt's length is not known
     * @return null: it will not be moved
     */
    static @Nullable Relocation of(
            RequestScope scope, Owner owner, Candidate from, int promptTokens) {
        if (whyNever(scope, true, from) != null) {
            return null;
        }
        InferenceRequest request = scope.request();
        boolean chat = request.target().startsWith("/v1/chat/");
        ContinuationFinder continuations = new ContinuationFinder(scope, chat, owner::later);
        long bytes = (continuations.keepsTexts() ? 2L : 1L) * request.body().length();
        Migration migration = scope.parts.moving().migration();
        KeptStream kept = migration.keep((int) Math.min(Integer.MAX_VALUE, bytes));
        return kept == null
                ? null
                : new Relocation(scope, owner, kept, promptTokens, chat, continuations);
    }

    /**
     * @param stream the answer is a stream of events
     * @return null: it may be moved, as far as this goes
     */
    static @Nullable WhyNot whyNever(RequestScope scope, boolean stream, Candidate from) {
        if (!stream || scope.request().passThrough() || !scope.request().stream()) {
            return WhyNot.NOT_A_STREAM;
        } else if (scope.form != EngineForm.AS_SENT) {
            return WhyNot.TOKEN_FORM;
        }
        return from.worker().kind().isPlain() ? WhyNot.ENGINE_KIND : null;
    }

    /** Gets all that is passed on. */
    StreamText text() {
        return kept.text();
    }

    /**
     * @return false when the stream has to be broken
     */
    boolean move(Source failed, GatewayError error) {
        WhyNot why = whyNot(failed, error);
        if (why != null) {
            giveUp(why);
            return false;
        }
        Cause broke = cause(error);
        if (failed.finished() && !wantsUsage()) {
            cause = broke;
            complete("");
            return true;
        }
        String model = scope.request().model();
        String text = ContinuedBody.text(kept.text().escaped());
        int pieces = kept.text().pieces();
        ContinuationPoint known = continuations.known(pieces);
        LOG.infof(
                "%s: %s; its stream is to %s after %d events",
                scope.request().requestId(),
                error.message(),
                failed.finished() ? "end" : "go on",
                pieces);
        try {
            scope.parts
                    .moving()
                    .lanes()
                    .lengthy(
                            () -> {
                                int made = Math.max(pieces, count(model, failed.candidate(), text));
                                ContinuationPoint here =
                                        known != null ? known : continuations.find(text);
                                owner.later(() -> goOn(failed, made, here, error, broke));
                            });
        } catch (RejectedExecutionException e) {
            ContinuationPoint here = known != null ? known : continuations.unproven(text);
            goOn(failed, pieces, here, error, broke); // on this thread: what is left is splicing
        }
        return true;
    }

    /**
     * Runs {@code move}, now or soon, when a move from there would not be refused for what the
     * request is, for what has been said or for who is there to go on with it. Nothing where it
     * would, where too much else is to be done, or where the worker speaks again meanwhile.
     */
    void whenPossible(Source from, List<Candidate> others, Runnable move) {
        GatewayError unwell = new GatewayError.WorkerUnwell(from.candidate().worker().name());
        if (isAtLimit() || scope.answer.isFull() || whyNot(from, unwell) != null) {
            return;
        }
        try {
            ContinuedBody.of(scope.request().body().getBytes(), chat).check(kept.text());
        } catch (NotContinuedException e) {
            return;
        }
        String text = ContinuedBody.text(kept.text().escaped());
        int pieces = kept.text().pieces();
        ContinuationPoint known = continuations.known(pieces);
        ContinuationPoint now = known != null ? known : continuations.unproven(text);
        if (others.stream().anyMatch(c -> isProven(c, now, known != null))) {
            move.run();
        } else if (known == null && others.stream().anyMatch(Relocation::isVllm)) {
            continuations.look(
                    text,
                    pieces,
                    found -> {
                        boolean same = kept.text().pieces() == pieces && !owner.isOver();
                        if (same
                                && owner.running() == from
                                && others.stream().anyMatch(c -> goesOn(c, found))) {
                            move.run();
                        }
                    });
        }
    }

    private static boolean goesOn(Candidate candidate, ContinuationPoint here) {
        return here.whyNot(candidate.worker().kind()) == null;
    }

    private static boolean isVllm(Candidate candidate) {
        return candidate.worker().kind() == EngineKind.VLLM;
    }

    /** It goes on there, whatever a template that has not been asked might say. */
    private static boolean isProven(Candidate candidate, ContinuationPoint here, boolean asked) {
        boolean open = !asked && here.asksTemplate() && isVllm(candidate);
        return !open && goesOn(candidate, here);
    }

    private @Nullable WhyNot whyNot(Source failed, GatewayError error) {
        boolean slow = error instanceof GatewayError.UpstreamTimeout && scope.answer.isFull();
        if (slow) {
            return WhyNot.CLIENT_SLOW;
        } else if (!failed.isClean()) {
            return WhyNot.INSIDE_EVENT;
        } else if (kept.text().isLost()) {
            return WhyNot.TOO_LARGE;
        } else if (failed.finished()) {
            return wantsUsage() && promptTokens == 0 ? WhyNot.FINISHED : null;
        } else if (scope.request().routing().pinnedWorker().isPresent()) {
            return WhyNot.PINNED;
        } else if (scope.request().hints().session() != null) {
            return WhyNot.SESSION;
        }
        if (error instanceof GatewayError.WorkerUnreachable
                || error instanceof GatewayError.Overloaded) {
            kept.notMoved();
        }
        return null;
    }

    /** Another worker may not be asked; what only lacks its end needs none. */
    private boolean isAtLimit() {
        return kept.moves() >= migration.options().limit() || scope.retryState.areMany();
    }

    private boolean wantsUsage() {
        return scope.request().edits().asksForUsage(scope.request().body());
    }

    private static Cause cause(GatewayError error) {
        return switch (error) {
            case GatewayError.UpstreamTimeout t -> Cause.STALLED;
            case GatewayError.WorkerUnwell u -> Cause.STALLED;
            case GatewayError.BadUpstreamAnswer b -> Cause.BAD_ANSWER;
            default -> Cause.BROKE;
        };
    }

    /** The text's tokens; 0 when they cannot be counted. */
    private int count(String model, Candidate from, String text) {
        try {
            return tokens(model, from, text) - tokens(model, from, "");
        } catch (RuntimeException | LinkageError e) {
            LOG.debugf(e, "%s: its tokens are not known", scope.request().requestId());
            return 0;
        }
    }

    private int tokens(String model, Candidate from, String text) {
        return scope.parts
                .moving()
                .tokens()
                .tokens(model, new PromptInput.Text(text), Engines.of(from.worker().kind()))
                .map(ids -> ids.length)
                .orElse(0);
    }

    private void goOn(
            Source failed, int made, ContinuationPoint here, GatewayError error, Cause broke) {
        if (owner.isOver()) {
            return;
        }
        try {
            if (failed.finished()) {
                cause = broke;
                complete(lastChunks().usage(promptTokens, made, failed.cachedTokens()));
                return;
            }
            ContinuedBody body = ContinuedBody.of(scope.request().body().getBytes(), chat);
            body.check(kept.text());
            if (body.isSpent(made)) {
                if (wantsUsage() && promptTokens == 0) {
                    throw new NotContinuedException(WhyNot.FINISHED);
                }
                cause = broke;
                LastChunks last = lastChunks();
                String usage =
                        wantsUsage() ? last.usage(promptTokens, made, failed.cachedTokens()) : "";
                complete(last.cutByLength() + usage);
                return;
            }
            if (isAtLimit()) {
                throw new NotContinuedException(WhyNot.LIMIT);
            }
            Planner.Decided decided =
                    WorkerChoice.elsewhere(scope, DecisionCause.MOVE, c -> goesOn(c, here));
            if (decided == null) {
                throw new NotContinuedException(whyNoWorker(failed, here));
            }
            cause = broke;
            kept.moved();
            migration.moved(broke);
            scope.answer.moved(
                    new StreamMove(
                            failed.candidate().worker().name(),
                            broke,
                            made,
                            scope.nanosSinceStart(),
                            decided.decision()));
            owner.goOn(
                    decided,
                    new Continued(
                            kept.text(),
                            made,
                            promptTokens,
                            failed.cachedTokens(),
                            chat,
                            here.said().isEmpty(),
                            failed.facts()));
        } catch (NotContinuedException e) {
            giveUp(e.why());
            owner.breakAnswer(error, true);
        } catch (GatewayException e) {
            giveUp(WhyNot.NO_WORKER);
            owner.breakAnswer(error, true);
        } catch (RuntimeException e) {
            owner.crashed(e);
        }
    }

    private WhyNot whyNoWorker(Source failed, ContinuationPoint here) {
        WhyNot onVllm = here.whyNot(EngineKind.VLLM);
        boolean there =
                WorkerChoice.others(scope, failed.candidate()).stream()
                        .anyMatch(Relocation::isVllm);
        return there && onVllm != null ? onVllm : WhyNot.NO_WORKER;
    }

    /** Only the end of the stream was lost, which can be written here. */
    private void complete(String chunk) {
        byte[] end = (chunk + "data: [DONE]\n\n").getBytes(StandardCharsets.UTF_8);
        kept.moved(); // it counts as completed
        owner.completed(end);
    }

    private LastChunks lastChunks() {
        return new LastChunks(kept.text().firstEvent(), chat);
    }

    private void giveUp(WhyNot why) {
        LOG.infof("%s: its stream is not gone on with: %s", scope.request().requestId(), why);
        if (kept.moves() == 0) {
            migration.refused(why);
        }
    }

    /** The client gets nothing of this stream. */
    void drop() {
        kept.free();
    }

    /** The request is over. */
    void ended(Outcome outcome) {
        if (cause != null && kept.moves() > 0) {
            if (outcome == Outcome.OK) {
                migration.completed(cause);
            } else if (outcome == Outcome.BROKEN_MID_ANSWER) {
                migration.failed(cause);
            }
        }
        kept.free();
    }
}
