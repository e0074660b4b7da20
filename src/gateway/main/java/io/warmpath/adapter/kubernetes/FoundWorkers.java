package io.warmpath.adapter.kubernetes;

import io.warmpath.fleet.WorkerSpec;
import java.util.Collection;
import java.util.Collections;
import java.util.Comparator;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/**
 * The workers that EndpointSlices and pods amount to; a pure function of both. Immutable.
 *
 * <p>A pod is one worker, however many Services and address families lead to it; its record is
 * {@link WorkerRecord}'s (src/docs/how-to/kubernetes.md).
 *
 * @param workers by a key that is another one for each life of a pod
 * @param problems what could not be taken and why, by the same keys
 */
record FoundWorkers(Map<String, Found> workers, Map<String, String> problems) {
    /** No worker, and nothing wrong. */
    static final FoundWorkers NONE = new FoundWorkers(Map.of(), Map.of());

    /**
     * @param leaving why it gets no new requests, null: it does
     * @param doubt what is said of it and not understood, null: nothing
     */
    record Found(WorkerSpec spec, @Nullable String leaving, @Nullable String doubt) {}

    /** The problems, and the doubts of those that are workers all the same. */
    Map<String, String> wrong() {
        Map<String, String> wrong = new TreeMap<>(problems);
        workers.forEach(
                (key, found) -> {
                    if (found.doubt() != null) {
                        wrong.put(key, found.doubt());
                    }
                });
        return wrong;
    }

    /** One way to a pod. */
    private record Way(Slice slice, Slice.Endpoint endpoint) {}

    static FoundWorkers of(Collection<Slice> slices, Map<String, Pod> pods) {
        Map<String, List<Way>> ways =
                slices.stream()
                        .sorted(Comparator.comparing(Slice::family).thenComparing(Slice::name))
                        .flatMap(s -> s.endpoints().stream().map(e -> new Way(s, e)))
                        .collect(
                                Collectors.groupingBy(
                                        FoundWorkers::target,
                                        LinkedHashMap::new,
                                        Collectors.toList()));
        Map<String, Found> workers = new TreeMap<>();
        Map<String, String> problems = new TreeMap<>();
        ways.forEach(
                (target, all) -> {
                    String podName = all.getFirst().endpoint().pod();
                    Pod pod = podName == null ? null : pods.get(podName);
                    String key = pod == null ? target : target + "/" + pod.uid();
                    try {
                        if (podName != null && pod == null) {
                            throw new IllegalArgumentException(
                                    "the pod is not there, or lacks the labels of"
                                            + " warmpath.kubernetes.selector");
                        }
                        workers.put(key, found(target, all, pod));
                    } catch (IllegalArgumentException e) {
                        problems.put(key, String.valueOf(e.getMessage()));
                    }
                });
        return new FoundWorkers(
                Collections.unmodifiableMap(workers), Collections.unmodifiableMap(problems));
    }

    private static String target(Way way) {
        String pod = way.endpoint().pod();
        return pod == null ? way.endpoint().address() : pod;
    }

    private static Found found(String target, List<Way> ways, @Nullable Pod pod) {
        Way way = ways.getFirst();
        WorkerRecord record = new WorkerRecord(way.slice().annotations(), pod);
        record.runsIn("zone", way.endpoint().zone());
        for (Way each : ways.reversed()) {
            record.ports(each.slice().ports());
        }
        Integer http = record.httpPort();
        return new Found(
                record.spec(
                        target, "http", host(way), http == null ? onlyPort(way.slice()) : http, 0),
                leaving(ways, pod),
                record.doubt());
    }

    private static String host(Way way) {
        String address = way.endpoint().address();
        return switch (way.slice().family()) {
            case "IPv4", "FQDN" -> address;
            case "IPv6" -> "[" + address + "]";
            default ->
                    throw new IllegalArgumentException(
                            "the addresses of " + way.slice().name() + " are of no known kind");
        };
    }

    private static int onlyPort(Slice slice) {
        Map<String, Integer> others = new HashMap<>(slice.ports());
        others.keySet().removeAll(Set.of(WorkerRecord.EVENTS, WorkerRecord.REPLAY));
        if (others.size() != 1) {
            throw new IllegalArgumentException(
                    ("which port is the engine's? Name it `%s` in the Service, or annotate"
                                    + " the pods with %sport")
                            .formatted(WorkerRecord.HTTP, WorkerRecord.PREFIX));
        }
        return others.values().iterator().next();
    }

    private static @Nullable String leaving(List<Way> ways, @Nullable Pod pod) {
        if (pod != null && pod.leaving()) {
            return "its pod is being deleted";
        }
        if (ways.stream().allMatch(w -> w.endpoint().terminating())) {
            return "its endpoint is terminating";
        }
        return ways.stream().noneMatch(w -> w.endpoint().serving()) ? "its pod is not ready" : null;
    }
}
