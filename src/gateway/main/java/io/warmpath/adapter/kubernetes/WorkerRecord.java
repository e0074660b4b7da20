package io.warmpath.adapter.kubernetes;

import io.warmpath.fleet.Place;
import io.warmpath.fleet.Role;
import io.warmpath.fleet.WorkerSpec;
import io.warmpath.fleet.source.WorkerFields;
import java.util.HashMap;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/**
 * The record of one worker, from annotations {@code warmpath.io/FIELD}, from the names of ports and
 * from its pod's labels. One per worker, one thread. Every method throws {@link
 * IllegalArgumentException}, with a sentence for the operator, for an annotation that is wrong.
 */
final class WorkerRecord {
    static final String PREFIX = "warmpath.io/";

    /** Usual names of ports. */
    static final String HTTP = "http";

    static final String EVENTS = "kv-events";
    static final String REPLAY = "kv-replay";

    /** Annotations that are no fields of a record. */
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

    /** llm-d's label of what a pod does of a request. */
    private static final String ROLE_LABEL = "llm-d.ai/role";

    /** Its values that are a role. */
    private static final Map<String, Role> ROLES =
            Map.of(
                    "prefill", Role.PREFILL,
                    "encode-prefill", Role.PREFILL,
                    "decode", Role.DECODE,
                    "encode", Role.ENCODE);

    /** Its values of pods that do whole requests, as those without the label. */
    private static final Set<String> WHOLE =
            Set.of("both", "prefill-decode", "encode-prefill-decode");

    /** The zone of its node, which newer API servers write to pods. */
    private static final String ZONE_LABEL = "topology.kubernetes.io/zone";

    private static final int MAX_NAME = 63;

    private final Map<String, String> said = new HashMap<>();
    private final Map<String, Integer> named = new HashMap<>();
    private final Map<String, String> labels = new TreeMap<>();
    private final @Nullable Pod pod;
    private @Nullable String doubt;

    /**
     * @param annotations of what leads to the pod; the pod's own win
     * @param pod null: there is none
     */
    WorkerRecord(Map<String, String> annotations, @Nullable Pod pod) {
        this.pod = pod;
        take(annotations);
        if (pod != null) {
            take(pod.annotations());
            named.putAll(pod.ports());
            runsIn("node", pod.node());
            runsIn("zone", pod.labels().getOrDefault(ZONE_LABEL, ""));
        }
        for (String field : said.keySet()) {
            if (OF_ONE.contains(field)) {
                throw new IllegalArgumentException(
                        "the annotation " + PREFIX + field + " is not for pods");
            }
        }
        if (pod != null && pod.labels().containsKey(ROLE_LABEL) && !said.containsKey("role")) {
            label(pod.labels().get(ROLE_LABEL));
        }
    }

    private void label(String value) {
        Role role = ROLES.get(value);
        if (role != null) {
            said.put("role", role.label());
        } else if (!WHOLE.contains(value)) {
            doubt =
                    ("the label %s=%s is no role that is known; taken for one that does"
                                    + " whole requests")
                            .formatted(ROLE_LABEL, value);
        }
    }

    /** What is said and not understood, a sentence for the operator; null: nothing. */
    @Nullable String doubt() {
        return doubt;
    }

    private void take(Map<String, String> annotations) {
        annotations.forEach(
                (key, value) -> {
                    if (key.startsWith(PREFIX)) {
                        said.put(key.substring(PREFIX.length()), value);
                    }
                });
    }

    /**
     * Where it runs, unless its own labels or annotations say otherwise.
     *
     * @param label one of {@link Place#LABELS}
     * @param value empty: not known
     */
    void runsIn(String label, String value) {
        if (!value.isEmpty()) {
            labels.put(label, value);
        }
    }

    /** Ports by name that win over the pod's own. */
    void ports(Map<String, Integer> ports) {
        named.putAll(ports);
    }

    boolean says(String field) {
        return said.containsKey(field);
    }

    /** A field that no annotation gives. */
    void otherwise(String field, String value) {
        said.putIfAbsent(field, value);
    }

    /** As annotated, or of the port with the usual name; null: neither is there. */
    @Nullable Integer httpPort() {
        return port("port", HTTP);
    }

    /**
     * @param scheme unless it is annotated
     * @param index of this one among the workers of its pod, which count the ports of their events
     *     up by rank, each by as many as it has
     */
    WorkerSpec spec(String name, String scheme, String host, int port, int index) {
        Map<String, String> record = new HashMap<>(said);
        record.keySet().removeAll(OWN);
        record.keySet().removeAll(Place.LABELS);
        record.put("url", said.getOrDefault("scheme", scheme) + "://" + host + ":" + port);
        record.put("name", valid(name));
        String labels = labels();
        if (!labels.isEmpty()) {
            record.put("labels", labels);
        }
        if (!record.containsKey("events-endpoint")) {
            int rank = index * ranks(record);
            put(record, "events-endpoint", host, port("events-port", EVENTS), rank);
            put(record, "replay-endpoint", host, port("replay-port", REPLAY), rank);
        }
        return WorkerFields.ofTexts(record);
    }

    private static int ranks(Map<String, String> record) {
        Map<String, String> size = new HashMap<>(record);
        size.keySet().retainAll(Set.of("url", "dp-size"));
        return Math.max(1, WorkerFields.ofTexts(size).dpSize());
    }

    private static void put(
            Map<String, String> record,
            String field,
            String host,
            @Nullable Integer first,
            int rank) {
        if (first != null) {
            record.put(field, "tcp://" + host + ":" + (first + rank));
        }
    }

    /** What the annotation says, a number or a port's name; else the port of the usual name. */
    private @Nullable Integer port(String field, String usual) {
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
                    ("the annotation %s%s: `%s` is neither a port number nor the name of a"
                                    + " port")
                            .formatted(PREFIX, field, text));
        }
        return port;
    }

    /** The registry wants at most 63 characters, a pod's name may be longer. */
    private static String valid(String target) {
        String name = target.replaceAll("[^A-Za-z0-9._-]", "-");
        return name.length() <= MAX_NAME
                ? name
                : name.substring(0, MAX_NAME - 9) + String.format("-%08x", target.hashCode());
    }

    private String labels() {
        Map<String, String> all = new TreeMap<>(labels);
        if (pod != null) {
            all.putAll(pod.labels());
            all.keySet().removeAll(CONTROLLERS);
        }
        for (String place : Place.LABELS) {
            if (says(place)) {
                all.put(place, said.get(place));
            }
        }
        return all.entrySet().stream()
                .map(e -> e.getKey() + "=" + e.getValue())
                .collect(Collectors.joining(","));
    }
}
