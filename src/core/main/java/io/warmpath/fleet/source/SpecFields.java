package io.warmpath.fleet.source;

import io.warmpath.fleet.EngineKind;
import io.warmpath.fleet.PinSupport;
import io.warmpath.fleet.PriorityOrder;
import io.warmpath.fleet.Taint;
import io.warmpath.fleet.WorkerSpec;
import io.warmpath.fleet.metadata.PoolMetadata;
import java.util.LinkedHashMap;
import java.util.Locale;
import java.util.Map;
import java.util.TreeMap;
import java.util.TreeSet;
import org.jspecify.annotations.Nullable;

/**
 * A worker's record as JSON has it, for whoever passes it on: what {@link WorkerFields} reads back
 * as the same record. Stateless.
 */
public final class SpecFields {
    private SpecFields() {}

    /** What the record says; what it leaves open is left out. */
    public static Map<String, Object> of(WorkerSpec spec) {
        Map<String, Object> json = new LinkedHashMap<>();
        json.put("url", spec.url().toString());
        put(json, "name", spec.name());
        spec.id().ifPresent(id -> json.put("id", Long.toUnsignedString(id)));
        EngineKind kind = spec.kind();
        put(json, "kind", kind == null ? null : kind.name().toLowerCase(Locale.ROOT));
        if (!spec.models().isEmpty()) {
            json.put("models", new TreeSet<>(spec.models()));
        }
        put(json, "block_size", spec.blockSize());
        put(json, "dp_size", spec.dpSize());
        put(json, "events_endpoint", spec.eventsEndpoint());
        put(json, "replay_endpoint", spec.replayEndpoint());
        if (spec.eventsBind()) {
            json.put("events_bind", true);
        }
        put(json, "topic", spec.topic().isEmpty() ? null : spec.topic());
        if (!spec.taints().isEmpty()) {
            json.put("taints", spec.taints().stream().map(Taint::toString).toList());
        }
        PoolMetadata pool = spec.pool();
        if (pool != null) {
            json.put(pool.key(), pool.json());
        }
        PriorityOrder priorities = spec.priorities();
        put(json, "priority", priorities == null ? null : priorities.word());
        put(json, "max_num_batched_tokens", spec.capacity().batchedTokens());
        put(json, "total_kv_blocks", spec.capacity().kvBlocks());
        if (!spec.labels().isEmpty()) {
            json.put("labels", new TreeMap<>(spec.labels()));
        }
        PinSupport pins = spec.pins();
        put(json, "pins", pins == null ? null : pins.word());
        if (spec.weight() != 0) {
            json.put("weight", spec.weight());
        }
        return json;
    }

    private static void put(Map<String, Object> json, String key, @Nullable String value) {
        if (value != null) {
            json.put(key, value);
        }
    }

    private static void put(Map<String, Object> json, String key, long value) {
        if (value != 0) {
            json.put(key, value);
        }
    }
}
