package io.warmpath.lab.tune;

import io.warmpath.routing.CostKind;
import io.warmpath.routing.RouterMode;
import io.warmpath.routing.rates.LatencyPriors;
import java.math.BigDecimal;
import java.math.MathContext;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;

/**
 * Keys below {@code warmpath.router} with their values, as the file of {@code --config} takes them.
 * Immutable.
 */
public final class Settings {
    private static final List<String> ABOVE = List.of("warmpath", "router");
    private static final String INDENT = "  ";

    /** What doubles add behind the sixth digit is left out. */
    private static final MathContext DIGITS = new MathContext(6);

    private final Map<String, String> values;

    private Settings(Map<String, String> values) {
        this.values = values;
    }

    /** A cost with the weights that nobody has set. */
    public static Settings of(CostKind cost) {
        Map<String, String> values = new LinkedHashMap<>();
        values.put("mode", word(RouterMode.KV));
        values.put("cost", word(cost));
        return new Settings(values);
    }

    /** The cost in milliseconds of engines of which this holds. */
    public static Settings of(LatencyPriors p) {
        Map<String, Double> priors = new LinkedHashMap<>();
        priors.put("latency.work-price", p.workPrice());
        priors.put("latency.step-millis", p.stepMillis());
        priors.put("latency.decode-micros-per-request", p.decodeMillisPerRequest() * 1e3);
        priors.put("latency.decode-nanos-per-token", p.decodeMillisPerToken() * 1e6);
        priors.put("latency.prefill-micros-per-token", p.prefillMillisPerToken() * 1e3);
        priors.put("latency.prefill-nanos-per-pair", p.prefillMillisPerPair() * 1e6);
        priors.put("latency.host-tokens-per-second", p.hostTokensPerSecond());
        priors.put("latency.pool-tokens-per-second", p.poolTokensPerSecond());
        return of(CostKind.LATENCY).with(priors);
    }

    /** The cost in blocks with the preset for agents. */
    public static Settings agentic() {
        Map<String, String> values = new LinkedHashMap<>(of(CostKind.BLOCKS).values);
        values.put("agentic", "true");
        return new Settings(values);
    }

    /** These, and more. {@code more}: by key; keys with the same first part stand together. */
    Settings with(Map<String, Double> more) {
        Map<String, String> all = new LinkedHashMap<>(values);
        more.forEach((key, value) -> all.put(key, plain(value)));
        return new Settings(all);
    }

    /** Nested, a level a line. */
    public String yaml() {
        StringBuilder out = new StringBuilder();
        List<String> open = List.of();
        for (Map.Entry<String, String> e : values.entrySet()) {
            List<String> path = new ArrayList<>(ABOVE);
            path.addAll(List.of(e.getKey().split("\\.", -1)));
            List<String> above = path.subList(0, path.size() - 1);
            int level = 0;
            while (level < Math.min(open.size(), above.size())
                    && open.get(level).equals(above.get(level))) {
                level++;
            }
            for (; level < above.size(); level++) {
                out.append(INDENT.repeat(level)).append(above.get(level)).append(":\n");
            }
            out.append(INDENT.repeat(level)).append(path.getLast()).append(": ");
            out.append(e.getValue()).append('\n');
            open = above;
        }
        return out.toString();
    }

    private static String word(Enum<?> of) {
        return of.name().toLowerCase(Locale.ROOT).replace('_', '-');
    }

    /** Without an exponent. */
    private static String plain(double value) {
        return new BigDecimal(value).round(DIGITS).stripTrailingZeros().toPlainString();
    }
}
