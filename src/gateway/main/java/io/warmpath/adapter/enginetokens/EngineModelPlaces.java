package io.warmpath.adapter.enginetokens;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.warmpath.fleet.ModelPlaces;
import io.warmpath.fleet.Worker;
import io.warmpath.fleet.probe.EngineHttp;
import java.io.IOException;
import java.util.HashSet;
import java.util.Optional;
import java.util.Set;

/**
 * {@code tokenizer_path} or {@code model_path} of SGLang's {@code GET /server_info}; {@code root}
 * of the base models in vLLM's {@code GET /v1/models}. Stateless; blocks as its HTTP does.
 */
public record EngineModelPlaces(EngineHttp http) implements ModelPlaces {
    private static final ObjectMapper JSON = new ObjectMapper();

    @Override
    public Optional<Place> of(Worker worker) throws IOException {
        return switch (worker.kind()) {
            case SGLANG -> sglang(worker);
            case VLLM -> vllm(worker);
            case TRTLLM, OPENAI -> Optional.empty();
        };
    }

    private Optional<Place> sglang(Worker worker) throws IOException {
        JsonNode info = get(worker, "/server_info");
        String template = text(info, "chat_template");
        String tokenizer = text(info, "tokenizer_path");
        String where = tokenizer.isEmpty() ? text(info, "model_path") : tokenizer;
        String served = text(info, "served_model_name");
        String name = served.isEmpty() ? text(info, "model_path") : served;
        return where.isEmpty() || !template.isEmpty() || !worker.models().contains(name)
                ? Optional.empty()
                : Optional.of(new Place(Set.of(name), where, text(info, "revision")));
    }

    /** Adapters have a parent, and the tokens of that. */
    private Optional<Place> vllm(Worker worker) throws IOException {
        String where = "";
        Set<String> names = new HashSet<>();
        for (JsonNode model : get(worker, "/v1/models").path("data")) {
            String name = text(model, "id");
            if (text(model, "parent").isEmpty() && worker.models().contains(name)) {
                where = text(model, "root");
                names.add(name);
            }
        }
        return where.isEmpty() ? Optional.empty() : Optional.of(new Place(names, where, ""));
    }

    private JsonNode get(Worker worker, String path) throws IOException {
        EngineHttp.Answer answer = http.get(worker.url(), path);
        if (!answer.ok()) {
            throw new IOException("GET " + path + " answered " + answer.status());
        }
        try {
            return JSON.readTree(answer.body());
        } catch (JsonProcessingException e) {
            throw new IOException("GET " + path + " answered something that is not JSON", e);
        }
    }

    /** Empty when it is not there, or null. */
    private static String text(JsonNode of, String name) {
        JsonNode value = of.path(name);
        return value.isTextual() ? value.asText() : "";
    }
}
