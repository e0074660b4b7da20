package io.warmpath.api.direct;

import static io.warmpath.api.error.InvalidRequest.bad;

import io.vertx.core.Context;
import io.vertx.core.buffer.Buffer;
import io.vertx.core.http.HttpServerRequest;
import io.vertx.core.http.HttpServerResponse;
import io.warmpath.access.Visit;
import io.warmpath.api.error.ErrorForm;
import io.warmpath.api.error.RequestIds;
import io.warmpath.api.json.JsonOutput;
import io.warmpath.api.request.ChatBody;
import io.warmpath.fault.GatewayError;
import io.warmpath.fault.GatewayException;
import io.warmpath.fleet.Fleet;
import io.warmpath.gateway.prompt.Engines;
import io.warmpath.gateway.prompt.TokenLanes;
import io.warmpath.gateway.request.ModelNames;
import io.warmpath.gateway.request.Visits;
import io.warmpath.net.HeapBytes;
import io.warmpath.tokens.Tokenizing;
import io.warmpath.tokens.profile.ChatRequest;
import io.warmpath.tokens.profile.EngineProfile;
import io.warmpath.tokens.template.PromptInput;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.RejectedExecutionException;
import org.jboss.logging.Logger;
import org.jspecify.annotations.Nullable;

/**
 * {@code POST /tokenize} and {@code /detokenize}: what the gateway takes for an engine's ids.
 * Handlers run on the event loop; bodies are read and tokenised on the tokenising threads.
 */
public final class TokenizeApi {
    private static final Logger LOG = Logger.getLogger(TokenizeApi.class);

    /** Longer bodies take the lane that nobody else waits for: 5 ms with the slowest tokenizer. */
    private static final int BRIEF_BYTES = 16 << 10;

    private final Fleet fleet;
    private final ModelNames names;
    private final Tokenizing tokens;
    private final TokenLanes threads;
    private final Duration retryAfter;

    /** {@code threads}: read and tokenise the bodies. */
    public TokenizeApi(
            Fleet fleet,
            ModelNames names,
            Tokenizing tokens,
            TokenLanes threads,
            Duration retryAfter) {
        this.fleet = fleet;
        this.names = names;
        this.tokens = tokens;
        this.threads = threads;
        this.retryAfter = retryAfter;
    }

    /** What is done off the event loop. */
    public interface Work {
        /**
         * @param visit whose request it is; null: everybody's
         * @throws GatewayException the answer
         */
        Buffer of(Buffer body, @Nullable Visit visit);
    }

    public Runnable tokenize(
            Context context,
            HttpServerRequest request,
            String requestId,
            Buffer body,
            Runnable gone) {
        return run(context, request, requestId, body, ErrorForm.OPENAI, this::tokenized);
    }

    public Runnable detokenize(
            Context context,
            HttpServerRequest request,
            String requestId,
            Buffer body,
            Runnable gone) {
        return run(context, request, requestId, body, ErrorForm.OPENAI, this::detokenized);
    }

    /** The work's answer, made on the tokenising threads, for an API with its own errors. */
    public Runnable run(
            Context context,
            HttpServerRequest request,
            String requestId,
            Buffer body,
            ErrorForm errors,
            Work work) {
        try {
            Visit visit = Visits.of(context);
            Runnable step = () -> answer(context, request, requestId, body, errors, work, visit);
            if (body.length() > BRIEF_BYTES) {
                threads.lengthy(step);
            } else {
                threads.brief(step);
            }
        } catch (RejectedExecutionException e) {
            refuse(request, requestId, errors, busy());
        }
        return () -> {};
    }

    /** The work has been refused; a later try may be luckier. */
    public GatewayError busy() {
        return new GatewayError.Overloaded(529, "All threads that tokenise are busy", retryAfter);
    }

    private void answer(
            Context context,
            HttpServerRequest request,
            String requestId,
            Buffer body,
            ErrorForm errors,
            Work work,
            @Nullable Visit visit) {
        try {
            Buffer answer = work.of(body, visit);
            context.runOnContext(v -> respond(request, requestId, answer));
        } catch (GatewayException e) {
            context.runOnContext(v -> refuse(request, requestId, errors, e.error()));
        } catch (RuntimeException | LinkageError e) {
            LOG.errorf(e, "%s failed by a bug in the gateway", requestId);
            context.runOnContext(
                    v -> refuse(request, requestId, errors, new GatewayError.Internal(requestId)));
        }
    }

    private static void respond(HttpServerRequest request, String requestId, Buffer answer) {
        HttpServerResponse response = request.response();
        if (!response.closed() && !response.ended()) {
            response.putHeader("content-type", "application/json");
            response.putHeader(RequestIds.HEADER, requestId);
            response.end(answer);
        }
    }

    private static void refuse(
            HttpServerRequest request, String requestId, ErrorForm errors, GatewayError error) {
        HttpServerResponse response = request.response();
        if (!response.closed() && !response.ended()) {
            errors.respond(response, error, requestId);
        }
    }

    private Buffer tokenized(Buffer body, @Nullable Visit visit) {
        HeapBytes bytes = HeapBytes.of(body);
        TokenizeBody asked = TokenizeBody.read(bytes);
        Tokenizing.Tokens answer = tokens(bytes, asked, visit);
        return JsonOutput.object(
                json -> {
                    json.writeArrayFieldStart("tokens");
                    for (int id : answer.ids()) {
                        json.writeNumber(Integer.toUnsignedLong(id));
                    }
                    json.writeEndArray();
                    json.writeNumberField("count", answer.ids().length);
                    if (asked.returnText) {
                        json.writeStringField("text", answer.text());
                    }
                });
    }

    /**
     * How many tokens a body for {@code /v1/chat/completions} has; not on an event loop.
     *
     * @throws GatewayException why that is not known
     */
    public int count(Buffer chat, @Nullable Visit visit) {
        HeapBytes bytes = HeapBytes.of(chat);
        return tokens(bytes, TokenizeBody.read(bytes), visit).ids().length;
    }

    /** Whether the model's template takes such a chat; false where that is not known. Brief. */
    public boolean renders(String model, PromptInput.Chat chat) {
        String served = names.of(model, () -> "").served();
        EngineProfile engine = Engines.of(fleet.snapshot(), served);
        return tokens.tokenize(served, chat, engine, null) instanceof Tokenizing.Tokens;
    }

    private Tokenizing.Tokens tokens(HeapBytes bytes, TokenizeBody asked, @Nullable Visit visit) {
        String model = model(asked, visit);
        EngineProfile engine =
                asked.engine == null ? Engines.of(fleet.snapshot(), model) : asked.engine;
        PromptInput prompt;
        if (asked.prompt != null) {
            if (asked.messages) {
                throw bad("messages", "`prompt` and `messages` are both given.");
            }
            prompt = new PromptInput.Text(asked.prompt);
        } else if (asked.messages) {
            ChatRequest chat = defaults(ChatBody.read(bytes), engine);
            if (chat.messages().isEmpty()) {
                throw bad("messages", "`messages` must not be empty.");
            }
            prompt = new PromptInput.Conversation(bytes.length(), () -> chat);
        } else {
            throw bad("prompt", "You must provide a prompt or messages.");
        }
        return known(model, tokens.tokenize(model, prompt, engine, asked.addSpecialTokens));
    }

    /** Without an engine there is a generation prompt too, unless the request says otherwise. */
    private static ChatRequest defaults(ChatRequest chat, EngineProfile engine) {
        if (engine != EngineProfile.NONE || chat.addGenerationPrompt() != null) {
            return chat;
        }
        boolean continued = chat.continueFinalMessage();
        return chat.with(chat.messages(), !continued, continued);
    }

    private Buffer detokenized(Buffer body, @Nullable Visit visit) {
        TokenizeBody asked = TokenizeBody.read(HeapBytes.of(body));
        int[] ids = asked.tokens;
        if (ids == null) {
            throw bad("tokens", "You must provide tokens, an array of token ids.");
        }
        String model = model(asked, visit);
        Tokenizing.Tokens answer = known(model, tokens.detokenize(model, ids));
        return JsonOutput.object(json -> json.writeStringField("prompt", answer.text()));
    }

    private Tokenizing.Tokens known(String model, Tokenizing.Answer answer) {
        return switch (answer) {
            case Tokenizing.Tokens known -> known;
            case Tokenizing.Refused refused -> throw bad(refused.path(), refused.message());
            case Tokenizing.NoTokenizer none ->
                    throw fleet.snapshot().knows(model)
                            ? bad(
                                    "model",
                                    "No tokenizer is configured for `"
                                            + model
                                            + "`; give one with --tokenizer.")
                            : new GatewayException(
                                    names.unserved(fleet.snapshot(), model, retryAfter));
        };
    }

    private String model(TokenizeBody asked, @Nullable Visit visit) {
        if (asked.model != null && !asked.model.isEmpty()) {
            if (visit != null && !visit.allows(asked.model)) {
                throw new GatewayException(new GatewayError.UnknownModel(asked.model));
            }
            return names.of(asked.model, () -> "").served();
        }
        List<String> models = fleet.snapshot().models();
        if (models.size() == 1 && (visit == null || visit.allows(models.getFirst()))) {
            return models.getFirst();
        }
        throw bad("model", "You must provide a model; GET /v1/models lists those served here.");
    }
}
