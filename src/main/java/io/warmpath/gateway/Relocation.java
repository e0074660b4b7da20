package io.warmpath.gateway;

import io.vertx.core.json.JsonArray;
import io.vertx.core.json.JsonObject;
import io.warmpath.fault.GatewayError;
import io.warmpath.fault.GatewayException;
import io.warmpath.fleet.Candidate;
import io.warmpath.fleet.EngineKind;
import io.warmpath.gateway.FlowMetrics.Outcome;
import io.warmpath.gateway.migration.ContinuedBody;
import io.warmpath.gateway.migration.KeptStream;
import io.warmpath.gateway.migration.Migration;
import io.warmpath.gateway.migration.Migration.Cause;
import io.warmpath.gateway.migration.NotContinuedException;
import io.warmpath.gateway.migration.WhyNot;
import io.warmpath.tokens.PromptInput;
import io.warmpath.upstream.StreamText;
import java.nio.charset.StandardCharsets;
import java.util.concurrent.RejectedExecutionException;
import org.jboss.logging.Logger;
import org.jspecify.annotations.Nullable;

/**
 * Goes on elsewhere with a stream whose worker has failed it after output had begun.
 *
 * <p>One per attempt whose answer could be moved, from its head on; the request keeps that of the
 * attempt that answers its client. On the request's event loop; only the text is counted elsewhere.
 */
final class Relocation {
    private static final Logger LOG = Logger.getLogger(Relocation.class);

    private final Exchange exchange;
    private final Migration migration;
    private final KeptStream kept;
    private final int promptTokens;
    private final boolean chat;
    private @Nullable Cause cause; // of the last move

    private Relocation(Exchange exchange, KeptStream kept, int promptTokens) {
        this.exchange = exchange;
        this.migration = exchange.flow.migration;
        this.kept = kept;
        this.promptTokens = promptTokens;
        this.chat = exchange.request.target().startsWith("/v1/chat/");
    }

    /**
     * For a stream that begins now.
     *
     * @param promptTokens 0 when the prompt's length is not known
     * @return null: it will not be moved
     */
    static @Nullable Relocation of(Exchange exchange, Candidate from, int promptTokens) {
        if (whyNever(exchange, true, from) != null) {
            return null;
        }
        KeptStream kept = exchange.flow.migration.keep(exchange.request.body().length());
        return kept == null ? null : new Relocation(exchange, kept, promptTokens);
    }

    /**
     * @param stream the answer is a stream of events
     * @return null: it may be moved, as far as this goes
     */
    static @Nullable WhyNot whyNever(Exchange exchange, boolean stream, Candidate from) {
        if (!stream || exchange.request.passThrough() || !exchange.request.stream()) {
            return WhyNot.NOT_A_STREAM;
        } else if (exchange.form != EngineForm.AS_SENT) {
            return WhyNot.TOKEN_FORM;
        }
        return from.worker().kind() == EngineKind.OPENAI ? WhyNot.ENGINE_KIND : null;
    }

    /** Gets all that is passed on. */
    StreamText text() {
        return kept.text();
    }

    /**
     * @return false when the stream has to be broken
     */
    boolean move(Attempt failed, GatewayError error) {
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
        String model = exchange.request.model();
        String text = ContinuedBody.text(kept.text().escaped());
        int pieces = kept.text().pieces();
        LOG.infof(
                "%s: %s; its stream is to %s after %d events",
                exchange.request.requestId(),
                error.message(),
                failed.finished() ? "end" : "go on",
                pieces);
        try {
            exchange.flow.lanes.lengthy(
                    () -> {
                        int made = Math.max(pieces, count(model, failed.candidate(), text));
                        exchange.later(() -> goOn(failed, made, error, broke));
                    });
        } catch (RejectedExecutionException e) {
            goOn(failed, pieces, error, broke); // on this thread: what is left is splicing
        }
        return true;
    }

    /** A move from there would not be refused for what the request is or what has been said. */
    boolean isPossible(Attempt from) {
        GatewayError unwell = new GatewayError.WorkerUnwell(from.candidate().worker().name());
        if (isAtLimit() || exchange.answer.isFull() || whyNot(from, unwell) != null) {
            return false;
        }
        try {
            // As for vLLM: whoever it will be can go on with it then.
            ContinuedBody.of(exchange.request.body().getBytes(), chat).check(kept.text(), true);
            return true;
        } catch (NotContinuedException e) {
            return false;
        }
    }

    private @Nullable WhyNot whyNot(Attempt failed, GatewayError error) {
        boolean slow = error instanceof GatewayError.UpstreamTimeout && exchange.answer.isFull();
        if (slow) {
            return WhyNot.CLIENT_SLOW;
        } else if (!failed.isClean()) {
            return WhyNot.INSIDE_EVENT;
        } else if (kept.text().isLost()) {
            return WhyNot.TOO_LARGE;
        } else if (failed.finished()) {
            return wantsUsage() && promptTokens == 0 ? WhyNot.FINISHED : null;
        } else if (exchange.request.pinnedWorker().isPresent()) {
            return WhyNot.PINNED;
        } else if (exchange.request.hints().session() != null) {
            return WhyNot.SESSION;
        }
        if (error instanceof GatewayError.WorkerUnreachable) {
            kept.notMoved();
        }
        return null;
    }

    /** Another worker may not be asked; what only lacks its end needs none. */
    private boolean isAtLimit() {
        return kept.moves() >= migration.options().limit() || exchange.tries.areMany();
    }

    private boolean wantsUsage() {
        return exchange.request.edits().asksForUsage(exchange.request.body());
    }

    private static Cause cause(GatewayError error) {
        return switch (error) {
            case GatewayError.UpstreamTimeout t -> Cause.STALLED;
            case GatewayError.WorkerUnwell u -> Cause.STALLED;
            case GatewayError.BadUpstreamAnswer b -> Cause.BAD_ANSWER;
            default -> Cause.BROKE;
        };
    }

    /** The text's tokens; 0 where nobody knows. */
    private int count(String model, Candidate from, String text) {
        try {
            return tokens(model, from, text) - tokens(model, from, "");
        } catch (RuntimeException | LinkageError e) {
            LOG.debugf(e, "%s: its tokens are not known", exchange.request.requestId());
            return 0;
        }
    }

    private int tokens(String model, Candidate from, String text) {
        return exchange.flow
                .tokens
                .tokens(model, new PromptInput.Text(text), Engines.of(from.worker().kind()))
                .map(ids -> ids.length)
                .orElse(0);
    }

    private void goOn(Attempt failed, int made, GatewayError error, Cause broke) {
        if (exchange.isOver()) {
            return;
        }
        try {
            if (failed.finished()) {
                cause = broke;
                complete(usage(made));
                return;
            }
            ContinuedBody body = ContinuedBody.of(exchange.request.body().getBytes(), chat);
            body.check(kept.text(), false);
            if (body.isSpent(made)) {
                if (wantsUsage() && promptTokens == 0) {
                    throw new NotContinuedException(WhyNot.FINISHED);
                }
                cause = broke;
                complete(lastChunk() + (wantsUsage() ? usage(made) : ""));
                return;
            }
            if (isAtLimit()) {
                throw new NotContinuedException(WhyNot.LIMIT);
            }
            Planner.Decided decided = exchange.decideElsewhere(Relocation::canContinue);
            if (decided == null) {
                throw new NotContinuedException(WhyNot.NO_WORKER);
            }
            EngineKind kind = decided.decision().chosen().candidate().worker().kind();
            body.check(kept.text(), kind == EngineKind.VLLM);
            cause = broke;
            kept.moved();
            migration.moved(broke);
            exchange.answer.moved(
                    new Moved(
                            failed.candidate().worker().name(),
                            broke,
                            made,
                            exchange.nanosSinceStart(),
                            decided.decision()));
            exchange.goOn(
                    decided, new Continued(kept.text(), made, promptTokens, chat, failed.facts()));
        } catch (NotContinuedException e) {
            giveUp(e.why());
            exchange.breakAnswer(error, true);
        } catch (GatewayException e) {
            giveUp(WhyNot.NO_WORKER);
            exchange.breakAnswer(error, true);
        } catch (RuntimeException e) {
            exchange.crashed(e);
        }
    }

    static boolean canContinue(Candidate candidate) {
        return candidate.worker().kind() != EngineKind.OPENAI;
    }

    /** Only the end of the stream was lost, which can be written here. */
    private void complete(String chunk) {
        byte[] end = (chunk + "data: [DONE]\n\n").getBytes(StandardCharsets.UTF_8);
        kept.moved(); // it counts as completed
        exchange.finish(Outcome.OK);
        exchange.answer.end(end, 0, end.length);
    }

    /**
     * What the engine would have counted, as far as it can be counted here: the prompt exactly, the
     * answer by its text.
     */
    private String usage(int made) {
        JsonObject chunk = chunk();
        chunk.put("choices", new JsonArray());
        chunk.put(
                "usage",
                new JsonObject()
                        .put("prompt_tokens", promptTokens)
                        .put("total_tokens", promptTokens + made)
                        .put("completion_tokens", made));
        return "data: " + chunk.encode() + "\n\n";
    }

    /** One like the stream's others. */
    private JsonObject chunk() {
        JsonObject chunk =
                new JsonObject(new String(kept.text().firstEvent(), StandardCharsets.UTF_8));
        chunk.remove("usage");
        chunk.remove("prompt_token_ids");
        return chunk;
    }

    /** Says that the answer has become as long as the client allows. */
    private String lastChunk() {
        JsonObject chunk = chunk();
        JsonObject choice = new JsonObject().put("index", 0);
        if (chat) {
            choice.put("delta", new JsonObject());
        } else {
            choice.put("text", "");
        }
        chunk.put("choices", new JsonArray().add(choice.put("finish_reason", "length")));
        return "data: " + chunk.encode() + "\n\n";
    }

    private void giveUp(WhyNot why) {
        LOG.infof("%s: its stream is not gone on with: %s", exchange.request.requestId(), why);
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
