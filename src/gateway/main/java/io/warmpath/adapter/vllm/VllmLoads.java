package io.warmpath.adapter.vllm;

import io.warmpath.fleet.probe.AdapterSlots;
import io.warmpath.fleet.probe.EngineLoad;
import io.warmpath.fleet.probe.MovedKv;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * The load gauges of vLLM's {@code /metrics}, and what its NIXL connector has fetched from other
 * engines, by the label {@code engine}, its rank as vLLM numbers it. Releases that have no such
 * label have one rank. Stateless.
 */
final class VllmLoads {
    private static final Pattern SERIES =
            Pattern.compile(
                    "^vllm:(num_requests_running|num_requests_waiting|kv_cache_usage_perc"
                            + "|gpu_cache_usage_perc|nixl_bytes_transferred_sum"
                            + "|nixl_xfer_time_seconds_(?:sum|count)"
                            + "|prompt_tokens_cached_by_source_total|lora_requests_info)"
                            + "\\{([^}]*)} (\\S+)",
                    Pattern.MULTILINE);
    private static final Pattern ENGINE = Pattern.compile("(?:^|,)engine=\"(\\d{1,4})\"");

    /** Adapters are told of for all ranks together, by labels; the value is the time of writing. */
    private static final String ADAPTERS = "lora_requests_info";

    private static final Pattern ADAPTER =
            Pattern.compile("(max_lora|running_lora_adapters|waiting_lora_adapters)=\"([^\"]*)\"");

    /** Tokens by where their cache was: those of another engine. */
    private static final String FETCHED = "source=\"p2p\"";

    private VllmLoads() {}

    /** The lowest number of a rank: a server's page has all of its ranks, and no other. */
    static int first(String metrics) {
        return read(metrics).stream().mapToInt(EngineLoad::dpRank).min().orElse(0);
    }

    static List<EngineLoad> read(String metrics) {
        Map<Integer, Rank> ranks = new TreeMap<>();
        Matcher m = SERIES.matcher(metrics);
        AdapterSlots adapters = null;
        double written = -1;
        while (m.find()) {
            if (m.group(1).equals(ADAPTERS)) {
                double at = number(m.group(3), -1);
                if (at > written) { // each change has left its series behind
                    written = at;
                    adapters = adapters(m.group(2));
                }
                continue;
            }
            Matcher engine = ENGINE.matcher(m.group(2));
            int rank = engine.find() ? Integer.parseInt(engine.group(1)) : 0;
            ranks.computeIfAbsent(rank, r -> new Rank()).read(m.group(1), m.group(2), m.group(3));
        }
        List<EngineLoad> loads = new ArrayList<>();
        // Which of several ranks it is true of is not told.
        AdapterSlots told = ranks.size() == 1 ? adapters : null;
        ranks.forEach((rank, of) -> loads.add(of.load(rank, told)));
        return loads;
    }

    /** Null without a limit. Both lists name the same: adapters with requests that have begun. */
    private static @Nullable AdapterSlots adapters(String labels) {
        int limit = 0;
        Set<String> active = new HashSet<>();
        Matcher m = ADAPTER.matcher(labels);
        while (m.find()) {
            if (m.group(1).equals("max_lora")) {
                limit = (int) number(m.group(2), 0);
            } else {
                active.addAll(List.of(m.group(2).split(",", -1)));
            }
        }
        active.remove("");
        return limit <= 0 ? null : new AdapterSlots(limit, active, Math.min(limit, active.size()));
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

        EngineLoad load(int rank, @Nullable AdapterSlots adapters) {
            return new EngineLoad(
                    rank,
                    Math.max(0, (int) running),
                    Math.max(0, (int) waiting),
                    -1,
                    usage,
                    bytes < 0 || tokens < 0 ? null : new MovedKv(tokens, bytes, transfers, seconds),
                    adapters);
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
