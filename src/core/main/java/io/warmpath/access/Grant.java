package io.warmpath.access;

import java.util.List;
import java.util.regex.Pattern;

/**
 * What one client may do. Immutable.
 *
 * @param name for logs and for what counts together; not a secret
 * @param tenant whose requests share caches and sessions; empty: those of all clients without one
 * @param namesTenants may say in {@code x-tenant-id} whose request it is
 * @param models names that may be asked for, a {@code *} at the end stands for any rest; empty: all
 * @param requestsPerMinute 0: no limit
 * @param tokensPerMinute prompt and answer together; 0: no limit
 * @param policyClass of all its requests; empty: what the request says
 * @param weight its tenant's part of what there is while others wait, against theirs; 1 or more
 * @param direct may use {@code /router/*}
 * @param handOff may send what acts on engines or on other requests, as a router does
 * @param explain may ask why a worker was chosen: what others' requests cost and load
 */
public record Grant(
        String name,
        String tenant,
        boolean namesTenants,
        List<String> models,
        long requestsPerMinute,
        long tokensPerMinute,
        String policyClass,
        int weight,
        boolean direct,
        boolean handOff,
        boolean explain) {
    /** More would overflow a {@link Budget}'s clock, and limits nobody. */
    public static final long MAX_PER_MINUTE = 1_000_000_000L;

    public static final int MAX_WEIGHT = 1_000;

    private static final int MAX_NAME = 128;

    /** Without a colon, so that a tenant and what follows it in a salt cannot be another's. */
    private static final Pattern TENANT = Pattern.compile("[A-Za-z0-9._@/-]{1,128}");

    public Grant {
        models = List.copyOf(models);
        if (name.isEmpty() || name.length() > MAX_NAME) {
            throw new IllegalArgumentException("a name has 1 to " + MAX_NAME + " characters");
        }
        if (!tenant.isEmpty() && !isTenant(tenant)) {
            throw new IllegalArgumentException(
                    "a tenant has 1 to 128 letters, digits and the characters . _ @ / -");
        }
        if (models.stream().anyMatch(String::isEmpty)) {
            throw new IllegalArgumentException("a model's name is empty");
        }
        if (weight < 1 || weight > MAX_WEIGHT) {
            throw new IllegalArgumentException("a weight is a whole number in 1.." + MAX_WEIGHT);
        }
        checkLimit(requestsPerMinute);
        checkLimit(tokensPerMinute);
    }

    private static void checkLimit(long perMinute) {
        if (perMinute < 0 || perMinute > MAX_PER_MINUTE) {
            throw new IllegalArgumentException("a limit is a whole number in 0.." + MAX_PER_MINUTE);
        }
    }

    /** May do everything, under this name. */
    public static Grant all(String name) {
        return new Grant(name, "", false, List.of(), 0, 0, "", 1, false, false, false);
    }

    public static boolean isTenant(String text) {
        return TENANT.matcher(text).matches();
    }

    /** Whether requests may name this model. */
    public boolean allows(String model) {
        if (models.isEmpty()) {
            return true;
        }
        for (String one : models) {
            boolean matches =
                    one.endsWith("*")
                            ? model.startsWith(one.substring(0, one.length() - 1))
                            : model.equals(one);
            if (matches) {
                return true;
            }
        }
        return false;
    }
}
