package io.warmpath.gateway.observe;

import io.micrometer.core.instrument.Counter;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.Timer;
import io.warmpath.gateway.observe.FlowMetrics.RetryCause;
import java.util.concurrent.TimeUnit;

/** Meters of requests whose prompt one worker can compute for another. Any thread. */
public final class DisaggMeters {
    /** What was found cheapest. */
    public enum Plan {
        /** One worker computes the prompt, another one decodes. */
        SPLIT,
        /** One does both, although it could have been split. */
        WHOLE
    }

    private final EnumCounters<Plan> plans;
    private final EnumCounters<RetryCause> failures;
    private final Counter tokens;
    private final Timer prefill;
    private final SplitPairs pairs = new SplitPairs();

    DisaggMeters(MeterRegistry registry) {
        plans =
                new EnumCounters<>(
                        registry,
                        Plan.class,
                        "plan",
                        "warmpath.disagg.decisions",
                        "Decisions while prefill workers were there, by what was cheapest");
        failures =
                new EnumCounters<>(
                        registry,
                        RetryCause.class,
                        "cause",
                        "warmpath.disagg.prefill.failures",
                        "Prefills for another worker that failed before its first token");
        tokens =
                Counter.builder("warmpath.disagg.transfer.tokens")
                        .description("Prompt tokens whose KV cache one worker gave to another")
                        .register(registry);
        prefill =
                Timer.builder("warmpath.disagg.prefill")
                        .description(
                                "From sending a prefill for another worker to its answer: queue,"
                                        + " computing and transfer")
                        .serviceLevelObjectives(ModelMeters.FIRST_TOKEN)
                        .register(registry);
    }

    public void decided(Plan plan) {
        plans.count(plan);
    }

    public void failed(RetryCause cause) {
        failures.count(cause);
    }

    /** One worker has computed a prompt, and another one has its KV cache. */
    public void handedOver(String from, String to, int promptTokens) {
        tokens.increment(promptTokens);
        pairs.handedOver(from, to, promptTokens);
    }

    /** A prefill was answered, so long after it was sent. */
    public void answered(long nanos) {
        prefill.record(nanos, TimeUnit.NANOSECONDS);
    }

    public SplitPairs pairs() {
        return pairs;
    }
}
