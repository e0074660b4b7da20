package io.warmpath.api;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.warmpath.fleet.EngineKind;
import io.warmpath.fleet.EventEndpoint;
import io.warmpath.fleet.HiCacheMetadata;
import io.warmpath.fleet.PinSupport;
import io.warmpath.fleet.PoolMetadata;
import io.warmpath.fleet.PriorityOrder;
import io.warmpath.fleet.Taint;
import io.warmpath.fleet.VllmStoreMetadata;
import io.warmpath.fleet.Worker;
import io.warmpath.fleet.WorkerSpec;
import io.warmpath.fleet.WorkerStatus;
import java.io.IOException;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.OptionalLong;
import java.util.Set;
import java.util.TreeSet;
import org.jspecify.annotations.Nullable;

/**
 * Workers as JSON. What is read has the keys of {@code warmpath.workers} in the configuration file,
 * with dashes or underscores. Stateless.
 */
final class WorkerJson {
    private static final ObjectMapper JSON = new ObjectMapper();

    private static final Set<String> KEYS =
            Set.of(
                    "url",
                    "name",
                    "id",
                    "kind",
                    "models",
                    "block-size",
                    "dp-size",
                    "events-endpoint",
                    "replay-endpoint",
                    "events-bind",
                    "topic",
                    "taints",
                    "priority",
                    "pins",
                    "sglang-hicache-mooncake",
                    "vllm-mooncake-store");

    private WorkerJson() {}

    /**
     * @throws IllegalArgumentException with a sentence for the operator
     */
    static WorkerSpec spec(byte[] body) {
        Map<String, JsonNode> fields = fields(body);
        Set<String> unknown = new TreeSet<>(fields.keySet());
        unknown.removeAll(KEYS);
        if (!unknown.isEmpty()) {
            throw new IllegalArgumentException(
                    "Unknown field " + unknown + "; known are " + new TreeSet<>(KEYS) + ".");
        }
        String url = text(fields, "url");
        if (url == null) {
            throw new IllegalArgumentException("The field url is missing.");
        }
        return new WorkerSpec(
                WorkerSpec.parse(url),
                text(fields, "name"),
                id(fields.get("id")),
                kind(text(fields, "kind")),
                models(fields.get("models")),
                number(fields, "block-size", 65536),
                number(fields, "dp-size", WorkerSpec.MAX_DP_SIZE),
                text(fields, "events-endpoint"),
                text(fields, "replay-endpoint"),
                flag(fields.get("events-bind")),
                topic(fields),
                taints(fields.get("taints")),
                pool(fields),
                priorities(text(fields, "priority")),
                pins(text(fields, "pins")));
    }

    private static @Nullable PinSupport pins(@Nullable String word) {
        return word == null ? null : PinSupport.parse(word);
    }

    private static @Nullable PriorityOrder priorities(@Nullable String word) {
        return word == null ? null : PriorityOrder.parse(word);
    }

    private static @Nullable PoolMetadata pool(Map<String, JsonNode> fields) {
        JsonNode sglang = fields.get("sglang-hicache-mooncake");
        JsonNode vllm = fields.get("vllm-mooncake-store");
        if (sglang != null) {
            return HiCacheMetadata.of(JSON.convertValue(sglang, Object.class));
        }
        return vllm == null ? null : VllmStoreMetadata.of(JSON.convertValue(vllm, Object.class));
    }

    private static Map<String, JsonNode> fields(byte[] body) {
        JsonNode root;
        try {
            root = JSON.readTree(body);
        } catch (IOException e) {
            throw new IllegalArgumentException("The body is not JSON.", e);
        }
        if (root == null || !root.isObject()) {
            throw new IllegalArgumentException("The body must be a JSON object.");
        }
        Map<String, JsonNode> fields = new LinkedHashMap<>();
        for (Map.Entry<String, JsonNode> e : root.properties()) {
            if (!e.getValue().isNull()) {
                fields.put(e.getKey().replace('_', '-'), e.getValue());
            }
        }
        return fields;
    }

    private static @Nullable String text(Map<String, JsonNode> fields, String key) {
        JsonNode value = fields.get(key);
        if (value == null) {
            return null;
        }
        if (!value.isTextual()) {
            throw new IllegalArgumentException("The field " + key + " must be a string.");
        }
        return value.asText();
    }

    private static String topic(Map<String, JsonNode> fields) {
        String topic = text(fields, "topic");
        return topic == null ? "" : topic;
    }

    private static int number(Map<String, JsonNode> fields, String key, int max) {
        JsonNode value = fields.get(key);
        if (value == null) {
            return 0;
        }
        if (!value.isIntegralNumber() || value.asLong() < 0 || value.asLong() > max) {
            throw new IllegalArgumentException(
                    "The field " + key + " must be a whole number from 0 to " + max + ".");
        }
        return value.asInt();
    }

    private static boolean flag(@Nullable JsonNode value) {
        if (value != null && !value.isBoolean()) {
            throw new IllegalArgumentException("The field events-bind must be true or false.");
        }
        return value != null && value.asBoolean();
    }

    /** As a number or, since it may not fit into a double, as a string of digits. */
    private static OptionalLong id(@Nullable JsonNode value) {
        if (value == null) {
            return OptionalLong.empty();
        }
        try {
            return OptionalLong.of(Long.parseUnsignedLong(value.asText()));
        } catch (NumberFormatException e) {
            throw new IllegalArgumentException(
                    "The field id must be a whole number from 0 to 18446744073709551615.", e);
        }
    }

    private static @Nullable EngineKind kind(@Nullable String kind) {
        if (kind == null) {
            return null;
        }
        for (EngineKind k : EngineKind.values()) {
            if (k.name().toLowerCase(Locale.ROOT).equals(kind)) {
                return k;
            }
        }
        throw new IllegalArgumentException("The field kind must be sglang, vllm or openai.");
    }

    private static List<Taint> taints(@Nullable JsonNode value) {
        return texts("taints", value).stream().map(Taint::parse).toList();
    }

    private static Set<String> models(@Nullable JsonNode value) {
        return texts("models", value);
    }

    private static Set<String> texts(String key, @Nullable JsonNode value) {
        Set<String> texts = new LinkedHashSet<>();
        if (value != null) {
            if (!value.isArray()) {
                throw new IllegalArgumentException(
                        "The field " + key + " must be a list of strings.");
            }
            for (JsonNode text : value) {
                if (!text.isTextual() || text.asText().isEmpty()) {
                    throw new IllegalArgumentException(
                            "The field " + key + " must be a list of strings.");
                }
                texts.add(text.asText());
            }
        }
        return texts;
    }

    /**
     * @param followsEvents this gateway listens to its events
     * @param drifted prompts whose ids here are not the engine's
     * @param pins how it keeps what clients pin
     */
    static Map<String, Object> of(
            WorkerStatus status, boolean followsEvents, Set<String> drifted, PinSupport pins) {
        Worker w = status.worker();
        Map<String, Object> json = new LinkedHashMap<>();
        json.put("id", Long.toUnsignedString(w.id()));
        json.put("name", w.name());
        json.put("url", w.url().toString());
        json.put("kind", lower(w.kind()));
        json.put("version", w.version());
        json.put("state", lower(w.state()));
        json.put("problem", status.problem());
        json.put("models", List.copyOf(new TreeSet<>(w.models())));
        json.put("block_size", w.blockSize());
        json.put("dp_size", w.ranks().size());
        json.put("priority", w.priorities().word());
        json.put("pins", pins.word());
        json.put("events_followed", followsEvents);
        json.put("tokens_drifted", List.copyOf(drifted));
        json.put("taints", w.taints().stream().map(Taint::toString).toList());
        PoolMetadata pool = w.offload().pool();
        if (pool != null) {
            json.put(pool.key(), pool.json());
        }
        json.put("events", status.events().stream().map(WorkerJson::endpoint).toList());
        return json;
    }

    private static Map<String, Object> endpoint(EventEndpoint e) {
        Map<String, Object> json = new LinkedHashMap<>();
        json.put("dp_rank", e.dpRank());
        json.put("endpoint", e.endpoint());
        json.put("bind", e.bind());
        json.put("replay_endpoint", e.replayEndpoint());
        json.put("topic", e.topic());
        return json;
    }

    private static String lower(Enum<?> word) {
        return word.name().toLowerCase(Locale.ROOT);
    }
}
