package io.warmpath.adapter.openai;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.warmpath.fleet.probe.EngineAnswerException;
import io.warmpath.fleet.probe.ModelList;
import java.io.IOException;
import java.util.LinkedHashSet;
import java.util.Set;

/** Model names of {@code GET /v1/models}; entries without a name are skipped. */
public final class OpenAiModels implements ModelList {
    private static final ObjectMapper JSON = new ObjectMapper();

    @Override
    public Set<String> read(String body) throws IOException {
        JsonNode data;
        try {
            data = JSON.readTree(body).path("data");
        } catch (JsonProcessingException e) {
            throw new EngineAnswerException("GET /v1/models is not JSON", e);
        }
        if (!data.isArray()) {
            throw new EngineAnswerException(200, "GET /v1/models has no list named data");
        }
        Set<String> names = new LinkedHashSet<>();
        for (JsonNode model : data) {
            String id = model.path("id").asText("");
            if (!id.isEmpty()) {
                names.add(id);
            }
        }
        return names;
    }
}
