package io.warmpath.adapter.vllm;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.warmpath.fleet.CacheTraits;
import io.warmpath.fleet.Capacity;
import io.warmpath.fleet.Disaggregation;
import io.warmpath.fleet.EngineKind;
import io.warmpath.fleet.EngineRanks;
import io.warmpath.fleet.Offload;
import io.warmpath.fleet.PriorityOrder;
import io.warmpath.fleet.Role;
import io.warmpath.fleet.SessionSupport;
import io.warmpath.fleet.probe.EngineDialect;
import io.warmpath.fleet.probe.EngineFacts;
import io.warmpath.fleet.probe.EngineHttp;
import io.warmpath.fleet.probe.EngineLoad;
import io.warmpath.fleet.probe.Unread;
import java.io.IOException;
import java.net.URI;
import java.util.List;
import java.util.Optional;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * vLLM: {@code /version} tells that it is vLLM, {@code /kv_event_sources} its event sockets, and
 * the gauge {@code vllm:cache_config_info} of {@code /metrics} its block size and blocks.
 *
 * <p>{@code /health} looks at a flag: it is cheap, and there is no deeper question.
 *
 * <p>What a release does not offer stays unknown and comes from configuration. Stateless.
 */
public final class VllmDialect implements EngineDialect {
    private static final ObjectMapper JSON = new ObjectMapper();

    /** The gauge's value says nothing; what matters stands in its labels. */
    private static final Pattern BLOCK_SIZE =
            Pattern.compile(
                    "^vllm:cache_config_info\\{(?:[^}]*,)?block_size=\"(\\d{1,6})\"",
                    Pattern.MULTILINE);

    private static final Pattern KV_BLOCKS =
            Pattern.compile(
                    "^vllm:cache_config_info\\{(?:[^}]*,)?num_gpu_blocks=\"(\\d{1,9})\"",
                    Pattern.MULTILINE);

    /**
     * A counter that is there when the engine guesses tokens ahead, whatever it guesses them by.
     */
    private static final Pattern DRAFTS =
            Pattern.compile("^vllm:spec_decode_num_drafts", Pattern.MULTILINE);

    @Override
    public EngineKind kind() {
        return EngineKind.VLLM;
    }

    @Override
    public Optional<EngineFacts> ask(URI worker, EngineHttp http) throws IOException {
        EngineHttp.Answer version = http.get(worker, "/version");
        if (!Unread.isOffered("/version", version)) {
            return Optional.empty();
        }
        JsonNode said;
        try {
            said = JSON.readTree(version.body());
        } catch (JsonProcessingException e) {
            return Optional.empty(); // something else that answers every path
        }
        if (!said.path("version").isTextual()) {
            return Optional.empty();
        }
        Unread unread = new Unread();
        String sources = unread.page(worker, "/kv_event_sources", Unread.EVENTS, http);
        KvEventSources told =
                sources.isEmpty()
                        ? KvEventSources.NONE
                        : unread.read(
                                Unread.EVENTS,
                                () -> KvEventSources.read(worker, sources),
                                KvEventSources.NONE);
        String metrics = unread.page(worker, "/metrics", "block-size and capacity", http);
        EngineRanks ranks = told.ranks();
        if (ranks.count() == 0) {
            ranks = new EngineRanks(0, VllmLoads.first(metrics), true);
        }
        return Optional.of(
                new EngineFacts(
                        EngineKind.VLLM,
                        said.path("version").asText(),
                        label(BLOCK_SIZE, metrics),
                        ranks,
                        new Capacity(0, label(KV_BLOCKS, metrics)),
                        told.events(),
                        Offload.NONE,
                        PriorityOrder.NOT_TAKEN,
                        SessionSupport.STICKY,
                        Disaggregation.NONE,
                        new CacheTraits(false, false, DRAFTS.matcher(metrics).find()),
                        unread.all()));
    }

    /**
     * The Mooncake connector's registry knows the engines that prefill by names which change with
     * each start. Who says where that registry is says that this connector is used.
     */
    @Override
    public Disaggregation registered(URI worker, Disaggregation its, EngineHttp http)
            throws IOException {
        if (its.role() != Role.PREFILL || its.bootstrapPort() == 0) {
            return its;
        }
        return its.with("mooncake", MooncakeRegistry.engines(its.registry(worker), http));
    }

    @Override
    public List<EngineLoad> load(URI worker, EngineHttp http) throws IOException {
        EngineHttp.Answer metrics = http.get(worker, "/metrics");
        return metrics.ok() ? VllmLoads.read(metrics.body()) : List.of();
    }

    private static int label(Pattern label, String metrics) {
        Matcher m = label.matcher(metrics);
        return m.find() ? Integer.parseInt(m.group(1)) : 0;
    }
}
