package io.warmpath.api.inference;

import com.fasterxml.jackson.core.JsonGenerator;
import com.fasterxml.jackson.core.JsonParser;
import com.fasterxml.jackson.core.JsonToken;
import io.vertx.core.buffer.Buffer;
import io.warmpath.api.json.JsonInput;
import io.warmpath.api.json.JsonOutput;
import io.warmpath.fleet.Worker;
import io.warmpath.gateway.request.BodyChanges;
import io.warmpath.gateway.request.EngineForm;
import io.warmpath.gateway.request.InferenceRequest;
import io.warmpath.gateway.request.SessionAppend;
import io.warmpath.net.HeapBytes;
import io.warmpath.upstream.UpstreamListener;
import java.io.IOException;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * A chat or completion that is a turn of a session: as the client has sent it, or, where the engine
 * holds the session's tokens, what is new of it as ids.
 *
 * <p>SGLang's OpenAI routes have a member for that and ignore it, so ids go to {@code /generate},
 * and the answer is written in the form of the route that the client has called. That can only be
 * done for plain text: requests with tools, several choices, probabilities or anything else that is
 * not in the lists below are sent whole. One per request, on its event loop.
 */
final class SessionForm implements EngineForm {
    private static final String CHAT = "/v1/chat/completions";
    private static final String COMPLETIONS = "/v1/completions";
    private static final String MAX_TOKENS = "max_new_tokens";

    /** What completions end at when they do not say; chats have no end. */
    private static final int COMPLETION_TOKENS = 16;

    /** Members that are in the ids, in the answer's form, or said in another way. */
    private static final Set<String> READ_ELSEWHERE =
            Set.of(
                    ("model messages prompt stream stream_options user nvext cache_salt priority"
                                    + " chat_template_kwargs reasoning_effort routed_dp_rank")
                            .split(" ", -1));

    /** Sampling parameters, and what {@code /generate} calls them. */
    private static final Map<String, String> SAMPLING =
            Map.ofEntries(
                    Map.entry("max_tokens", MAX_TOKENS),
                    Map.entry("max_completion_tokens", MAX_TOKENS),
                    Map.entry("min_tokens", "min_new_tokens"),
                    Map.entry("seed", "sampling_seed"),
                    Map.entry("temperature", "temperature"),
                    Map.entry("top_p", "top_p"),
                    Map.entry("top_k", "top_k"),
                    Map.entry("min_p", "min_p"),
                    Map.entry("frequency_penalty", "frequency_penalty"),
                    Map.entry("presence_penalty", "presence_penalty"),
                    Map.entry("repetition_penalty", "repetition_penalty"),
                    Map.entry("stop", "stop"),
                    Map.entry("stop_token_ids", "stop_token_ids"),
                    Map.entry("ignore_eos", "ignore_eos"));

    private final boolean historyAdded;
    private @Nullable Boolean plain;
    private @Nullable Buffer sampling;
    private @Nullable SessionAppend appended;
    private boolean stream;
    private boolean usage;
    private String model = "";
    private boolean chat;

    /** {@code historyAdded}: what was said before was put in front of what the client has sent. */
    SessionForm(boolean historyAdded) {
        this.historyAdded = historyAdded;
    }

    @Override
    public boolean historyAdded() {
        return historyAdded;
    }

    @Override
    public boolean isAsSent() {
        return true;
    }

    @Override
    public boolean appends(InferenceRequest request) {
        Boolean known = plain;
        if (known == null) {
            chat = request.target().equals(CHAT);
            known = (chat || request.target().equals(COMPLETIONS)) && isPlain(request.body());
            plain = known;
        }
        return known;
    }

    private boolean isPlain(Buffer body) {
        HeapBytes bytes = HeapBytes.of(body);
        boolean[] all = {true};
        boolean[] length = {false};
        Buffer read;
        try (JsonParser json = JsonInput.parser(bytes.array(), bytes.offset(), bytes.length())) {
            json.nextToken();
            read =
                    JsonOutput.object(
                            out -> {
                                for (String name = json.nextFieldName();
                                        name != null;
                                        name = json.nextFieldName()) {
                                    JsonToken value = json.nextToken();
                                    String as = SAMPLING.get(name);
                                    if (as == null || value == JsonToken.VALUE_NULL) {
                                        all[0] &= READ_ELSEWHERE.contains(name) || isUsual(json);
                                        json.skipChildren();
                                    } else {
                                        length[0] |= as.equals(MAX_TOKENS);
                                        out.writeFieldName(as);
                                        out.copyCurrentStructure(json);
                                    }
                                }
                                if (!length[0]) {
                                    unlimited(out);
                                }
                            });
        } catch (IOException e) {
            return false;
        }
        sampling = read;
        return all[0];
    }

    private void unlimited(JsonGenerator out) throws IOException {
        if (chat) {
            out.writeNullField(MAX_TOKENS);
        } else {
            out.writeNumberField(MAX_TOKENS, COMPLETION_TOKENS);
        }
    }

    /** Says what is so anyway: null, false, one, nothing. */
    private static boolean isUsual(JsonParser json) throws IOException {
        return switch (json.currentToken()) {
            case VALUE_NULL, VALUE_FALSE -> true;
            case VALUE_NUMBER_INT -> json.currentName().equals("n") && json.getText().equals("1");
            case START_ARRAY -> json.nextToken() == JsonToken.END_ARRAY;
            default -> false;
        };
    }

    @Override
    public Written write(InferenceRequest request, Worker to, BodyChanges changes) {
        SessionAppend append = changes.append();
        Buffer parameters = sampling;
        appended = append;
        if (append == null || parameters == null) {
            return EngineForm.AS_SENT.write(request, to, changes);
        }
        stream = request.stream();
        usage = changes.includeUsage() || asksForUsage(request);
        model = request.name().asked();
        return new Written(
                "/generate",
                JsonOutput.object(
                        json -> {
                            json.writeObjectFieldStart("session_params");
                            json.writeStringField("id", append.session());
                            json.writeEndObject();
                            json.writeBooleanField("stream", request.stream());
                            if (!request.salt().value().isEmpty()) {
                                json.writeStringField("cache_salt", request.salt().value());
                            }
                            if (changes.dpRank().isPresent()) {
                                json.writeNumberField(
                                        "routed_dp_rank", changes.dpRank().getAsInt());
                            }
                            if (changes.priority().isPresent()) {
                                json.writeNumberField("priority", changes.priority().getAsInt());
                            }
                            if (!request.name().lora().isEmpty()) {
                                json.writeStringField("lora_path", request.name().lora());
                            }
                            json.writeFieldName("sampling_params");
                            json.writeRawValue(parameters.toString());
                            json.writeArrayFieldStart("input_ids");
                            for (int id : append.ids()) {
                                json.writeNumber(Integer.toUnsignedLong(id));
                            }
                            json.writeEndArray();
                        }));
    }

    private static boolean asksForUsage(InferenceRequest request) {
        return request.edits().includeUsage().present()
                && request.body().getByte(request.edits().includeUsage().start()) == 't';
    }

    @Override
    public UpstreamListener read(Worker from, UpstreamListener next) {
        SessionAppend append = appended;
        return append == null
                ? next
                : new GenerateAnswer(
                        from.name(),
                        new GenerateAnswer.Form(chat, stream, usage, model),
                        append.outcome(),
                        next);
    }
}
