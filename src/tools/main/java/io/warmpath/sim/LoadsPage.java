package io.warmpath.sim;

import static io.warmpath.plot.Plain.plain;

import io.warmpath.sim.half.Disaggregation;
import io.warmpath.sim.http.SimExchange;
import java.time.InstantSource;
import java.util.List;
import java.util.Set;
import java.util.StringJoiner;
import java.util.function.IntSupplier;
import org.jspecify.annotations.Nullable;

/**
 * SGLang's {@code GET /v1/loads}, as JSON: how busy each rank is. Engine's thread only.
 *
 * @param rooms in which halves of requests are
 */
record LoadsPage(SimOptions options, List<Rank> ranks, InstantSource clock, IntSupplier rooms) {
    private static final Set<String> SECTIONS =
            Set.of("core", "memory", "spec", "lora", "disagg", "queues", "all");

    void answer(SimExchange exchange) {
        String wanted = exchange.param("include");
        Set<String> sections = wanted == null ? Set.of("core") : Set.of(wanted.split(",", -1));
        String format = exchange.param("format");
        Integer rank = rank(exchange.param("dp_rank"));
        if (!SECTIONS.containsAll(sections)) {
            refuse(exchange, "include takes " + String.join(", ", List.copyOf(SECTIONS)));
        } else if (format != null && !format.equals("json")) {
            refuse(exchange, "format: this simulated engine answers json only");
        } else if (rank != null && (rank < 0 || rank >= ranks.size())) {
            refuse(exchange, "dp_rank must be below " + ranks.size());
        } else {
            exchange.json(200, page(sections, rank));
        }
    }

    private String page(Set<String> sections, @Nullable Integer only) {
        double now = clock.instant().toEpochMilli() / 1e3;
        StringJoiner loads = new StringJoiner(",", "[", "]");
        for (int r = 0; r < ranks.size(); r++) {
            if (only == null || only == r) {
                loads.add(load(r, sections, now));
            }
        }
        return plain(
                "{\"timestamp\":%.3f,\"version\":\"%s\",\"accelerator\":\"simulated\","
                        + "\"num_accelerators\":1,\"loads\":%s}",
                now, EngineInfo.SGLANG_VERSION, loads);
    }

    private String load(int number, Set<String> sections, double now) {
        Rank rank = ranks.get(number);
        int capacity = options.maxModelLength();
        int used = rank.busyBlocks() * options.blockSize();
        long queried = rank.scheduler().counters().queriedTokens();
        StringBuilder json = new StringBuilder(512);
        json.append(
                plain(
                        "{\"dp_rank\":%d,\"timestamp\":%.3f,\"num_running_reqs\":%d,"
                                + "\"num_waiting_reqs\":%d,\"num_used_tokens\":%d,"
                                + "\"num_total_tokens\":%d,\"max_total_num_tokens\":%d,"
                                + "\"token_usage\":%.4f,\"gen_throughput\":0.0,"
                                + "\"cache_hit_rate\":%.4f,\"utilization\":%.4f,"
                                + "\"max_running_requests\":%d",
                        number,
                        now,
                        rank.scheduler().running(),
                        rank.scheduler().waiting(),
                        used,
                        used + rank.scheduler().waitingTokens(),
                        capacity,
                        (double) used / capacity,
                        queried == 0
                                ? 0.0
                                : (double) rank.scheduler().counters().hitTokens() / queried,
                        (double) rank.scheduler().running() / options.maxBatch(),
                        options.maxBatch()));
        boolean all = sections.contains("all");
        if (all || sections.contains("memory")) {
            json.append(",\"memory\":{\"weight_gb\":0.0,\"kv_cache_gb\":0.0,\"graph_gb\":0.0,")
                    .append("\"token_capacity\":")
                    .append(capacity)
                    .append('}');
        }
        Disaggregation d = options.disaggregation();
        if (d != null && (all || sections.contains("disagg"))) {
            boolean decodes = d.mode() == Disaggregation.Mode.DECODE;
            json.append(
                    plain(
                            ",\"disaggregation\":{\"mode\":\"%s\","
                                    + "\"prefill_bootstrap_queue_reqs\":%d,"
                                    + "\"prefill_inflight_queue_reqs\":0,"
                                    + "\"decode_prealloc_queue_reqs\":%d,"
                                    + "\"decode_transfer_queue_reqs\":%d,"
                                    + "\"decode_retracted_queue_reqs\":0,"
                                    + "\"kv_transfer_speed_gb_s\":0.0,"
                                    + "\"kv_transfer_latency_ms\":0.0}",
                            decodes ? "decode" : "prefill",
                            decodes ? 0 : rooms.getAsInt(),
                            decodes ? rank.scheduler().waiting() : 0,
                            decodes ? rooms.getAsInt() : 0));
        }
        if (all || sections.contains("queues")) {
            json.append(",\"queues\":{\"waiting\":")
                    .append(rank.scheduler().waiting())
                    .append(",\"grammar\":0,\"paused\":0,\"retracted\":0}");
        }
        return json.append('}').toString();
    }

    private static @Nullable Integer rank(@Nullable String given) {
        if (given == null) {
            return null;
        }
        try {
            return Integer.valueOf(given);
        } catch (NumberFormatException e) {
            return -1; // refused with those that do not exist
        }
    }

    private static void refuse(SimExchange exchange, String why) {
        exchange.json(400, "{\"error\":{\"message\":" + AnswerShape.quoted(why) + "}}");
    }
}
