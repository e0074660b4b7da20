package io.warmpath.gateway.request;

import io.warmpath.fleet.Candidate;
import io.warmpath.fleet.Disaggregation;
import io.warmpath.fleet.EngineAddress;
import io.warmpath.fleet.EngineKind;
import io.warmpath.fleet.Worker;
import java.util.HexFormat;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;

/**
 * How the two engines of a split request come together: SGLang's and vLLM's with Mooncake are asked
 * at once and meet by a number, others of vLLM's come after one another.
 *
 * @param prefill for who computes the prompt
 * @param decode for who answers; null: it is asked when the prompt is computed, with what the other
 *     one hands off
 */
public record Halves(Half prefill, @Nullable Half decode) {
    /** {@code computes}: the prompt. {@code random}: 64 random bits. */
    public static Halves of(Candidate computes, LongSupplier random) {
        Worker worker = computes.worker();
        Disaggregation its = worker.disaggregation();
        if (worker.kind() == EngineKind.SGLANG) {
            Half both =
                    Bootstrap.of(
                            EngineAddress.of(worker.url()).host(),
                            its.bootstrapPort(),
                            worker.ranks().size(),
                            computes.dpRank(),
                            random.getAsLong());
            return new Halves(both, both);
        }
        if (its.registered().size() <= computes.dpRank()) {
            return new Halves(new Half.Keep(), null);
        }
        String transfer = "warmpath-" + HexFormat.of().toHexDigits(random.getAsLong());
        String registry = its.registry(worker.url()).toString();
        String engine = its.registered().get(computes.dpRank());
        return new Halves(new Half.Offer(transfer), new Half.Take(transfer, registry, engine));
    }

    /** Both are asked at once. */
    public boolean together() {
        return decode != null;
    }
}
