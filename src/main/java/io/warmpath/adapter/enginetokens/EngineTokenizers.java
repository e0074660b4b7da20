package io.warmpath.adapter.enginetokens;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.warmpath.fleet.EngineHttp;
import io.warmpath.fleet.EngineTokenizer;
import io.warmpath.fleet.Worker;
import java.io.IOException;
import java.util.Optional;

/** {@code POST /tokenize} of vLLM and SGLang. Stateless, any thread; blocks as its HTTP does. */
public final class EngineTokenizers implements EngineTokenizer {
    private static final String PATH = "/tokenize";
    private static final ObjectMapper JSON = new ObjectMapper();

    private final EngineHttp http;

    public EngineTokenizers(EngineHttp http) {
        this.http = http;
    }

    @Override
    public Optional<int[]> tokens(Worker worker, String model, byte[] request) throws IOException {
        Optional<String> question =
                TokenizeQuestion.of(worker.kind(), model, JSON.readTree(request));
        if (question.isEmpty()) {
            return Optional.empty();
        }
        EngineHttp.Answer answer = http.post(worker.url(), PATH, question.get());
        if (!answer.ok()) {
            throw new IOException("POST " + PATH + " answered " + answer.status());
        }
        return Optional.of(ids(answer.body()));
    }

    private static int[] ids(String body) throws IOException {
        JsonNode tokens;
        try {
            tokens = JSON.readTree(body).path("tokens");
        } catch (JsonProcessingException e) {
            throw new IOException("POST " + PATH + " answered something that is not JSON", e);
        }
        int[] ids = new int[tokens.size()];
        for (int i = 0; i < ids.length; i++) {
            JsonNode id = tokens.path(i);
            if (!id.isIntegralNumber() || id.longValue() < 0 || id.longValue() > 0xffff_ffffL) {
                throw new IOException("POST " + PATH + " answered without a list of token ids");
            }
            ids[i] = (int) id.longValue();
        }
        if (ids.length == 0) {
            throw new IOException("POST " + PATH + " answered without tokens");
        }
        return ids;
    }
}
