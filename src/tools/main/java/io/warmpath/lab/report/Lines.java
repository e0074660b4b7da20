package io.warmpath.lab.report;

import static io.warmpath.plot.Plain.plain;

import io.warmpath.lab.Result;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Function;
import java.util.stream.Collectors;

/** Results for programs: JSON lines, or a table with commas. Stateless. */
public final class Lines {
    private Lines() {}

    /** An object a line. */
    public static String json(List<Result> results) {
        return json(results, Lines::members);
    }

    public static String csv(List<Result> results) {
        return csv(results, Lines::members);
    }

    static <T> String json(List<T> all, Function<T, Map<String, Object>> members) {
        StringBuilder out = new StringBuilder();
        for (T one : all) {
            out.append('{');
            String text =
                    members.apply(one).entrySet().stream()
                            .map(
                                    e ->
                                            '"'
                                                    + e.getKey()
                                                    + "\":"
                                                    + (e.getValue() instanceof String s
                                                            ? '"' + s + '"'
                                                            : number(e.getValue())))
                            .collect(Collectors.joining(","));
            out.append(text).append("}\n");
        }
        return out.toString();
    }

    static <T> String csv(List<T> all, Function<T, Map<String, Object>> members) {
        StringBuilder out = new StringBuilder();
        for (T one : all) {
            Map<String, Object> row = members.apply(one);
            if (out.isEmpty()) {
                out.append(String.join(",", row.keySet())).append('\n');
            }
            out.append(
                            row.values().stream()
                                    .map(v -> v instanceof String s ? s : number(v))
                                    .collect(Collectors.joining(",")))
                    .append('\n');
        }
        return out.toString();
    }

    private static Map<String, Object> members(Result r) {
        Map<String, Object> m = new LinkedHashMap<>();
        m.put("scenario", r.scenario());
        m.put("policy", r.policy());
        m.put("load", r.load());
        m.put("seed", r.seed());
        m.put("requests", r.requests());
        m.put("ttft_mean_ms", r.ttft().mean());
        m.put("ttft_p50_ms", r.ttft().p50());
        m.put("ttft_p90_ms", r.ttft().p90());
        m.put("ttft_p99_ms", r.ttft().p99());
        m.put("itl_mean_ms", r.itl().mean());
        m.put("itl_p99_ms", r.itl().p99());
        m.put("e2e_mean_ms", r.e2e().mean());
        m.put("e2e_p99_ms", r.e2e().p99());
        m.put("hit_rate", r.hitRate());
        m.put("imbalance", r.imbalance());
        m.put("above_5s", r.late());
        m.put("requests_per_second", r.perSecond());
        m.put("goodput_per_second", r.goodPerSecond());
        return m;
    }

    private static String number(Object value) {
        return value instanceof Double d ? plain("%.6g", d) : String.valueOf(value);
    }
}
