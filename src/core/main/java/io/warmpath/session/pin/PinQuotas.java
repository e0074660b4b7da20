package io.warmpath.session.pin;

import java.util.HashMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** How much each tenant has pinned, and all together. To be guarded by its user. */
final class PinQuotas {
    private static final class Tally {
        private int pins;
        private long tokens;
    }

    private final PinLedger.Options limits;
    private final Map<String, Tally> tenants = new HashMap<>();
    private final Tally all = new Tally();

    PinQuotas(PinLedger.Options limits) {
        this.limits = limits;
    }

    /**
     * Why a tenant may not have one pin more; null: it may.
     *
     * @param tokens of its prompt
     * @param endingPins of the same tenant whose place it takes
     * @param endingTokens of those
     */
    @Nullable String refusal(String tenant, int tokens, int endingPins, long endingTokens) {
        Tally its = tenants.getOrDefault(tenant, new Tally());
        if (its.pins - endingPins >= limits.tenantMax()) {
            return "the tenant has " + its.pins + " pins";
        }
        if (its.tokens - endingTokens + tokens > limits.tenantTokens()) {
            return "the tenant has pinned " + its.tokens + " tokens";
        }
        if (all.pins - endingPins >= limits.max()) {
            return "there are " + all.pins + " pins";
        }
        if (all.tokens - endingTokens + tokens > limits.maxTokens()) {
            return "pins have " + all.tokens + " tokens";
        }
        return null;
    }

    void add(Pin pin) {
        Tally its = tenants.computeIfAbsent(pin.scope().tenant(), t -> new Tally());
        its.pins++;
        its.tokens += pin.tokens();
        all.pins++;
        all.tokens += pin.tokens();
    }

    void remove(Pin pin) {
        tenants.computeIfPresent(
                pin.scope().tenant(),
                (t, its) -> {
                    its.pins--;
                    its.tokens -= pin.tokens();
                    return its.pins == 0 ? null : its;
                });
        all.pins--;
        all.tokens -= pin.tokens();
    }

    /** Of the prompts of all pins. */
    long tokens() {
        return all.tokens;
    }
}
