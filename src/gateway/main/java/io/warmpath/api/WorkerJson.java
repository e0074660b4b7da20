package io.warmpath.api;

import com.fasterxml.jackson.databind.ObjectMapper;
import io.warmpath.fleet.EventEndpoint;
import io.warmpath.fleet.LoadPoll;
import io.warmpath.fleet.PinSupport;
import io.warmpath.fleet.PoolMetadata;
import io.warmpath.fleet.SourceName;
import io.warmpath.fleet.Taint;
import io.warmpath.fleet.TestedEngines;
import io.warmpath.fleet.Worker;
import io.warmpath.fleet.WorkerFields;
import io.warmpath.fleet.WorkerSpec;
import io.warmpath.fleet.WorkerStatus;
import java.io.IOException;
import java.net.URI;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;

/** Workers as JSON; what is read is as {@link WorkerFields} says. Stateless. */
final class WorkerJson {
    private static final ObjectMapper JSON = new ObjectMapper();

    private WorkerJson() {}

    /**
     * @throws IllegalArgumentException with a sentence for the operator
     */
    static WorkerSpec spec(byte[] body) {
        return WorkerFields.spec(fields(body));
    }

    /** As {@link #spec}, of the fields to change. */
    static WorkerSpec patch(URI url, byte[] body) {
        return WorkerFields.patch(url, fields(body));
    }

    private static Map<?, ?> fields(byte[] body) {
        try {
            if (JSON.readValue(body, Object.class) instanceof Map<?, ?> fields) {
                return fields;
            }
        } catch (IOException e) {
            throw new IllegalArgumentException("The body is not JSON.", e);
        }
        throw new IllegalArgumentException("The body must be a JSON object.");
    }

    /**
     * @param sources who names it, the strongest first
     * @param loads what its engine last said, by rank
     * @param followsEvents this gateway listens to its events
     * @param drifted prompts whose ids here are not the engine's
     * @param pins how it keeps what clients pin
     * @param tokens where those of its models' prompts come from, by model
     */
    static Map<String, Object> of(
            WorkerStatus status,
            List<SourceName> sources,
            Map<Integer, LoadPoll.Seen> loads,
            boolean followsEvents,
            Set<String> drifted,
            PinSupport pins,
            Map<String, String> tokens) {
        Worker w = status.worker();
        Map<String, Object> json = new LinkedHashMap<>();
        json.put("id", Long.toUnsignedString(w.id()));
        json.put("name", w.name());
        json.put("url", w.url().toString());
        json.put("kind", lower(w.kind()));
        json.put("version", w.version());
        json.put("version_tested", TestedEngines.isTested(w.kind(), w.version()));
        json.put("state", lower(w.state()));
        json.put("problem", status.problem());
        json.put("sources", sources.stream().map(SourceName::word).toList());
        json.put("disagreements", status.disagreements());
        json.put("models", List.copyOf(new TreeSet<>(w.models())));
        json.put("block_size", w.blockSize());
        json.put("dp_size", w.ranks().size());
        json.put("priority", w.priorities().word());
        json.put("sessions", w.sessions().word());
        json.put("pins", pins.word());
        json.put("events_followed", followsEvents);
        json.put("tokens", new TreeMap<>(tokens));
        json.put("tokens_drifted", List.copyOf(drifted));
        json.put("taints", w.taints().stream().map(Taint::toString).toList());
        json.put("weight", w.weight());
        json.put("labels", new TreeMap<>(status.spec().labels()));
        json.put("max_num_batched_tokens", w.capacity().batchedTokens());
        json.put("total_kv_blocks", w.capacity().kvBlocks());
        json.put(
                "engine_load",
                new TreeMap<>(loads).values().stream().map(s -> load(w, s)).toList());
        PoolMetadata pool = w.offload().pool();
        if (pool != null) {
            json.put(pool.key(), pool.json());
        }
        json.put("events", status.events().stream().map(WorkerJson::endpoint).toList());
        return json;
    }

    private static Map<String, Object> load(Worker w, LoadPoll.Seen seen) {
        Map<String, Object> json = new LinkedHashMap<>();
        json.put("dp_rank", seen.load().dpRank());
        json.put("running", seen.load().running());
        json.put("waiting", seen.load().waiting());
        json.put("kv_blocks", Math.round(seen.load().blocks(w)));
        json.put("outside", seen.outside());
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
