package io.warmpath.adapter.kubernetes;

import com.fasterxml.jackson.databind.JsonNode;
import java.util.List;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * Priorities by name, of the InferenceObjectives that belong to one pool; from {@code llm-d.ai} and
 * from the group they had before, where a cluster has these kinds. Any thread.
 */
final class InferenceObjectives implements AutoCloseable {
    private static final List<String> GROUPS =
            List.of("llm-d.ai/v1alpha2", "inference.networking.x-k8s.io/v1alpha2");

    /**
     * @param pool name of the pool
     * @param priority more important when higher, 0 when the object says none
     */
    private record Objective(String pool, int priority) {
        static Objective of(JsonNode object) {
            JsonNode spec = object.path("spec");
            long priority = spec.path("priority").asLong();
            return new Objective(
                    spec.path("poolRef").path("name").asText(),
                    Math.clamp(priority, Integer.MIN_VALUE, Integer.MAX_VALUE));
        }
    }

    private final String pool;
    private final List<Reflector<Objective>> groups;

    InferenceObjectives(String pool, String namespace, Reflector.Setup setup) {
        this.pool = pool;
        groups =
                GROUPS.stream()
                        .map(
                                group ->
                                        new Reflector<>(
                                                "inferenceobjectives of " + group,
                                                setup,
                                                Reflector.Selection.all(
                                                        "/apis/"
                                                                + group
                                                                + "/namespaces/"
                                                                + namespace
                                                                + "/inferenceobjectives"),
                                                Objective::of,
                                                () -> {},
                                                true))
                        .toList();
    }

    void start() {
        groups.forEach(Reflector::start);
    }

    /** Null: there is no objective of this name. */
    @Nullable Integer priority(String name) {
        for (Reflector<Objective> group : groups) {
            Objective known = group.objects().get(name);
            if (known != null && known.pool().equals(pool)) {
                return known.priority();
            }
        }
        return null;
    }

    /** How many there are of this pool. */
    int size() {
        Stream<Objective> all = groups.stream().flatMap(g -> g.objects().values().stream());
        return (int) all.filter(o -> o.pool().equals(pool)).count();
    }

    @Override
    public void close() {
        groups.forEach(Reflector::close);
    }
}
