package io.warmpath.adapter.vllm;

import io.warmpath.fleet.probe.EngineLoad;
import io.warmpath.fleet.probe.MovedKv;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * The load gauges of vLLM's {@code /metrics}, and what its NIXL connector has fetched from other
 * engines, by the label {@code engine}, its rank. Releases that have no such label have one rank.
 * Stateless.
 */
final class VllmLoads {
    private static final Pattern SERIES =
            Pattern.compile(
                    "^vllm:(num_requests_running|num_requests_waiting|kv_cache_usage_perc"
                            + "|gpu_cache_usage_perc|nixl_bytes_transferred_sum"
                            + "|nixl_xfer_time_seconds_(?:sum|count)"
                            + "|prompt_tokens_cached_by_source_total)\\{([^}]*)} (\\S+)",
                    Pattern.MULTILINE);
    private static final Pattern ENGINE = Pattern.compile("(?:^|,)engine=\"(\\d{1,4})\"");

    /** Tokens by where their cache was: those of another engine. */
    private static final String FETCHED = "source=\"p2p\"";

    private VllmLoads() {}

    static List<EngineLoad> read(String metrics) {
        Map<Integer, Rank> ranks = new TreeMap<>();
        Matcher m = SERIES.matcher(metrics);
        while (m.find()) {
            Matcher engine = ENGINE.matcher(m.group(2));
            int rank = engine.find() ? Integer.parseInt(engine.group(1)) : 0;
            ranks.computeIfAbsent(rank, r -> new Rank()).read(m.group(1), m.group(2), m.group(3));
        }
        List<EngineLoad> loads = new ArrayList<>();
        ranks.forEach((rank, of) -> loads.add(of.load(rank)));
        return loads;
    }

    /** One rank, as far as it was read. */
    private static final class Rank {
        private double running;
        private double waiting;
        private double usage = -1;
        private double tokens = -1;
        private double bytes = -1;
        private double transfers;
        private double seconds;

        void read(String name, String labels, String value) {
            switch (name) {
                case "num_requests_running" -> running = number(value, running);
                case "num_requests_waiting" -> waiting = number(value, waiting);
                case "nixl_bytes_transferred_sum" -> bytes = number(value, bytes);
                case "nixl_xfer_time_seconds_sum" -> seconds = number(value, seconds);
                case "nixl_xfer_time_seconds_count" -> transfers = number(value, transfers);
                case "prompt_tokens_cached_by_source_total" ->
                        tokens = labels.contains(FETCHED) ? number(value, tokens) : tokens;
                default -> usage = number(value, usage);
            }
        }

        EngineLoad load(int rank) {
            return new EngineLoad(
                    rank,
                    Math.max(0, (int) running),
                    Math.max(0, (int) waiting),
                    -1,
                    usage,
                    bytes < 0 || tokens < 0
                            ? null
                            : new MovedKv(tokens, bytes, transfers, seconds));
        }
    }

    /** A gauge that is no number tells nothing. */
    private static double number(String text, double otherwise) {
        try {
            double value = Double.parseDouble(text);
            return Double.isFinite(value) ? value : otherwise;
        } catch (NumberFormatException e) {
            return otherwise;
        }
    }
}
