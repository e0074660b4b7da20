package io.warmpath.gateway.observe;

import io.micrometer.core.instrument.DistributionSummary;
import io.micrometer.core.instrument.Meter;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.Timer;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.stream.LongStream;

/** How long the requests for one model take and how large they are, as histograms. Any thread. */
public final class ModelMeters {
    static final Duration[] FIRST_TOKEN =
            millis(5, 10, 25, 50, 100, 250, 500, 1_000, 2_500, 5_000, 10_000, 30_000, 60_000);
    private static final Duration[] BETWEEN_TOKENS =
            millis(1, 2, 5, 10, 15, 20, 30, 50, 75, 100, 200, 500, 1_000);
    private static final Duration[] WHOLE =
            millis(50, 100, 250, 500, 1_000, 2_500, 5_000, 10_000, 30_000, 60_000, 300_000);
    private static final double[] TOKENS = {
        16, 64, 256, 1_024, 2_048, 4_096, 8_192, 16_384, 32_768, 65_536, 131_072
    };

    private final Timer firstToken;
    private final Timer betweenTokens;
    private final Timer whole;
    private final DistributionSummary prompt;
    private final DistributionSummary cached;
    private final DistributionSummary output;

    ModelMeters(MeterRegistry registry, String model) {
        firstToken =
                timer("warmpath.ttft", model, FIRST_TOKEN)
                        .description("From the request's last byte to the first token")
                        .register(registry);
        betweenTokens =
                timer("warmpath.itl", model, BETWEEN_TOKENS)
                        .description(
                                "Between the tokens of a streamed answer: its mean, once per"
                                        + " answer")
                        .register(registry);
        whole =
                timer("warmpath.request.duration", model, WHOLE)
                        .description("From the request's last byte to the end of the answer")
                        .register(registry);
        prompt = tokens(registry, "prompt", model, "Prompt tokens of a request, as reported");
        cached =
                tokens(
                        registry,
                        "cached",
                        model,
                        "Prompt tokens that were cached, of requests whose engine reports them");
        output = tokens(registry, "output", model, "Tokens of an answer, as reported");
    }

    private static Duration[] millis(long... values) {
        return LongStream.of(values).mapToObj(Duration::ofMillis).toArray(Duration[]::new);
    }

    private static Timer.Builder timer(String name, String model, Duration[] buckets) {
        return Timer.builder(name).tag("model", model).serviceLevelObjectives(buckets);
    }

    private static DistributionSummary tokens(
            MeterRegistry registry, String what, String model, String description) {
        return DistributionSummary.builder("warmpath.request." + what + ".tokens")
                .tag("model", model)
                .description(description)
                .serviceLevelObjectives(TOKENS)
                .register(registry);
    }

    /** Requests that still run count on, unseen. */
    void remove(MeterRegistry registry) {
        for (Meter m : List.of(firstToken, betweenTokens, whole, prompt, cached, output)) {
            registry.remove(m);
        }
    }

    public void firstToken(long nanos) {
        firstToken.record(nanos, TimeUnit.NANOSECONDS);
    }

    public void ended(long nanos) {
        whole.record(nanos, TimeUnit.NANOSECONDS);
    }

    /**
     * What the engine has said at the end. {@code promptTokens}: negative: not said, as the others.
     */
    public void reported(long promptTokens, long cachedTokens, long outputTokens) {
        if (promptTokens >= 0) {
            prompt.record((double) promptTokens);
        }
        if (cachedTokens >= 0) {
            cached.record((double) cachedTokens);
        }
        if (outputTokens >= 0) {
            output.record((double) outputTokens);
        }
    }

    /**
     * @param nanos between the first and the last token
     * @param tokens of the answer; fewer than two have nothing between them
     */
    public void streamed(long nanos, long tokens) {
        if (tokens > 1) {
            betweenTokens.record(nanos / (tokens - 1), TimeUnit.NANOSECONDS);
        }
    }
}
