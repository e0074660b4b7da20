package io.warmpath.telemetry;

import io.prometheus.client.Collector;
import io.prometheus.client.CollectorRegistry;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.stream.Collectors;

/**
 * Our metrics a second time, under the names that dashboards made for NVIDIA Dynamo's frontend and
 * router know. Read from ours at each scrape: a request pays nothing for them. Any thread.
 */
public final class MetricAliases extends Collector implements Collector.Describable {
    /**
     * @param name theirs, without what a type appends ({@code _total}, {@code _bucket}...)
     * @param ours the same of ours
     * @param only a label of ours and the value that counts, as {@code label=value}; empty: all
     * @param factor theirs is ours times this: 1000 for milliseconds
     */
    public record Alias(String name, String ours, String only, double factor) {
        Alias(String name, String ours) {
            this(name, ours, "", 1);
        }

        private boolean takes(MetricFamilySamples.Sample s) {
            int eq = only.indexOf('=');
            int at = eq < 0 ? -1 : s.labelNames.indexOf(only.substring(0, eq));
            return eq < 0 || (at >= 0 && s.labelValues.get(at).equals(only.substring(eq + 1)));
        }
    }

    private static final String FRONTEND = "dynamo_frontend_";
    private static final String ROUTER = "dynamo_component_router_";
    private static final String OVERHEAD = "dynamo_router_overhead_";

    /** As the frontend and the router of Dynamo 1.x call them. */
    public static final List<Alias> ALL =
            List.of(
                    new Alias(FRONTEND + "requests", "warmpath_requests"),
                    new Alias(FRONTEND + "inflight_requests", "warmpath_requests_active"),
                    new Alias(FRONTEND + "active_requests", "warmpath_requests_active"),
                    new Alias(FRONTEND + "queued_requests", "warmpath_queue_requests"),
                    new Alias(
                            FRONTEND + "router_queue_pending_requests", "warmpath_queue_requests"),
                    new Alias(
                            FRONTEND + "disconnected_clients",
                            "warmpath_requests",
                            "outcome=cancelled",
                            1),
                    new Alias(
                            FRONTEND + "model_cancellation",
                            "warmpath_requests",
                            "outcome=cancelled",
                            1),
                    new Alias(
                            FRONTEND + "model_migration", "warmpath_migrations", "result=moved", 1),
                    new Alias(FRONTEND + "model_rejection", "warmpath_overload_rejections"),
                    new Alias(FRONTEND + "time_to_first_token_seconds", "warmpath_ttft_seconds"),
                    new Alias(FRONTEND + "inter_token_latency_seconds", "warmpath_itl_seconds"),
                    new Alias(
                            FRONTEND + "request_duration_seconds",
                            "warmpath_request_duration_seconds"),
                    new Alias(FRONTEND + "input_sequence_tokens", "warmpath_request_prompt_tokens"),
                    new Alias(
                            FRONTEND + "output_sequence_tokens", "warmpath_request_output_tokens"),
                    new Alias(FRONTEND + "cached_tokens", "warmpath_request_cached_tokens"),
                    new Alias(FRONTEND + "worker_active_decode_blocks", "warmpath_worker_blocks"),
                    new Alias(
                            FRONTEND + "worker_active_prefill_tokens",
                            "warmpath_worker_prefill_tokens"),
                    new Alias(ROUTER + "requests", "warmpath_requests"),
                    new Alias(ROUTER + "time_to_first_token_seconds", "warmpath_ttft_seconds"),
                    new Alias(ROUTER + "inter_token_latency_seconds", "warmpath_itl_seconds"),
                    new Alias(ROUTER + "input_sequence_tokens", "warmpath_request_prompt_tokens"),
                    new Alias(ROUTER + "output_sequence_tokens", "warmpath_request_output_tokens"),
                    new Alias(
                            "dynamo_component_kv_cache_events_applied", "warmpath_events_received"),
                    new Alias(
                            OVERHEAD + "indexer_find_matches_ms",
                            "warmpath_match_seconds",
                            "",
                            1_000),
                    new Alias(OVERHEAD + "scheduling_ms", "warmpath_decide_seconds", "", 1_000),
                    new Alias(
                            OVERHEAD + "shared_cache_query_ms",
                            "warmpath_shared_cache_query_seconds",
                            "",
                            1_000),
                    new Alias(OVERHEAD + "total_ms", "warmpath_overhead_seconds", "", 1_000));

    private final CollectorRegistry registry;

    private MetricAliases(CollectorRegistry registry) {
        this.registry = registry;
    }

    /** Adds the names to a registry. */
    public static void addTo(CollectorRegistry registry) {
        new MetricAliases(registry).register(registry);
    }

    @Override
    public List<MetricFamilySamples> collect() {
        TreeSet<String> wanted =
                ALL.stream().map(Alias::ours).collect(Collectors.toCollection(TreeSet::new));
        Map<String, MetricFamilySamples> ours = new TreeMap<>();
        for (MetricFamilySamples f :
                Collections.list(
                        registry.filteredMetricFamilySamples(
                                (String sample) -> wanted.contains(family(sample))))) {
            ours.put(f.name, f);
        }
        List<MetricFamilySamples> out = new ArrayList<>();
        for (Alias a : ALL) {
            MetricFamilySamples f = ours.get(a.ours());
            if (f != null) {
                out.add(renamed(f, a));
            }
        }
        return out;
    }

    @Override
    public List<MetricFamilySamples> describe() {
        return ALL.stream()
                .map(a -> new MetricFamilySamples(a.name(), Type.UNKNOWN, "", List.of()))
                .toList();
    }

    private static String family(String sample) {
        for (String suffix : new String[] {"_total", "_bucket", "_count", "_sum"}) {
            if (sample.endsWith(suffix)) {
                return sample.substring(0, sample.length() - suffix.length());
            }
        }
        return sample;
    }

    private static MetricFamilySamples renamed(MetricFamilySamples f, Alias a) {
        List<MetricFamilySamples.Sample> samples = new ArrayList<>();
        for (MetricFamilySamples.Sample s : f.samples) {
            if (a.takes(s)) {
                samples.add(renamed(s, a));
            }
        }
        return new MetricFamilySamples(a.name(), f.type, "Alias of " + a.ours(), samples);
    }

    private static MetricFamilySamples.Sample renamed(MetricFamilySamples.Sample s, Alias a) {
        String suffix = s.name.substring(a.ours().length());
        boolean counts = suffix.equals("_bucket") || suffix.equals("_count");
        List<String> values = s.labelValues;
        int le = a.factor() == 1 ? -1 : s.labelNames.indexOf("le");
        if (le >= 0) {
            values = new ArrayList<>(values);
            values.set(le, bound(values.get(le), a.factor()));
        }
        return new MetricFamilySamples.Sample(
                a.name() + suffix, s.labelNames, values, counts ? s.value : s.value * a.factor());
    }

    private static String bound(String le, double factor) {
        // Rounded: 0.00005 times 1000 is not 0.05 in binary.
        return le.equals("+Inf")
                ? le
                : Double.toString(Math.round(Double.parseDouble(le) * factor * 1e6) / 1e6);
    }
}
