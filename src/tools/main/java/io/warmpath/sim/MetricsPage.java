package io.warmpath.sim;

import java.util.List;
import java.util.function.ToDoubleFunction;

/** {@code /metrics} in the Prometheus text format, under the imitated engine's names. */
final class MetricsPage {
    private final SimOptions options;
    private final List<Rank> ranks;
    private final StringBuilder out = new StringBuilder(4096);

    private MetricsPage(SimOptions options, List<Rank> ranks) {
        this.options = options;
        this.ranks = ranks;
    }

    static String of(SimOptions options, List<Rank> ranks) {
        MetricsPage page = new MetricsPage(options, ranks);
        if (options.wire().sglang()) {
            page.sglang();
        } else {
            page.vllm();
        }
        return page.out.toString();
    }

    private void sglang() {
        int capacity = options.maxModelLength();
        gauge(
                "sglang:num_running_reqs",
                "The number of running requests.",
                r -> r.scheduler().running());
        gauge(
                "sglang:num_queue_reqs",
                "The number of requests in the waiting queue.",
                r -> r.scheduler().waiting());
        gauge(
                "sglang:num_used_tokens",
                "The number of used tokens.",
                r -> (double) r.busyBlocks() * options.blockSize());
        gauge("sglang:token_usage", "The token usage.", this::usage);
        gauge("sglang:cache_hit_rate", "The prefix cache hit rate.", MetricsPage::hitRate);
        gauge(
                "sglang:max_total_num_tokens",
                "Maximum total number of tokens in the KV cache pool.",
                r -> capacity);
        gauge("sglang:page_size", "KV cache page size in tokens.", r -> options.blockSize());
        gauge("sglang:num_pages", "Number of KV cache pages.", r -> options.gpuBlocks());
        if (options.agents().streamingSessions()) {
            gauge(
                    "sglang:num_streaming_sessions",
                    "The number of active streaming sessions.",
                    r -> r.sessions().streaming());
            gauge(
                    "sglang:streaming_session_held_tokens",
                    "The number of KV tokens held by streaming sessions.",
                    r -> r.sessions().heldTokens());
        }
        counter(
                "sglang:prompt_tokens_total",
                "Number of prefill tokens processed.",
                r -> r.scheduler().counters().promptTokens());
        counter(
                "sglang:generation_tokens_total",
                "Number of generation tokens processed.",
                r -> r.scheduler().counters().generatedTokens());
        counter(
                "sglang:num_requests_total",
                "Number of requests processed.",
                r -> r.scheduler().counters().finished());
    }

    private void vllm() {
        cacheConfig();
        gauge(
                "vllm:num_requests_running",
                "Number of requests in model execution batches.",
                r -> r.scheduler().running());
        gauge(
                "vllm:num_requests_waiting",
                "Number of requests waiting to be processed.",
                r -> r.scheduler().waiting());
        gauge(
                "vllm:kv_cache_usage_perc",
                "KV-cache usage. 1 means 100 percent usage.",
                this::usage);
        counter(
                "vllm:prefix_cache_queries_total",
                "Prefix cache queries, in terms of number of queried tokens.",
                r -> r.scheduler().counters().queriedTokens());
        counter(
                "vllm:prefix_cache_hits_total",
                "Prefix cache hits, in terms of number of cached tokens.",
                r -> r.scheduler().counters().hitTokens());
        counter(
                "vllm:prompt_tokens_total",
                "Number of prefill tokens processed.",
                r -> r.scheduler().counters().promptTokens());
        counter(
                "vllm:generation_tokens_total",
                "Number of generation tokens processed.",
                r -> r.scheduler().counters().generatedTokens());
    }

    /** Routers read the block size from this gauge's labels. */
    private void cacheConfig() {
        String name = "vllm:cache_config_info";
        out.append("# HELP ").append(name).append(" Information of the LLMEngine CacheConfig\n");
        out.append("# TYPE ").append(name).append(" gauge\n");
        for (int r = 0; r < ranks.size(); r++) {
            out.append(name)
                    .append("{block_size=\"")
                    .append(options.blockSize())
                    .append("\",enable_prefix_caching=\"True\",engine=\"")
                    .append(r)
                    .append("\",num_gpu_blocks=\"")
                    .append(options.gpuBlocks())
                    .append("\",prefix_caching_hash_algo=\"sha256_cbor\"} 1.0\n");
        }
    }

    private double usage(Rank r) {
        return (double) r.busyBlocks() / options.gpuBlocks();
    }

    private static double hitRate(Rank r) {
        long queried = r.scheduler().counters().queriedTokens();
        return queried == 0 ? 0 : (double) r.scheduler().counters().hitTokens() / queried;
    }

    private void gauge(String name, String help, ToDoubleFunction<Rank> value) {
        series(name, "gauge", help, value);
    }

    private void counter(String name, String help, ToDoubleFunction<Rank> value) {
        series(name, "counter", help, value);
    }

    private void series(String name, String type, String help, ToDoubleFunction<Rank> value) {
        out.append("# HELP ").append(name).append(' ').append(help).append('\n');
        out.append("# TYPE ").append(name).append(' ').append(type).append('\n');
        for (int r = 0; r < ranks.size(); r++) {
            out.append(name)
                    .append('{')
                    .append(labels(r))
                    .append("} ")
                    .append(value.applyAsDouble(ranks.get(r)))
                    .append('\n');
        }
    }

    private String labels(int rank) {
        String model = AnswerShape.quoted(options.models().getFirst());
        if (!options.wire().sglang()) {
            return "engine=\"" + rank + "\",model_name=" + model;
        }
        return (ranks.size() > 1 ? "dp_rank=\"" + rank + "\"," : "")
                + "engine_type=\"unified\",model_name="
                + model
                + ",moe_ep_rank=\"0\",pp_rank=\"0\",tp_rank=\"0\"";
    }
}
