package io.warmpath.adapter.openai;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.warmpath.fleet.probe.EngineAnswerException;
import io.warmpath.fleet.probe.ModelList;
import java.io.IOException;
import java.util.LinkedHashMap;
import java.util.SequencedMap;

/**
 * Models of {@code GET /v1/models}; entries without a name are skipped. vLLM and SGLang write the
 * base of an adapter as its {@code parent}.
 */
public final class OpenAiModels implements ModelList {
    private static final ObjectMapper JSON = new ObjectMapper();

    @Override
    public SequencedMap<String, String> read(String body) throws IOException {
        JsonNode data;
        try {
            data = JSON.readTree(body).path("data");
        } catch (JsonProcessingException e) {
            throw new EngineAnswerException("GET /v1/models is not JSON", e);
        }
        if (!data.isArray()) {
            throw new EngineAnswerException(200, "GET /v1/models has no list named data");
        }
        SequencedMap<String, String> names = new LinkedHashMap<>();
        for (JsonNode model : data) {
            String id = model.path("id").asText("");
            if (!id.isEmpty()) {
                String base = model.path("parent").asText("");
                names.put(id, base.equals(id) ? "" : base);
            }
        }
        return names;
    }
}
