package io.warmpath.admission;

import java.util.HashSet;
import java.util.List;
import java.util.Set;

/**
 * The classes of one model and who belongs where. Immutable.
 *
 * @param defaultFamily of requests that name none, or one that does not exist
 * @param buckets by tokens to compute, ascending, the first from 0; may be empty
 */
public record Policies(String defaultFamily, List<Bucket> buckets, List<PolicyClass> classes) {

    /** Requests with at least {@code minTokens} to compute, up to the next bucket. */
    public record Bucket(long minTokens, String name) {}

    public Policies {
        buckets = List.copyOf(buckets);
        classes = List.copyOf(classes);
        if (classes.isEmpty()) {
            throw new IllegalArgumentException("policy_classes needs at least one class");
        }
        for (int i = 0; i < buckets.size(); i++) {
            long from = i == 0 ? 0 : buckets.get(i - 1).minTokens() + 1;
            long min = buckets.get(i).minTokens();
            if (i == 0 ? min != 0 : min < from) {
                throw new IllegalArgumentException(
                        "uncached_isl_buckets must begin with min_tokens 0 and ascend");
            }
        }
        checkClasses(defaultFamily, buckets, classes);
    }

    private static void checkClasses(
            String defaultFamily, List<Bucket> buckets, List<PolicyClass> classes) {
        Set<String> names = new HashSet<>();
        Set<String> families = new HashSet<>();
        for (PolicyClass c : classes) {
            families.add(c.family());
            if (!names.add(c.name())) {
                throw new IllegalArgumentException("two policy classes are named " + c.name());
            }
            if (!c.bucket().isEmpty()
                    && buckets.stream().noneMatch(b -> b.name().equals(c.bucket()))) {
                throw new IllegalArgumentException(
                        "policy class %s: cache_bucket %s is not among uncached_isl_buckets"
                                .formatted(c.name(), c.bucket()));
            }
        }
        if (!families.contains(defaultFamily)) {
            throw new IllegalArgumentException(
                    "default_policy_family " + defaultFamily + " has no class");
        }
        List<String> needed = buckets.isEmpty() ? List.of("") : names(buckets);
        for (String family : families) {
            for (String bucket : needed) {
                if (classes.stream().noneMatch(c -> c.takes(family, bucket))) {
                    throw new IllegalArgumentException(
                            "policy family " + family + " has no class for bucket " + bucket);
                }
            }
        }
    }

    private static List<String> names(List<Bucket> buckets) {
        return buckets.stream().map(Bucket::name).toList();
    }

    /**
     * One class for everybody.
     *
     * @param requestLimit that may wait per worker; {@link PolicyClass#NO_LIMIT}
     */
    public static Policies single(QueuePolicy policy, double threshold, long requestLimit) {
        return new Policies(
                "default", List.of(), List.of(PolicyClass.single(policy, threshold, requestLimit)));
    }

    /** Number of the class in {@link #classes}. */
    int classOf(String family, long uncachedTokens) {
        String bucket = "";
        for (Bucket b : buckets) {
            bucket = uncachedTokens >= b.minTokens() ? b.name() : bucket;
        }
        int found = first(family, bucket);
        return found >= 0 ? found : first(defaultFamily, bucket);
    }

    private int first(String family, String bucket) {
        for (int i = 0; i < classes.size(); i++) {
            if (classes.get(i).takes(family, bucket)) {
                return i;
            }
        }
        return -1;
    }
}
