package io.warmpath.fleet.source;

import io.warmpath.fleet.Capacity;
import io.warmpath.fleet.EngineKind;
import io.warmpath.fleet.PinSupport;
import io.warmpath.fleet.PriorityOrder;
import io.warmpath.fleet.Role;
import io.warmpath.fleet.Taint;
import io.warmpath.fleet.WorkerSpec;
import io.warmpath.fleet.WorkerSpecBuilder;
import io.warmpath.fleet.metadata.HiCacheMetadata;
import io.warmpath.fleet.metadata.LmcacheMetadata;
import io.warmpath.fleet.metadata.PoolMetadata;
import io.warmpath.fleet.metadata.VllmStoreMetadata;
import java.net.URI;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.OptionalLong;
import java.util.Set;
import java.util.TreeSet;
import org.jspecify.annotations.Nullable;

/**
 * A worker's record as everybody outside writes it: the keys of {@code warmpath.workers} in the
 * configuration, with dashes or underscores. Values are as JSON has them; in a record of texts
 * alone (annotations) lists are separated by commas, numbers and flags are texts. Stateless.
 */
public final class WorkerFields {
    /** Members and elements of one record, from wherever it comes. */
    private static final int MOST_VALUES = 256;

    private static final Set<String> KEYS =
            Set.of(
                    ("url name id kind models block-size dp-size events-endpoint replay-endpoint"
                                    + " events-bind topic taints labels max-num-batched-tokens"
                                    + " total-kv-blocks priority pins weight role bootstrap-port"
                                    + " sglang-hicache-mooncake vllm-mooncake-store lmcache")
                            .split(" ", -1));

    private final Map<String, Object> fields = new LinkedHashMap<>();
    private final boolean texts;

    private WorkerFields(Map<?, ?> record, boolean texts) {
        if (values(record) > MOST_VALUES) {
            throw new IllegalArgumentException(
                    "The record has more than " + MOST_VALUES + " values.");
        }
        this.texts = texts;
        record.forEach(
                (key, value) -> {
                    if (value != null) {
                        fields.put(String.valueOf(key).replace('_', '-'), value);
                    }
                });
    }

    /**
     * Of a record as JSON has it.
     *
     * @throws IllegalArgumentException with a sentence for the operator
     */
    public static WorkerSpec spec(Map<?, ?> record) {
        return new WorkerFields(record, false).spec();
    }

    /**
     * The same, of a record that a later version may have written: fields that this one does not
     * know are stepped over.
     *
     * @throws IllegalArgumentException with a sentence for the operator
     */
    public static WorkerSpec specOfKnown(Map<?, ?> record) {
        WorkerFields all = new WorkerFields(record, false);
        all.fields.keySet().retainAll(KEYS);
        return all.spec();
    }

    /**
     * Of a part of a record, for a worker that is known.
     *
     * @throws IllegalArgumentException with a sentence for the operator
     */
    public static WorkerSpec patch(URI url, Map<?, ?> part) {
        Map<Object, Object> whole = new LinkedHashMap<>(part);
        Object given = whole.putIfAbsent("url", url.toString());
        if (given != null && !given.equals(url.toString())) {
            throw new IllegalArgumentException(
                    "A worker's url cannot be changed: add another worker.");
        }
        return spec(whole);
    }

    /**
     * Of a record of texts.
     *
     * @throws IllegalArgumentException with a sentence for the operator
     */
    public static WorkerSpec ofTexts(Map<String, String> record) {
        return new WorkerFields(record, true).spec();
    }

    private static int values(@Nullable Object of) {
        return switch (of) {
            case Map<?, ?> map -> 1 + map.values().stream().mapToInt(WorkerFields::values).sum();
            case List<?> list -> 1 + list.stream().mapToInt(WorkerFields::values).sum();
            case null, default -> 1;
        };
    }

    private WorkerSpec spec() {
        Set<String> unknown = new TreeSet<>(fields.keySet());
        unknown.removeAll(KEYS);
        if (!unknown.isEmpty()) {
            throw new IllegalArgumentException(
                    "Unknown field " + unknown + "; known are " + new TreeSet<>(KEYS) + ".");
        }
        String url = text("url");
        if (url == null) {
            throw new IllegalArgumentException("The field url is missing.");
        }
        String priority = text("priority");
        String pins = text("pins");
        String topic = text("topic");
        String role = text("role");
        return new WorkerSpecBuilder(WorkerSpec.parse(url))
                .name(text("name"))
                .id(id())
                .kind(kind())
                .models(list("models"))
                .blockSize((int) number("block-size", 65536))
                .dpSize((int) number("dp-size", WorkerSpec.MAX_DP_SIZE))
                .events(
                        text("events-endpoint"),
                        text("replay-endpoint"),
                        flag("events-bind"),
                        topic == null ? "" : topic)
                .taints(list("taints").stream().map(Taint::parse).toList())
                .pool(pool())
                .priorities(priority == null ? null : PriorityOrder.parse(priority))
                .capacity(
                        new Capacity(
                                (int) number("max-num-batched-tokens", Integer.MAX_VALUE),
                                number("total-kv-blocks", Integer.MAX_VALUE)))
                .labels(labels())
                .pins(pins == null ? null : PinSupport.parse(pins))
                .weight(weight())
                .role(role == null ? null : Role.parse(role), (int) number("bootstrap-port", 65535))
                .build();
    }

    private @Nullable String text(String key) {
        Object value = fields.get(key);
        if (value != null && !(value instanceof String)) {
            throw new IllegalArgumentException("The field " + key + " must be a string.");
        }
        return (String) value;
    }

    private long number(String key, long max) {
        Object value = fields.get(key);
        if (value == null) {
            return 0;
        }
        boolean whole = value instanceof Integer || value instanceof Long || texts;
        try {
            long number = whole ? Long.parseLong(value.toString().strip()) : -1;
            if (number >= 0 && number <= max) {
                return number;
            }
        } catch (NumberFormatException e) {
            // Said below, as for a number that is out of bounds.
        }
        throw new IllegalArgumentException(
                "The field " + key + " must be a whole number from 0 to " + max + ".");
    }

    private double weight() {
        Object value = fields.get("weight");
        if (value == null) {
            return 0;
        }
        try {
            if (value instanceof Number || texts) {
                double weight = Double.parseDouble(value.toString().strip());
                if (weight >= WorkerSpec.MIN_WEIGHT && weight <= WorkerSpec.MAX_WEIGHT) {
                    return weight;
                }
            }
        } catch (NumberFormatException e) {
            // Said below, as for a number that is out of bounds.
        }
        throw new IllegalArgumentException(
                "The field weight must be a number from %s to %s."
                        .formatted(WorkerSpec.MIN_WEIGHT, (int) WorkerSpec.MAX_WEIGHT));
    }

    private boolean flag(String key) {
        Object value = fields.get(key);
        if (value == null || value.equals(false) || (texts && value.equals("false"))) {
            return false;
        }
        if (value.equals(true) || (texts && value.equals("true"))) {
            return true;
        }
        throw new IllegalArgumentException("The field " + key + " must be true or false.");
    }

    /** As a number or, since it may not fit into a double, as a string of digits. */
    private OptionalLong id() {
        Object value = fields.get("id");
        if (value == null) {
            return OptionalLong.empty();
        }
        try {
            return OptionalLong.of(Long.parseUnsignedLong(value.toString()));
        } catch (NumberFormatException e) {
            throw new IllegalArgumentException(
                    "The field id must be a whole number from 0 to 18446744073709551615.", e);
        }
    }

    private @Nullable EngineKind kind() {
        String kind = text("kind");
        if (kind == null) {
            return null;
        }
        for (EngineKind k : EngineKind.values()) {
            if (k.name().toLowerCase(Locale.ROOT).equals(kind)) {
                return k;
            }
        }
        throw new IllegalArgumentException(
                "The field kind must be sglang, vllm, trtllm or openai.");
    }

    private @Nullable PoolMetadata pool() {
        Object sglang = fields.get(HiCacheMetadata.KEY.replace('_', '-'));
        Object vllm = fields.get(VllmStoreMetadata.KEY.replace('_', '-'));
        if (sglang != null) {
            return HiCacheMetadata.of(sglang);
        }
        if (vllm != null) {
            return VllmStoreMetadata.of(vllm);
        }
        Object lmcache = fields.get(LmcacheMetadata.KEY);
        return lmcache == null ? null : LmcacheMetadata.of(lmcache);
    }

    /** {@code pairs}: {@code name=value} or {@code name}. */
    public static Map<String, String> labels(Iterable<String> pairs) {
        Map<String, String> labels = new LinkedHashMap<>();
        for (String label : pairs) {
            int equals = label.indexOf('=');
            labels.put(
                    equals < 0 ? label : label.substring(0, equals),
                    equals < 0 ? "" : label.substring(equals + 1));
        }
        return labels;
    }

    private Map<String, String> labels() {
        Map<String, String> labels = new LinkedHashMap<>();
        Object value = fields.get("labels");
        if (texts) {
            return labels(list("labels"));
        }
        if (value instanceof Map<?, ?> map
                && map.values().stream().allMatch(v -> v instanceof String)) {
            map.forEach((k, v) -> labels.put(String.valueOf(k), String.valueOf(v)));
        } else if (value != null) {
            throw new IllegalArgumentException(
                    "The field labels must be an object whose values are strings.");
        }
        return labels;
    }

    private Set<String> list(String key) {
        Object value = fields.get(key);
        Set<String> list = new LinkedHashSet<>();
        List<?> given =
                switch (value) {
                    case null -> List.of();
                    case String text when texts -> List.of(text.split(","));
                    case List<?> l -> l;
                    default -> List.of(0); // refused below
                };
        for (Object entry : given) {
            if (!(entry instanceof String text) || text.isBlank()) {
                throw new IllegalArgumentException(
                        "The field " + key + " must be a list of strings.");
            }
            list.add(text.strip());
        }
        return list;
    }
}
