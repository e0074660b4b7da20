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
 * @param held by the same keys, lives that go on and lead to no worker now, and why: those that
 *     were one stay
 */
record FoundWorkers(
        Map<String, Found> workers, Map<String, String> problems, Map<String, String> held) {
    /** No worker, and nothing wrong. */
    static final FoundWorkers NONE = new FoundWorkers(Map.of(), Map.of(), Map.of());

    /**
     * @param leaving why it will get no requests any more, null: it may
     * @param held why it gets none for now, null: it does
     * @param doubt what is said of it and not understood, null: nothing
     */
    record Found(
            WorkerSpec spec,
            @Nullable String leaving,
            @Nullable String held,
            @Nullable String doubt) {
        boolean serves() {
            return leaving == null && held == null;
        }
    }

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
                    String key = pod == null ? target : key(pod);
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
        Map<String, String> held = new TreeMap<>();
        for (Pod pod : pods.values()) {
            if (pod.stays() && !ways.containsKey(pod.name())) {
                held.put(key(pod), pod.unfit() == null ? "no EndpointSlice has it" : pod.unfit());
            }
        }
        return new FoundWorkers(
                Collections.unmodifiableMap(workers),
                Collections.unmodifiableMap(problems),
                Collections.unmodifiableMap(held));
    }

    private static String key(Pod pod) {
        return pod.name() + "/" + pod.uid();
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
                held(ways, pod),
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
        String leaves = pod == null ? null : pod.leaves();
        if (leaves == null && ways.stream().allMatch(w -> w.endpoint().terminating())) {
            return "its endpoint is terminating";
        }
        return leaves;
    }

    /** The pod itself knows first; its slices follow. */
    private static @Nullable String held(List<Way> ways, @Nullable Pod pod) {
        if (pod != null && pod.unfit() != null) {
            return pod.unfit();
        }
        return ways.stream().noneMatch(w -> w.endpoint().serving()) ? Pod.NOT_READY : null;
    }
}
