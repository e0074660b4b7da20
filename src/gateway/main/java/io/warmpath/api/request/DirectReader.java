package io.warmpath.api.request;

import static io.warmpath.api.error.InvalidRequest.bad;
import static io.warmpath.api.error.InvalidRequest.but;

import com.fasterxml.jackson.core.JsonParser;
import com.fasterxml.jackson.core.JsonToken;
import io.vertx.core.MultiMap;
import io.vertx.core.buffer.Buffer;
import io.warmpath.api.error.InvalidRequest;
import io.warmpath.api.error.RequestIds;
import io.warmpath.api.hints.OverrideReader;
import io.warmpath.api.hints.TaintReader;
import io.warmpath.api.json.JsonInput;
import io.warmpath.api.json.TokenIds;
import io.warmpath.gateway.plan.Advisor;
import io.warmpath.gateway.request.InferenceRequest;
import io.warmpath.gateway.request.ModelName;
import io.warmpath.gateway.request.Prefiller;
import io.warmpath.gateway.request.RequestHints;
import io.warmpath.net.HeapBytes;
import io.warmpath.routing.Part;
import io.warmpath.routing.RouterOverrides;
import io.warmpath.tokens.template.PromptInput;
import java.io.IOException;
import java.time.Duration;
import java.util.HashSet;
import java.util.List;
import java.util.OptionalDouble;
import java.util.OptionalInt;
import java.util.OptionalLong;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * Reads a body of the direct API. This API is ours and its callers are programs: an unknown member
 * is an error that names its path, so that a misspelt one does not pass for a default. One per
 * body, one thread.
 */
public final class DirectReader {
    /** What a body asks for beside the prompt, and so which members it may have. */
    public enum Kind {
        QUESTION,
        RESERVATION,
        GENERATION
    }

    static final Duration DEFAULT_LIFE = Duration.ofMinutes(5);
    private static final double MAX_LIFE_SECONDS = 3600;

    private final Kind kind;
    private final JsonParser json;
    private final RequestFields fields = new RequestFields();
    private final PromptReader prompts;
    private final Set<Long> workers = new HashSet<>();
    private @Nullable RouterOverrides overrides;
    private final TokenRequest parameters = new TokenRequest();
    private @Nullable PromptInput given;
    private @Nullable String promptMember;
    private @Nullable Long worker;
    private @Nullable Integer rank;
    private @Nullable Integer expectedOutput;
    private @Nullable String reservation;
    private Duration life = DEFAULT_LIFE;
    private final TaintReader taints = new TaintReader();
    private boolean mayWait = true;

    /** What was read. */
    public record Read(
            Advisor.Question question,
            @Nullable String reservation,
            Duration life,
            boolean mayWait,
            TokenRequest parameters) {}

    private DirectReader(Kind kind, JsonParser json) {
        this.kind = kind;
        this.json = json;
        this.prompts = new PromptReader(json, fields);
    }

    /**
     * @param terms of which only the explanation and the objectives are looked at
     * @param models those that are served; one of them need not be named when it is the only one
     */
    public static Read read(
            Kind kind,
            String requestId,
            MultiMap headers,
            Buffer body,
            List<String> models,
            RequestParser.Terms terms) {
        return JsonInput.body(
                HeapBytes.of(body),
                json -> {
                    DirectReader reader = new DirectReader(kind, json);
                    reader.members();
                    return reader.result(requestId, headers, body, models, terms);
                });
    }

    /** The only member of the only body that is no question; empty when there is none. */
    public static OptionalDouble decayFraction(Buffer body) {
        return body.length() == 0
                ? OptionalDouble.empty()
                : JsonInput.body(HeapBytes.of(body), DirectReader::decayFraction);
    }

    private static OptionalDouble decayFraction(JsonParser json) throws IOException {
        if (json.nextToken() != JsonToken.START_OBJECT) {
            throw bad("", "The request body must be a JSON object.");
        }
        OptionalDouble fraction = OptionalDouble.empty();
        for (String name = json.nextFieldName(); name != null; name = json.nextFieldName()) {
            JsonToken value = json.nextToken();
            if (!name.equals("decay_fraction")) {
                throw InvalidRequest.unknown(name);
            }
            fraction =
                    value == JsonToken.VALUE_NULL
                            ? OptionalDouble.empty()
                            : OptionalDouble.of(OverrideReader.number(name, json, 1));
        }
        return fraction;
    }

    private void members() throws IOException {
        if (json.nextToken() != JsonToken.START_OBJECT) {
            throw bad("", "The request body must be a JSON object.");
        }
        for (String name = json.nextFieldName(); name != null; name = json.nextFieldName()) {
            JsonToken value = json.nextToken();
            if (!member(name, value)) {
                throw InvalidRequest.unknown(name);
            }
        }
        if (json.nextToken() != null) {
            throw bad("", "The request body has something behind the JSON object.");
        }
    }

    /** False when there is no such member. */
    private boolean member(String name, JsonToken value) throws IOException {
        boolean there = value != JsonToken.VALUE_NULL;
        switch (name) {
            case "model" -> fields.model = there ? text(name, value) : null;
            case "token_ids" -> {
                if (there) {
                    if (value != JsonToken.START_ARRAY) {
                        throw bad(name, "`token_ids` must be an array of token ids" + but(value));
                    }
                    json.nextToken();
                    prompt(name, new PromptInput.Ids(TokenIds.read(name, json)));
                }
            }
            case "text", "prompt", "messages", "add_generation_prompt", "worker_ids" -> {
                return kind != Kind.GENERATION && ofQuestion(name, value, there);
            }
            case "cache_salt" -> fields.hints.bodySalt(there ? text(name, value) : "");
            case "router_config_override" -> {
                if (there) {
                    overrides = OverrideReader.read(name, json, true);
                }
            }
            case "nvext" -> {
                if (there) {
                    if (value != JsonToken.START_OBJECT) {
                        throw bad(name, "`nvext` must be an object" + but(value));
                    }
                    fields.hints.readNvext(json);
                }
            }
            case "tolerations", "required_taints", "preferred_taints" -> {
                if (there) {
                    taints.read(name, name, json);
                }
            }
            case "worker_id" -> worker = there ? (Long) workerId(name, value) : null;
            case "dp_rank" -> rank = there ? (Integer) integer(name, value) : null;
            case "expected_output_tokens" ->
                    expectedOutput = there ? (Integer) integer(name, value) : null;
            default -> {
                return switch (kind) {
                    case QUESTION -> false;
                    case RESERVATION -> ofReservation(name, value, there);
                    case GENERATION -> ofGeneration(name, there);
                };
            }
        }
        return true;
    }

    private boolean ofGeneration(String name, boolean there) throws IOException {
        switch (name) {
            case "stop_conditions" -> {
                if (there) {
                    parameters.readStop(name, json);
                }
            }
            case "sampling_options" -> {
                if (there) {
                    parameters.readSampling(name, json);
                }
            }
            default -> {
                return false;
            }
        }
        return true;
    }

    private boolean ofQuestion(String name, JsonToken value, boolean there) throws IOException {
        switch (name) {
            case "text" -> {
                if (there) {
                    prompt(name, new PromptInput.Text(text(name, value)));
                }
            }
            case "prompt" -> {
                prompts.prompt(value);
                if (fields.prompt != null) {
                    prompt(name, fields.prompt);
                }
            }
            case "messages" -> {
                prompts.messages(value);
                if (fields.messages != null) {
                    prompt(name, null);
                }
            }
            case "add_generation_prompt" ->
                    fields.addGenerationPrompt = !there || bool(name, value);
            case "worker_ids" -> {
                if (there) {
                    workerIds(name, value);
                }
            }
            default -> {
                return false;
            }
        }
        return true;
    }

    private boolean ofReservation(String name, JsonToken value, boolean there) throws IOException {
        switch (name) {
            case "reservation_id" -> {
                reservation = there ? text(name, value) : null;
                if (reservation != null && !RequestIds.isSane(reservation)) {
                    throw bad(
                            name,
                            "`reservation_id` must be 1 to 128 printable ASCII characters without"
                                    + " blanks, quotes and backslashes.");
                }
            }
            case "wait" -> mayWait = !there || bool(name, value);
            case "ttl_seconds" -> {
                if (there) {
                    double seconds = OverrideReader.number(name, json, MAX_LIFE_SECONDS);
                    life = Duration.ofMillis(Math.max(1, Math.round(seconds * 1000)));
                }
            }
            default -> {
                return false;
            }
        }
        return true;
    }

    private void prompt(String member, @Nullable PromptInput input) {
        if (promptMember != null && !promptMember.equals(member)) {
            throw bad(member, "`" + promptMember + "` and `" + member + "` are both given.");
        }
        promptMember = member;
        given = input;
    }

    private Read result(
            String requestId,
            MultiMap headers,
            Buffer body,
            List<String> models,
            RequestParser.Terms terms) {
        fields.hints.readHeaders(headers, terms.objectives());
        InferenceRequest request =
                new InferenceRequest(
                        new InferenceRequest.Received(
                                requestId,
                                "/v1/completions",
                                headers,
                                // An engine is shown it where the prompt's tokens are not known
                                // here.
                                kind == Kind.GENERATION ? Buffer.buffer(0) : body),
                        ModelName.plain(model(models)),
                        promptInput(body),
                        new InferenceRequest.CacheSalt(fields.hints.salt(), null),
                        new InferenceRequest.Routing(
                                worker == null ? fields.hints.worker() : OptionalLong.of(worker),
                                rank == null ? fields.hints.rank() : OptionalInt.of(rank),
                                fields.hints.taints(taints),
                                overrides == null ? fields.hints.overrides() : overrides,
                                Prefiller.ANY),
                        hints(),
                        fields.edits(),
                        new InferenceRequest.Form(
                                true, terms.explain(), false, Part.WHOLE, 1, 1, null, 0));
        return new Read(
                new Advisor.Question(request, workers), reservation, life, mayWait, parameters);
    }

    private RequestHints hints() {
        RequestHints fromHints = fields.hints.hints();
        return expectedOutput == null ? fromHints : fromHints.withExpectedOutput(expectedOutput);
    }

    private String model(List<String> models) {
        String named = fields.model;
        if (named != null && !named.isEmpty()) {
            return named;
        }
        if (models.size() == 1) {
            return models.getFirst();
        }
        throw bad(
                "model",
                models.isEmpty()
                        ? "You must provide a model; none is served right now."
                        : "You must provide a model: several are served, GET /v1/models lists"
                                + " them.");
    }

    private PromptInput promptInput(Buffer body) {
        int[] data = fields.hints.tokens();
        if (data != null) {
            // The tokens of a prompt whose text may be there too, as in requests.
            if ("token_ids".equals(promptMember)) {
                throw bad("nvext.token_data", "`token_ids` and `nvext.token_data` are both given.");
            }
            promptMember = "nvext.token_data";
            given = new PromptInput.Ids(data);
        }
        if (promptMember == null) {
            throw bad(
                    "token_ids",
                    kind == Kind.GENERATION
                            ? "You must provide token_ids."
                            : "You must provide token_ids, text, prompt or messages.");
        }
        if (given instanceof PromptInput.Ids ids && ids.tokens().length == 0) {
            throw bad(promptMember, "`" + promptMember + "` must not be empty.");
        }
        if (given != null) {
            return given;
        }
        if (fields.opaqueMessages != null || fields.messages == null) {
            return ChatBody.later(body);
        }
        return new PromptInput.Chat(List.copyOf(fields.messages), fields.addGenerationPrompt);
    }

    private void workerIds(String name, JsonToken value) throws IOException {
        if (value != JsonToken.START_ARRAY) {
            throw bad(name, "`worker_ids` must be an array of worker ids" + but(value));
        }
        for (JsonToken t = json.nextToken(); t != JsonToken.END_ARRAY; t = json.nextToken()) {
            if (t == null) {
                throw new IOException("unexpected end of input");
            }
            workers.add(workerId(name + "[" + workers.size() + "]", t));
        }
        if (workers.isEmpty()) {
            throw bad(name, "`worker_ids` must not be empty; leave it out to allow all.");
        }
    }

    /** As a number or, for callers whose numbers do not hold a u64, as a string. */
    private long workerId(String name, JsonToken value) throws IOException {
        if (value == JsonToken.VALUE_NUMBER_INT || value == JsonToken.VALUE_STRING) {
            try {
                return Long.parseUnsignedLong(json.getText());
            } catch (NumberFormatException e) {
                // said below
            }
        }
        throw bad(name, "`" + name + "` must be an integer in 0..18446744073709551615.");
    }

    private int integer(String name, JsonToken value) throws IOException {
        if (value != JsonToken.VALUE_NUMBER_INT
                || json.getNumberType() != JsonParser.NumberType.INT
                || json.getIntValue() < 0) {
            throw bad(name, "`" + name + "` must be an integer of 0 or more.");
        }
        return json.getIntValue();
    }

    private String text(String name, JsonToken value) throws IOException {
        if (value != JsonToken.VALUE_STRING) {
            throw bad(name, "`" + name + "` must be a string" + but(value));
        }
        return json.getText();
    }

    private static boolean bool(String name, JsonToken value) {
        if (value != JsonToken.VALUE_TRUE && value != JsonToken.VALUE_FALSE) {
            throw bad(name, "`" + name + "` must be true or false" + but(value));
        }
        return value == JsonToken.VALUE_TRUE;
    }
}
