package io.warmpath.api.direct;

import com.fasterxml.jackson.core.JsonGenerator;
import io.warmpath.api.json.JsonOutput;
import io.warmpath.api.request.TokenRequest;
import io.warmpath.fault.GatewayError;
import io.warmpath.fault.GatewayException;
import io.warmpath.fleet.EngineKind;
import io.warmpath.fleet.Worker;
import io.warmpath.gateway.request.BodyChanges;
import io.warmpath.gateway.request.EngineForm;
import io.warmpath.gateway.request.InferenceRequest;
import io.warmpath.upstream.UpstreamListener;
import java.io.IOException;
import java.util.List;
import java.util.Map;

/**
 * Token ids in, token ids out: SGLang's {@code /generate}, vLLM's {@code /v1/completions} with
 * {@code return_token_ids}. One per request, on its event loop.
 */
final class TokenForm implements EngineForm {
    /** Where SGLang's names differ. */
    private static final Map<String, String> SGLANG =
            Map.of(
                    "max_tokens", "max_new_tokens",
                    "min_tokens", "min_new_tokens",
                    "seed", "sampling_seed");

    private int[] prompt;
    private final TokenRequest parameters;

    TokenForm(int[] prompt, TokenRequest parameters) {
        this.prompt = prompt;
        this.parameters = parameters;
    }

    @Override
    public Written write(InferenceRequest request, Worker to, BodyChanges changes) {
        return switch (to.kind()) {
            case SGLANG ->
                    new Written(
                            "/generate", JsonOutput.object(json -> sglang(request, changes, json)));
            case VLLM ->
                    new Written("/v1/completions", JsonOutput.object(json -> vllm(request, json)));
            default ->
                    throw new GatewayException(
                            new GatewayError.BadRequest(
                                    "worker_id",
                                    "Worker `"
                                            + to.name()
                                            + "` is neither SGLang nor vLLM; its engine cannot be"
                                            + " asked for token ids."));
        };
    }

    @Override
    public void answered() {
        prompt = new int[0];
    }

    @Override
    public UpstreamListener read(Worker from, UpstreamListener next) {
        return new TokenFrames(from.name(), from.kind() == EngineKind.SGLANG, next);
    }

    private void sglang(InferenceRequest request, BodyChanges changes, JsonGenerator json)
            throws IOException {
        json.writeBooleanField("stream", true);
        if (!request.salt().value().isEmpty()) {
            json.writeStringField("cache_salt", request.salt().value());
        }
        if (changes.dpRank().isPresent()) {
            json.writeNumberField("routed_dp_rank", changes.dpRank().getAsInt());
        }
        if (!request.name().lora().isEmpty()) {
            json.writeStringField("lora_path", request.name().lora());
        }
        json.writeObjectFieldStart("sampling_params");
        for (Map.Entry<String, Object> p : parameters.parameters().entrySet()) {
            parameter(SGLANG.getOrDefault(p.getKey(), p.getKey()), p.getValue(), json);
        }
        json.writeEndObject();
        prompt("input_ids", json);
    }

    private void vllm(InferenceRequest request, JsonGenerator json) throws IOException {
        json.writeStringField("model", request.model());
        json.writeBooleanField("stream", true);
        json.writeBooleanField("return_token_ids", true);
        json.writeObjectFieldStart("stream_options");
        json.writeBooleanField("include_usage", true);
        json.writeEndObject();
        if (!request.salt().value().isEmpty()) {
            json.writeStringField("cache_salt", request.salt().value());
        }
        for (Map.Entry<String, Object> p : parameters.parameters().entrySet()) {
            parameter(p.getKey(), p.getValue(), json);
        }
        prompt("prompt", json);
    }

    private static void parameter(String name, Object value, JsonGenerator json)
            throws IOException {
        json.writeFieldName(name);
        switch (value) {
            case Long number -> json.writeNumber(number);
            case Double number -> json.writeNumber(number);
            case Boolean flag -> json.writeBoolean(flag);
            case List<?> list -> {
                json.writeStartArray();
                for (Object element : list) {
                    if (element instanceof Long id) {
                        json.writeNumber(id);
                    } else {
                        json.writeString(String.valueOf(element));
                    }
                }
                json.writeEndArray();
            }
            default -> throw new IllegalArgumentException(name + " is a " + value.getClass());
        }
    }

    private void prompt(String name, JsonGenerator json) throws IOException {
        json.writeArrayFieldStart(name);
        for (int id : prompt) {
            json.writeNumber(Integer.toUnsignedLong(id));
        }
        json.writeEndArray();
    }
}
