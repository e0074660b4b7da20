package io.warmpath.adapter.sglang;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.warmpath.fleet.PinSupport;
import io.warmpath.fleet.Worker;
import io.warmpath.fleet.probe.EngineHttp;
import io.warmpath.fleet.probe.PinProbe;
import java.io.IOException;

/**
 * What SGLang has for pins: a route of its own in builds of some months, and only with the
 * hierarchical cache; eviction by priority; else requests that keep a prefix fresh, as vLLM, too.
 * An engine of which nothing is known is not sent ids. Stateless.
 */
public final class SglangPins implements PinProbe {
    private static final ObjectMapper JSON = new ObjectMapper();
    private static final int NOT_FOUND = 404;

    private final String route;

    /**
     * @param route that pins are posted to
     */
    public SglangPins(String route) {
        this.route = route;
    }

    @Override
    public PinSupport ask(Worker worker, EngineHttp http) throws IOException {
        return switch (worker.kind()) {
            case TRTLLM, OPENAI -> PinSupport.NONE;
            case VLLM -> PinSupport.KEEP_ALIVE;
            case SGLANG -> sglang(worker, http);
        };
    }

    private PinSupport sglang(Worker worker, EngineHttp http) throws IOException {
        EngineHttp.Answer answer = http.get(worker.url(), "/server_info");
        if (answer.status() == NOT_FOUND) {
            answer = http.get(worker.url(), "/get_server_info");
        }
        JsonNode info = answer.ok() ? read(answer.body()) : JSON.createObjectNode();
        // A route that only takes POST answers GET with 405, one that is not there with 404.
        if (info.path("enable_hierarchical_cache").asBoolean(false)
                && http.get(worker.url(), route).status() != NOT_FOUND) {
            return PinSupport.RPC;
        }
        return info.path("radix_eviction_policy").asText("").equals("priority") && !turned(info)
                ? PinSupport.PRIORITY
                : PinSupport.KEEP_ALIVE;
    }

    /** Its queue wants low values of what matters, and its eviction drops those first. */
    private static boolean turned(JsonNode info) {
        return info.path("enable_priority_scheduling").asBoolean(false)
                && info.path("schedule_low_priority_values_first").asBoolean(false);
    }

    private static JsonNode read(String body) throws IOException {
        try {
            return JSON.readTree(body);
        } catch (JsonProcessingException e) {
            throw new IOException("/server_info is not JSON", e);
        }
    }
}
