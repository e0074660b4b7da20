package io.warmpath.fleet;

import java.util.Map;
import java.util.Set;
import java.util.stream.Collectors;

/**
 * The models that a worker serves. Immutable.
 *
 * @param names as clients write them, those of adapters among them
 * @param bases of the names that are adapters, as far as the engine tells: the model that an
 *     adapter belongs to, by the adapter's name
 */
public record ServedModels(Set<String> names, Map<String, String> bases) {
    public static final ServedModels NONE = of(Set.of());

    public ServedModels {
        names = Set.copyOf(names);
        bases = Map.copyOf(bases);
        if (!names.containsAll(bases.keySet())) {
            throw new IllegalArgumentException(bases + " has adapters that are not in " + names);
        }
    }

    /** Without adapters, or with such of which that is not known. */
    public static ServedModels of(Set<String> names) {
        return new ServedModels(names, Map.of());
    }

    /** Those that are no adapters. */
    public Set<String> own() {
        return bases.isEmpty()
                ? names
                : names.stream()
                        .filter(name -> !bases.containsKey(name))
                        .collect(Collectors.toSet());
    }
}
