package io.warmpath.adapter.kubernetes;

import com.fasterxml.jackson.databind.JsonNode;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** Priorities by name, of the InferenceObjectives that belong to one pool. Any thread. */
final class InferenceObjectives implements AutoCloseable {
    /**
     * @param pool name of the pool
     * @param priority more important when higher, 0 when the object says none
     */
    private record Objective(String pool, int priority) {
        static Objective of(JsonNode object) {
            long priority = object.path("spec").path("priority").asLong();
            return new Objective(
                    PoolObjects.pool(object),
                    Math.clamp(priority, Integer.MIN_VALUE, Integer.MAX_VALUE));
        }
    }

    private final String pool;
    private final PoolObjects<Objective> objects;

    InferenceObjectives(String pool, String namespace, Reflector.Setup setup) {
        this.pool = pool;
        objects =
                new PoolObjects<>("inferenceobjectives", namespace, setup, Objective::of, () -> {});
    }

    void start() {
        objects.start();
    }

    /** Null: there is no objective of this name. */
    @Nullable Integer priority(String name) {
        for (Map<String, Objective> group : objects.groups()) {
            Objective known = group.get(name);
            if (known != null && known.pool().equals(pool)) {
                return known.priority();
            }
        }
        return null;
    }

    /** How many there are of this pool. */
    int size() {
        return (int)
                objects.groups().stream()
                        .flatMap(group -> group.values().stream())
                        .filter(o -> o.pool().equals(pool))
                        .count();
    }

    @Override
    public void close() {
        objects.close();
    }
}
