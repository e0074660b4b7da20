package io.warmpath.api.direct;

import static io.warmpath.api.error.InvalidRequest.bad;
import static io.warmpath.api.error.InvalidRequest.but;

import com.fasterxml.jackson.core.JsonParser;
import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.core.JsonToken;
import io.vertx.core.Context;
import io.vertx.core.buffer.Buffer;
import io.vertx.core.http.HttpServerRequest;
import io.vertx.core.http.HttpServerResponse;
import io.warmpath.access.Visit;
import io.warmpath.api.error.ErrorForm;
import io.warmpath.api.error.InvalidRequest;
import io.warmpath.api.error.RequestIds;
import io.warmpath.api.json.JsonInput;
import io.warmpath.api.json.JsonOutput;
import io.warmpath.api.json.TokenIds;
import io.warmpath.api.request.ChatBody;
import io.warmpath.fault.GatewayError;
import io.warmpath.fault.GatewayException;
import io.warmpath.fleet.Fleet;
import io.warmpath.gateway.prompt.Engines;
import io.warmpath.gateway.prompt.TokenLanes;
import io.warmpath.gateway.request.ModelNames;
import io.warmpath.gateway.request.Visits;
import io.warmpath.net.HeapBytes;
import io.warmpath.tokens.PromptInput;
import io.warmpath.tokens.Tokenizing;
import io.warmpath.tokens.profile.ChatRequest;
import io.warmpath.tokens.profile.EngineProfile;
import java.io.IOException;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.RejectedExecutionException;
import org.jboss.logging.Logger;
import org.jspecify.annotations.Nullable;

/**
 * {@code POST /tokenize} and {@code /detokenize}: what the gateway takes for an engine's ids.
 *
 * <p>Handlers run on the event loop; bodies are read and tokenised on the tokenising threads.
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

    /**
     * @param threads read and tokenise the bodies
     */
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
        Asked asked = read(bytes);
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
        return tokens(bytes, read(bytes), visit).ids().length;
    }

    private Tokenizing.Tokens tokens(HeapBytes bytes, Asked asked, @Nullable Visit visit) {
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
        return new ChatRequest(
                chat.messages(),
                chat.tools(),
                chat.toolChoice(),
                chat.documents(),
                !chat.continueFinalMessage(),
                chat.continueFinalMessage(),
                chat.arguments(),
                chat.reasoningEffort());
    }

    private Buffer detokenized(Buffer body, @Nullable Visit visit) {
        Asked asked = read(HeapBytes.of(body));
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

    private String model(Asked asked, @Nullable Visit visit) {
        if (asked.model != null && !asked.model.isEmpty()) {
            if (visit != null && !visit.allows(asked.model)) {
                throw new GatewayException(new GatewayError.UnknownModel(asked.model));
            }
            return names.of(asked.model).served();
        }
        List<String> models = fleet.snapshot().models();
        if (models.size() == 1 && (visit == null || visit.allows(models.getFirst()))) {
            return models.getFirst();
        }
        throw bad("model", "You must provide a model; GET /v1/models lists those served here.");
    }

    private static final class Asked {
        @Nullable String model;
        @Nullable String prompt;
        boolean messages;
        @Nullable EngineProfile engine;
        @Nullable Boolean addSpecialTokens;
        boolean returnText;
        int @Nullable [] tokens;
    }

    /** Members that are not known are stepped over: bodies for engines work here too. */
    private static Asked read(HeapBytes bytes) {
        InvalidRequest.rejectOtherEncodings(bytes);
        try (JsonParser json = JsonInput.parser(bytes.array(), bytes.offset(), bytes.length())) {
            if (json.nextToken() != JsonToken.START_OBJECT) {
                throw bad("", "The request body must be a JSON object.");
            }
            Asked asked = new Asked();
            for (String name = json.nextFieldName(); name != null; name = json.nextFieldName()) {
                JsonToken value = json.nextToken();
                if (value != JsonToken.VALUE_NULL) {
                    member(asked, name, value, json);
                }
            }
            if (json.nextToken() != null) {
                throw bad("", "The request body has something behind the JSON object.");
            }
            return asked;
        } catch (JsonProcessingException e) {
            throw InvalidRequest.notJson(e);
        } catch (IOException e) {
            throw bad("", "The request body is not valid UTF-8: " + e.getMessage() + ".");
        }
    }

    private static void member(Asked asked, String name, JsonToken value, JsonParser json)
            throws IOException {
        switch (name) {
            case "model" -> asked.model = text(name, value, json);
            case "prompt" -> asked.prompt = text(name, value, json);
            case "messages" -> {
                asked.messages = true;
                json.skipChildren();
            }
            case "engine" ->
                    asked.engine =
                            switch (text(name, value, json)) {
                                case "vllm" -> EngineProfile.VLLM;
                                case "sglang" -> EngineProfile.SGLANG;
                                case "none" -> EngineProfile.NONE;
                                default ->
                                        throw bad(
                                                name,
                                                "`engine` must be \"vllm\", \"sglang\" or"
                                                        + " \"none\".");
                            };
            case "add_special_tokens" -> asked.addSpecialTokens = flag(name, value);
            case "return_text" -> asked.returnText = flag(name, value);
            case "tokens" -> {
                if (value != JsonToken.START_ARRAY) {
                    throw bad(name, "`tokens` must be an array of token ids" + but(value));
                }
                json.nextToken();
                asked.tokens = TokenIds.read(name, json);
            }
            default -> json.skipChildren();
        }
    }

    private static String text(String name, JsonToken value, JsonParser json) throws IOException {
        if (value != JsonToken.VALUE_STRING) {
            throw bad(name, "`" + name + "` must be a string" + but(value));
        }
        return json.getText();
    }

    private static boolean flag(String name, JsonToken value) {
        if (value != JsonToken.VALUE_TRUE && value != JsonToken.VALUE_FALSE) {
            throw bad(name, "`" + name + "` must be true or false" + but(value));
        }
        return value == JsonToken.VALUE_TRUE;
    }
}
