package io.warmpath.api.request;

import static io.warmpath.api.error.InvalidRequest.bad;

import io.vertx.core.MultiMap;
import io.vertx.core.buffer.Buffer;
import io.warmpath.api.hints.ExtrasReader;
import io.warmpath.api.hints.RoutingHints;
import io.warmpath.api.request.RequestParser.Endpoint;
import io.warmpath.gateway.request.BodyEdits;
import io.warmpath.gateway.request.ByteRange;
import io.warmpath.gateway.request.InferenceRequest;
import io.warmpath.gateway.request.ModelName;
import io.warmpath.gateway.request.RequestHints;
import io.warmpath.routing.NotExact;
import io.warmpath.tokens.template.PromptInput;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * What has been read out of one body, by whichever reader, before it is checked as a whole. Spans
 * are relative to the body's first byte. One thread.
 */
final class RequestFields {
    private static final PromptInput OTHER = new PromptInput.Opaque("an API that is passed on");

    final RoutingHints hints = new RoutingHints();
    @Nullable String model;
    boolean stream;
    boolean addGenerationPrompt = true;

    /** The top-level member that reaches a chat's template. */
    @Nullable String forTemplate;

    /** The top-level member that hides the prompt's tokens. */
    @Nullable String opaque;

    @Nullable List<PromptInput.Message> messages;

    /** The messages are there, but have not been read. */
    boolean messagesLater;

    /** What the messages have beside roles and texts. */
    @Nullable String opaqueMessages;

    @Nullable PromptInput prompt;
    int afterBrace;
    boolean empty = true;
    boolean hasRank;

    /** To each prompt. */
    private int answers = 1;

    // A completion's prompt is part of its answer, and tokens have their log probabilities.
    boolean echo;
    boolean logprobs;

    /** By vLLM's own name. */
    boolean promptLogprobs;

    // Tokens that an answer may have, by the older and the newer name; 0: not said.
    private int maxTokens;
    private int maxCompletionTokens;

    ByteRange rank = ByteRange.ABSENT;
    ByteRange modelSpan = ByteRange.ABSENT;
    ByteRange salt = ByteRange.ABSENT;
    ByteRange priority = ByteRange.ABSENT;
    ByteRange temperature = ByteRange.ABSENT;
    ByteRange streamOptions = ByteRange.ABSENT;
    ByteRange includeUsage = ByteRange.ABSENT;
    ByteRange streamSpan = ByteRange.ABSENT;
    ByteRange maxTokensSpan = ByteRange.ABSENT;
    ByteRange maxCompletionTokensSpan = ByteRange.ABSENT;
    ByteRange minTokensSpan = ByteRange.ABSENT;
    private List<ByteRange> nvext = List.of();

    /** The path of a member that acts on the engine or on other requests. */
    private @Nullable String forEngines;

    /** {@code path}: null: none. */
    void forEngines(@Nullable String path) {
        if (path != null) {
            forEngines = path;
        }
    }

    /**
     * @param name of the two
     * @param at its value
     * @param tokens as said; what no answer can have says nothing and is the engine's to refuse
     */
    void mostTokens(RequestMember name, ByteRange at, long tokens) {
        int most = tokens > 0 && tokens <= Integer.MAX_VALUE ? (int) tokens : 0;
        if (name == RequestMember.MAX_TOKENS) {
            maxTokens = most;
            maxTokensSpan = at;
        } else {
            maxCompletionTokens = most;
            maxCompletionTokensSpan = at;
        }
    }

    /** The smaller one of both. */
    private int mostTokens() {
        return maxTokens == 0 || maxCompletionTokens == 0
                ? maxTokens + maxCompletionTokens
                : Math.min(maxTokens, maxCompletionTokens);
    }

    /** As said; what engines refuse counts as one. */
    void answers(long n) {
        answers = Math.clamp(n, 1, Integer.MAX_VALUE);
    }

    /** The body has {@code request_id}, by which these engines know, and end, a response. */
    void requestId(Endpoint endpoint) {
        if (endpoint == Endpoint.RESPONSES) {
            forEngines = RequestMember.REQUEST_ID.text();
        }
    }

    void nvext(ByteRange member) {
        if (nvext.isEmpty()) {
            nvext = new ArrayList<>(1);
        }
        nvext.add(member);
    }

    /**
     * @throws io.warmpath.fault.GatewayException BadRequest, when something that must be there is
     *     not
     */
    InferenceRequest request(
            Endpoint endpoint,
            String requestId,
            String target,
            MultiMap headers,
            Buffer body,
            RequestParser.Terms terms) {
        if (!terms.handOff()) {
            EngineFields.refuse(forEngines, headers);
        }
        hints.readHeaders(headers, terms.objectives());
        if (model == null || model.isEmpty()) {
            throw bad("model", "You must provide a model; GET /v1/models lists those served here.");
        }
        boolean passThrough = endpoint.isPassedOn();
        PromptInput input =
                switch (endpoint) {
                    case CHAT -> chat(body);
                    case COMPLETIONS -> completion();
                    case RESPONSES -> ResponsesBody.later(body);
                    case EMBEDDINGS -> prompt == null ? OTHER : prompt;
                    case SCORES, OTHER -> OTHER;
                };
        int[] given = hints.tokens();
        if (passThrough) {
            stream = false;
            if (endpoint == Endpoint.EMBEDDINGS && opaque != null) {
                input = new PromptInput.Opaque(opaque);
            }
        } else if (given != null) {
            input = new PromptInput.Ids(given);
        } else if (opaque != null) {
            input = new PromptInput.Opaque(opaque);
        }
        RequestHints requestHints = hints.hints();
        if (passThrough) {
            ExtrasReader.refuseQuery(requestHints);
        }
        return new InferenceRequest(
                new InferenceRequest.Received(requestId, target, headers, body),
                ModelName.plain(model),
                input,
                new InferenceRequest.CacheSalt(hints.salt(), hints.saltToSend()),
                new InferenceRequest.Routing(
                        hints.worker(),
                        hints.rank(),
                        hints.taints(),
                        hints.overrides(),
                        hints.prefiller()),
                requestHints,
                edits(),
                new InferenceRequest.Form(
                        stream,
                        terms.explain(),
                        passThrough,
                        endpoint.part(),
                        input instanceof PromptInput.Several all ? all.prompts().size() : 1,
                        passThrough ? 1 : answers,
                        notExact(endpoint, input),
                        mostTokens()));
    }

    private @Nullable NotExact notExact(Endpoint endpoint, PromptInput input) {
        boolean echoed = endpoint == Endpoint.COMPLETIONS && echo && logprobs;
        if (echoed || (promptLogprobs && !endpoint.isPassedOn())) {
            return NotExact.PROMPT_LOGPROBS;
        }
        if (!(input instanceof PromptInput.Opaque)) {
            return null;
        }
        if (opaque != null && endpoint != Endpoint.OTHER && endpoint != Endpoint.SCORES) {
            return opaque.equals(RequestMember.EXTRA_KEY.text())
                    ? NotExact.EXTRA_KEY
                    : NotExact.PROMPT_HIDDEN;
        }
        if (forTemplate != null && endpoint == Endpoint.COMPLETIONS) {
            return NotExact.PROMPT_HIDDEN;
        }
        return prompt == null ? NotExact.OTHER_API : NotExact.SEVERAL_PROMPTS;
    }

    BodyEdits edits() {
        return new BodyEdits(
                afterBrace,
                empty,
                hasRank,
                rank,
                modelSpan,
                salt,
                priority,
                temperature,
                streamOptions,
                includeUsage,
                new BodyEdits.Answer(
                        streamSpan, maxTokensSpan, maxCompletionTokensSpan, minTokensSpan),
                nvext);
    }

    private PromptInput chat(Buffer body) {
        if (messages == null) {
            throw bad("messages", "You must provide messages, a non-empty array.");
        }
        return messagesLater || opaqueMessages != null || forTemplate != null
                ? ChatBody.sent(body)
                : new PromptInput.Chat(List.copyOf(messages), addGenerationPrompt);
    }

    private PromptInput completion() {
        if (prompt == null) {
            throw bad("prompt", "You must provide a prompt: text or an array of token ids.");
        }
        return forTemplate == null ? prompt : new PromptInput.Opaque(forTemplate);
    }
}
