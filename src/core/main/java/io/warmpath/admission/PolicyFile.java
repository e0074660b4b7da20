package io.warmpath.admission;

import io.warmpath.admission.PolicyClass.Threshold;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * The policy file, already parsed into maps and lists, as {@link Policies}. Every key must be
 * known; an error names the key and its place. Stateless.
 */
public final class PolicyFile {
    private static final Set<String> ROOT =
            Set.of("default_policy_family", "uncached_isl_buckets", "policy_classes", "models");
    private static final Set<String> PROFILE =
            Set.of("default_policy_family", "uncached_isl_buckets", "policy_classes");
    private static final Set<String> BUCKET = Set.of("min_tokens", "bucket");
    private static final Set<String> CLASS =
            Set.of(
                    ("name policy_family cache_bucket queue_policy quantum prefill_busy_threshold"
                                    + " prefill_busy_threshold_frac request_queue_limit_per_worker"
                                    + " raw_isl_token_queue_limit_per_worker"
                                    + " cached_token_queue_limit_per_worker")
                            .split(" ", -1));

    private PolicyFile() {}

    /** {@code policies}: of models without their own; null when the file has none. */
    public record Content(@Nullable Policies policies, Map<String, Policies> perModel) {}

    /**
     * @throws IllegalArgumentException that says what is wrong and where
     */
    public static Content read(@Nullable Object document) {
        Map<?, ?> root = map(document, "the file");
        check(root, ROOT, "the file");
        Map<String, Policies> perModel = new HashMap<>();
        if (root.containsKey("models")) {
            map(root.get("models"), "models")
                    .forEach(
                            (model, profile) -> {
                                String at = "models." + model;
                                Map<?, ?> own = map(profile, at);
                                check(own, PROFILE, at);
                                perModel.put(String.valueOf(model), policies(own, at + "."));
                            });
        }
        boolean common = root.keySet().stream().anyMatch(k -> !"models".equals(k));
        return new Content(common || perModel.isEmpty() ? policies(root, "") : null, perModel);
    }

    private static Policies policies(Map<?, ?> profile, String at) {
        List<Policies.Bucket> buckets = new ArrayList<>();
        int number = 0;
        for (Object entry : list(profile.get("uncached_isl_buckets"), at)) {
            String here = at + "uncached_isl_buckets[" + number++ + "]";
            Map<?, ?> bucket = map(entry, here);
            check(bucket, BUCKET, here);
            buckets.add(
                    new Policies.Bucket(
                            whole(bucket, "min_tokens", here, 0, 0), text(bucket, "bucket", here)));
        }
        List<PolicyClass> classes = new ArrayList<>();
        number = 0;
        for (Object entry : list(profile.get("policy_classes"), at)) {
            classes.add(policyClass(entry, at + "policy_classes[" + number++ + "]"));
        }
        Object family = profile.get("default_policy_family");
        if (family == null && !classes.isEmpty()) {
            family = classes.getFirst().family();
        }
        try {
            return new Policies(String.valueOf(family), buckets, classes);
        } catch (IllegalArgumentException e) {
            throw new IllegalArgumentException(at + e.getMessage(), e);
        }
    }

    private static PolicyClass policyClass(Object entry, String at) {
        Map<?, ?> c = map(entry, at);
        check(c, CLASS, at);
        String name = text(c, "name", at);
        return new PolicyClass(
                name,
                c.containsKey("policy_family") ? text(c, "policy_family", at) : name,
                c.containsKey("cache_bucket") ? text(c, "cache_bucket", at) : "",
                policy(c, at),
                whole(c, "quantum", at, 1, PolicyClass.DEFAULT_QUANTUM),
                threshold(c, at),
                whole(c, "request_queue_limit_per_worker", at, 0, PolicyClass.NO_LIMIT),
                whole(c, "raw_isl_token_queue_limit_per_worker", at, 0, PolicyClass.NO_LIMIT),
                whole(c, "cached_token_queue_limit_per_worker", at, 0, PolicyClass.NO_LIMIT));
    }

    private static QueuePolicy policy(Map<?, ?> c, String at) {
        if (!c.containsKey("queue_policy")) {
            return QueuePolicy.FCFS;
        }
        String name = text(c, "queue_policy", at);
        for (QueuePolicy policy : QueuePolicy.values()) {
            if (policy.name().toLowerCase(Locale.ROOT).equals(name)) {
                return policy;
            }
        }
        throw new IllegalArgumentException(
                at + ".queue_policy must be fcfs or wspt, but it is " + name);
    }

    private static Threshold threshold(Map<?, ?> c, String at) {
        boolean absolute = c.containsKey("prefill_busy_threshold");
        boolean fraction = c.containsKey("prefill_busy_threshold_frac");
        if (absolute && fraction) {
            throw new IllegalArgumentException(
                    at + ": give prefill_busy_threshold or prefill_busy_threshold_frac, not both");
        }
        if (absolute) {
            return new Threshold(whole(c, "prefill_busy_threshold", at, 0, 0), false);
        }
        if (!fraction) {
            return Threshold.NEVER;
        }
        Object value = c.get("prefill_busy_threshold_frac");
        if (value instanceof Number n
                && n.doubleValue() >= 0
                && !Double.isInfinite(n.doubleValue())) {
            return new Threshold(n.doubleValue(), true);
        }
        throw new IllegalArgumentException(
                at + ".prefill_busy_threshold_frac must be a number of 0 or more");
    }

    private static void check(Map<?, ?> map, Set<String> known, String at) {
        for (Object key : map.keySet()) {
            if (!known.contains(String.valueOf(key))) {
                throw new IllegalArgumentException(
                        at
                                + ": "
                                + key
                                + " is not a known key; known are "
                                + String.join(
                                        ", ",
                                        new LinkedHashSet<>(known.stream().sorted().toList())));
            }
        }
    }

    private static Map<?, ?> map(@Nullable Object value, String at) {
        if (value instanceof Map<?, ?> map) {
            return map;
        }
        throw new IllegalArgumentException(at + " must be a mapping of keys to values");
    }

    private static List<?> list(@Nullable Object value, String at) {
        if (value == null) {
            return List.of();
        }
        if (value instanceof List<?> list) {
            return list;
        }
        throw new IllegalArgumentException(
                at + "uncached_isl_buckets and policy_classes must be lists");
    }

    private static String text(Map<?, ?> map, String key, String at) {
        Object value = map.get(key);
        if (value == null || String.valueOf(value).isBlank()) {
            throw new IllegalArgumentException(at + "." + key + " is missing");
        }
        return String.valueOf(value);
    }

    private static long whole(Map<?, ?> map, String key, String at, long min, long otherwise) {
        Object value = map.get(key);
        if (!map.containsKey(key)) {
            return otherwise;
        }
        if ((value instanceof Integer || value instanceof Long)
                && ((Number) value).longValue() >= min) {
            return ((Number) value).longValue();
        }
        throw new IllegalArgumentException(
                at + "." + key + " must be a whole number of " + min + " or more");
    }
}
