package io.warmpath.adapter.kubernetes;

import com.fasterxml.jackson.databind.JsonNode;
import java.util.List;
import java.util.Map;
import java.util.function.Function;

/**
 * The objects of one kind that name a pool; from {@code llm-d.ai} and from the group they had
 * before, where a cluster has the kind. Any thread.
 *
 * @param <T> what is kept of an object
 */
final class PoolObjects<T> implements AutoCloseable {
    private static final List<String> GROUPS =
            List.of("llm-d.ai/v1alpha2", "inference.networking.x-k8s.io/v1alpha2");

    private final List<Reflector<T>> groups;

    /**
     * @param kinds plural, in lower case
     * @param changed told that {@link #groups} may have changed
     */
    PoolObjects(
            String kinds,
            String namespace,
            Reflector.Setup setup,
            Function<JsonNode, T> parse,
            Runnable changed) {
        groups =
                GROUPS.stream()
                        .map(
                                group ->
                                        new Reflector<>(
                                                kinds + " of " + group,
                                                setup,
                                                Reflector.Selection.all(
                                                        "/apis/"
                                                                + group
                                                                + "/namespaces/"
                                                                + namespace
                                                                + "/"
                                                                + kinds),
                                                parse,
                                                changed,
                                                true))
                        .toList();
    }

    /** The name of the pool that an object belongs to. */
    static String pool(JsonNode object) {
        return object.path("spec").path("poolRef").path("name").asText();
    }

    void start() {
        groups.forEach(Reflector::start);
    }

    /** Objects by name, of each group; the newest group first. Live views. */
    List<Map<String, T>> groups() {
        return groups.stream().map(Reflector::objects).toList();
    }

    @Override
    public void close() {
        groups.forEach(Reflector::close);
    }
}
