package io.warmpath.adapter.kubernetes;

import io.warmpath.fleet.WorkerSpec;
import io.warmpath.fleet.source.WorkerFields;
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
 * <p>A pod is one worker, however many Services and address families lead to it. Its record comes
 * from annotations {@code warmpath.io/FIELD}, the pod's before the slice's; its ports from
 * annotations, from the Service's port names or from its containers' (src/docs/kubernetes.md).
 *
 * @param workers by a key that is another one for each life of a pod
 * @param problems what could not be taken and why, by the same keys
 */
record FoundWorkers(Map<String, Found> workers, Map<String, String> problems) {
    static final String PREFIX = "warmpath.io/";

    private static final String HTTP = "http";
    private static final String EVENTS = "kv-events";
    private static final String REPLAY = "kv-replay";

    /** Annotations that this class reads itself. */
    private static final Set<String> OWN = Set.of("port", "scheme", "events-port", "replay-port");

    /** A template is shared by many pods, so it cannot say these. */
    private static final Set<String> OF_ONE = Set.of("url", "name", "id", "labels");

    /** Written by controllers, of no use to operators. */
    private static final Set<String> CONTROLLERS =
            Set.of(
                    "pod-template-hash",
                    "controller-revision-hash",
                    "statefulset.kubernetes.io/pod-name",
                    "apps.kubernetes.io/pod-index");

    private static final int MAX_NAME = 63;

    /**
     * @param leaving why it gets no new requests, null: it does
     */
    record Found(WorkerSpec spec, @Nullable String leaving) {}

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
        Map<String, String> said = new HashMap<>(ours(way.slice().annotations()));
        Map<String, Integer> named = new HashMap<>();
        if (pod != null) {
            said.putAll(ours(pod.annotations()));
            named.putAll(pod.ports());
        }
        for (Way each : ways.reversed()) {
            named.putAll(each.slice().ports());
        }
        for (String field : said.keySet()) {
            if (OF_ONE.contains(field)) {
                throw new IllegalArgumentException(
                        "the annotation " + PREFIX + field + " is not for pods");
            }
        }
        Integer http = port(said, named, "port", HTTP);
        if (http == null) {
            http = onlyPort(way.slice());
        }
        String host = host(way);
        Map<String, String> record = new HashMap<>(said);
        record.keySet().removeAll(OWN);
        record.put("url", said.getOrDefault("scheme", HTTP) + "://" + host + ":" + http);
        record.put("name", name(target));
        events(record, host, said, named);
        String labels = labels(pod);
        if (!labels.isEmpty()) {
            record.put("labels", labels);
        }
        return new Found(WorkerFields.ofTexts(record), leaving(ways, pod));
    }

    private static Map<String, String> ours(Map<String, String> annotations) {
        Map<String, String> ours = new HashMap<>();
        annotations.forEach(
                (key, value) -> {
                    if (key.startsWith(PREFIX)) {
                        ours.put(key.substring(PREFIX.length()), value);
                    }
                });
        return ours;
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

    private static void events(
            Map<String, String> record,
            String host,
            Map<String, String> said,
            Map<String, Integer> named) {
        if (record.containsKey("events-endpoint")) {
            return;
        }
        Integer events = port(said, named, "events-port", EVENTS);
        Integer replay = port(said, named, "replay-port", REPLAY);
        if (events != null) {
            record.put("events-endpoint", "tcp://" + host + ":" + events);
        }
        if (replay != null) {
            record.put("replay-endpoint", "tcp://" + host + ":" + replay);
        }
    }

    /** What the annotation says, a number or a port's name; else the port of the usual name. */
    private static @Nullable Integer port(
            Map<String, String> said, Map<String, Integer> named, String field, String usual) {
        String text = said.get(field);
        if (text == null) {
            return named.get(usual);
        }
        Integer port = named.get(text);
        if (port == null && text.matches("[0-9]{1,5}")) {
            port = Integer.valueOf(text);
        }
        if (port == null || port < 1 || port > 65535) {
            throw new IllegalArgumentException(
                    "the annotation "
                            + PREFIX
                            + field
                            + ": `"
                            + text
                            + "` is neither a port number nor the name of a port");
        }
        return port;
    }

    private static int onlyPort(Slice slice) {
        Map<String, Integer> others = new HashMap<>(slice.ports());
        others.keySet().removeAll(Set.of(EVENTS, REPLAY));
        if (others.size() != 1) {
            throw new IllegalArgumentException(
                    "which port is the engine's? Name it `"
                            + HTTP
                            + "` in the Service, or annotate the pods with "
                            + PREFIX
                            + "port");
        }
        return others.values().iterator().next();
    }

    /** The pod's; the registry wants at most 63 characters, a pod's may be longer. */
    private static String name(String target) {
        String name = target.replaceAll("[^A-Za-z0-9._-]", "-");
        return name.length() <= MAX_NAME
                ? name
                : name.substring(0, MAX_NAME - 9) + String.format("-%08x", target.hashCode());
    }

    private static String labels(@Nullable Pod pod) {
        return pod == null
                ? ""
                : new TreeMap<>(pod.labels())
                        .entrySet().stream()
                                .filter(e -> !CONTROLLERS.contains(e.getKey()))
                                .map(e -> e.getKey() + "=" + e.getValue())
                                .collect(Collectors.joining(","));
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
