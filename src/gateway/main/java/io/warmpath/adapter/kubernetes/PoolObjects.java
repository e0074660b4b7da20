package io.warmpath.adapter.kubernetes;

import com.fasterxml.jackson.databind.JsonNode;
import java.util.List;
import java.util.function.Function;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * The objects of one kind that belong to one pool; from {@code llm-d.ai} and from the group they
 * had before, where a cluster has the kind. Any thread.
 *
 * @param <T> what is kept of an object
 */
final class PoolObjects<T> implements AutoCloseable {
    private static final List<String> GROUPS =
            List.of("llm-d.ai/v1alpha2", "inference.networking.x-k8s.io/v1alpha2");

    private record Of<T>(String pool, T kept) {}

    private final String pool;
    private final List<Reflector<Of<T>>> groups;

    /**
     * @param kinds plural, in lower case
     * @param pool its name
     * @param keep what of an object
     * @param changed told that {@link #all} may have changed
     */
    PoolObjects(
            String kinds,
            String pool,
            String namespace,
            Reflector.Setup setup,
            Function<JsonNode, T> keep,
            Runnable changed) {
        this.pool = pool;
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
                                                object ->
                                                        new Of<>(
                                                                poolOf(object), keep.apply(object)),
                                                changed,
                                                true))
                        .toList();
    }

    private static String poolOf(JsonNode object) {
        return object.path("spec").path("poolRef").path("name").asText();
    }

    void start() {
        groups.forEach(Reflector::start);
    }

    /** Of this name, in the newest group that has one; null: there is none. */
    @Nullable T find(String name) {
        for (Reflector<Of<T>> group : groups) {
            Of<T> known = group.objects().get(name);
            if (known != null && known.pool.equals(pool)) {
                return known.kept;
            }
        }
        return null;
    }

    Stream<T> all() {
        return groups.stream()
                .flatMap(group -> group.objects().values().stream())
                .filter(of -> of.pool.equals(pool))
                .map(Of::kept);
    }

    int size() {
        return (int) all().count();
    }

    @Override
    public void close() {
        groups.forEach(Reflector::close);
    }
}
