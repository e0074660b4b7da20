package io.warmpath.adapter.sglang;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.warmpath.fleet.CacheTraits;
import io.warmpath.fleet.Capacity;
import io.warmpath.fleet.Disaggregation;
import io.warmpath.fleet.EngineKind;
import io.warmpath.fleet.EngineRanks;
import io.warmpath.fleet.EventEndpoint;
import io.warmpath.fleet.HostCopies;
import io.warmpath.fleet.Offload;
import io.warmpath.fleet.PriorityOrder;
import io.warmpath.fleet.Role;
import io.warmpath.fleet.SessionSupport;
import io.warmpath.fleet.WorkerSpec;
import io.warmpath.fleet.probe.EngineDialect;
import io.warmpath.fleet.probe.EngineFacts;
import io.warmpath.fleet.probe.EngineHttp;
import io.warmpath.fleet.probe.EngineLoad;
import io.warmpath.fleet.probe.HealthAnswers;
import io.warmpath.fleet.probe.Unread;
import io.warmpath.fleet.probe.WorkerProbe.Health;
import io.warmpath.fleet.probe.WorkerProbe.Verdict;
import java.io.IOException;
import java.net.URI;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * SGLang's {@code GET /server_info}, with the {@code kv_events} descriptor of its event sockets.
 *
 * <p>Releases before the rename answer at {@code /get_server_info}; those before the descriptor
 * tell page size and ranks only. Stateless.
 */
public final class SglangDialect implements EngineDialect {
    private static final ObjectMapper JSON = new ObjectMapper();
    private static final int MAX_PORT = 65535;

    @Override
    public EngineKind kind() {
        return EngineKind.SGLANG;
    }

    @Override
    public Optional<EngineFacts> ask(URI worker, EngineHttp http) throws IOException {
        EngineHttp.Answer answer = http.get(worker, "/server_info");
        if (answer.status() == 404) {
            answer = http.get(worker, "/get_server_info");
        }
        return Unread.isOffered("/server_info", answer)
                ? read(worker, answer.body())
                : Optional.empty();
    }

    @Override
    public List<EngineLoad> load(URI worker, EngineHttp http) throws IOException {
        EngineHttp.Answer answer = http.get(worker, "/v1/loads?include=core,lora");
        if (answer.status() == 404) {
            answer = http.get(worker, "/get_load");
        }
        return answer.ok() ? SglangLoads.read(answer.body()) : List.of();
    }

    /**
     * {@code /ready} looks at flags only. {@code /health} is the deep question: it sleeps for a
     * second at least, generates a token when the engine has nothing else to do, and gives up after
     * {@code SGLANG_HEALTH_CHECK_TIMEOUT} (20 s). When it gave up, for whoever had asked, the flags
     * say "unhealthy" until it is asked again and all is well, so that a bad flag has to be looked
     * into.
     */
    @Override
    public Health health(URI worker, EngineHttp http, Duration patience) throws IOException {
        EngineHttp.Answer ready = http.get(worker, "/ready");
        if (ready.status() == 404) { // older
            return HealthAnswers.read("/v1/models", http.get(worker, "/v1/models"));
        }
        Health seen = HealthAnswers.read("/ready", ready);
        if (seen.verdict() != Verdict.UNAVAILABLE) {
            return seen;
        }
        return http.get(worker, "/ping").ok()
                ? new Health(Verdict.DRAINING, "it is paused: /ready answered 503, /ping 200")
                : deepHealth(worker, http, patience);
    }

    @Override
    public Health deepHealth(URI worker, EngineHttp http, Duration patience) throws IOException {
        return HealthAnswers.read("/health", http.get(worker, "/health", patience));
    }

    private static Optional<EngineFacts> read(URI worker, String body) throws IOException {
        JsonNode info;
        try {
            info = JSON.readTree(body);
        } catch (JsonProcessingException e) {
            return Optional.empty(); // something else that answers every path
        }
        // vLLM has a debugging route of the same name, with other fields.
        if (!info.has("kv_events") && !info.has("internal_states") && !info.has("page_size")) {
            return Optional.empty();
        }
        Unread unread = new Unread();
        JsonNode events = info.path("kv_events");
        int blockSize = number(events, "block_size", number(info, "page_size", 0));
        int ranks = number(events, "dp_size", number(info, "dp_size", 1));
        boolean tooMany = ranks > WorkerSpec.MAX_DP_SIZE;
        return Optional.of(
                new EngineFacts(
                        EngineKind.SGLANG,
                        info.path("version").asText(""),
                        blockSize,
                        EngineRanks.of(tooMany ? 0 : ranks),
                        capacity(info, blockSize),
                        unread.read(
                                Unread.EVENTS, () -> endpoints(worker, events, ranks), List.of()),
                        unread.read(
                                "its pool",
                                () -> new Offload(copies(info), HiCacheArguments.pool(info)),
                                new Offload(copies(info), null)),
                        priorities(info),
                        sessions(info),
                        disaggregation(info, unread),
                        cache(info),
                        unread.all()));
    }

    /** The server's arguments are members of the answer, by their names. */
    private static HostCopies copies(JsonNode info) {
        if (!info.path("enable_hierarchical_cache").asBoolean(false)) {
            return HostCopies.NONE;
        }
        return switch (info.path("hicache_write_policy").asText("")) {
            case "write_back" -> HostCopies.ON_EVICTION;
            case "write_through_selective" -> HostCopies.SELECTIVE;
            default -> HostCopies.EARLY;
        };
    }

    /**
     * Its queue and its eviction take priorities one by one. The queue alone can be turned round:
     * blocks of lower values go first in any case, so with both and that flag what is sent serves
     * the queue.
     */
    private static PriorityOrder priorities(JsonNode info) {
        boolean queue = info.path("enable_priority_scheduling").asBoolean(false);
        boolean eviction = info.path("radix_eviction_policy").asText("").equals("priority");
        if (!queue && !eviction) {
            return PriorityOrder.NOT_TAKEN;
        }
        return queue && info.path("schedule_low_priority_values_first").asBoolean(false)
                ? PriorityOrder.LOWER_FIRST
                : PriorityOrder.HIGHER_FIRST;
    }

    /** A tag on evictable blocks rather than slots that nobody can evict, where it has both. */
    private static SessionSupport sessions(JsonNode info) {
        if (info.path("enable_session_radix_cache").asBoolean(false)) {
            return SessionSupport.RADIX;
        }
        // Only /generate takes a session, and that does not tell thoughts from answers.
        return info.path("enable_streaming_session").asBoolean(false)
                        && info.path("reasoning_parser").asText("null").equals("null")
                ? SessionSupport.STREAMING
                : SessionSupport.STICKY;
    }

    /** Of windows and states beside full attention it does not tell what it drops. */
    private static CacheTraits cache(JsonNode info) {
        boolean more = false;
        for (JsonNode rank : info.path("internal_states")) {
            more |=
                    rank.path("memory_usage").path("token_capacity_swa").asLong(0) > 0
                            || rank.path("max_mamba_cache_size").asLong(0) > 0;
        }
        return new CacheTraits(HiCacheArguments.isEagle(info), more, false);
    }

    /** An engine of a role answers no request alone: without a room it says 400. */
    private static Disaggregation disaggregation(JsonNode info, Unread unread) {
        String mode = info.path("disaggregation_mode").asText("null");
        Role role =
                switch (mode) {
                    case "prefill" -> Role.PREFILL;
                    case "decode" -> Role.DECODE;
                    default -> Role.BOTH;
                };
        if (role == Role.BOTH && !mode.equals("null")) {
            unread.add("role: " + mode + " by its engine");
        }
        if (role == Role.BOTH) {
            return Disaggregation.NONE;
        }
        // Every engine has the argument; the registry is the prefill engine's.
        int port = role == Role.PREFILL ? number(info, "disaggregation_bootstrap_port", 0) : 0;
        if (port > MAX_PORT) {
            unread.add("bootstrap: " + port + " by its engine is no port");
            port = 0;
        }
        String transfer = info.path("disaggregation_transfer_backend").asText("");
        return new Disaggregation(role, false, port, transfer);
    }

    /**
     * Without {@code max_prefill_tokens} nothing is said of a step: the whole pool's tokens in its
     * place would let a queue begin far too late.
     */
    private static Capacity capacity(JsonNode info, int blockSize) {
        return new Capacity(
                number(info, "max_prefill_tokens", 0),
                number(info, "max_total_num_tokens", 0) / Math.max(1, blockSize),
                info.path("enable_lora").asBoolean(false)
                        ? number(info, "max_loras_per_batch", 0)
                        : 0);
    }

    private static List<EventEndpoint> endpoints(URI worker, JsonNode events, int ranks)
            throws IOException {
        WorkerSpec.requireRanks(ranks);
        if (!events.isObject() && !events.isNull() && !events.isMissingNode()) {
            throw new IOException("/server_info has kv_events that are no object");
        }
        if (!events.path("publisher").asText("").equals("zmq")) {
            return List.of();
        }
        String base = endpoint(worker, events, "endpoint_port_base");
        if (base == null) {
            throw new IOException("/server_info announces kv_events without endpoint_port_base");
        }
        return EventEndpoint.perRank(
                base,
                endpoint(worker, events, "replay_endpoint_port_base"),
                false,
                events.path("topic").asText(""),
                ranks);
    }

    private static @Nullable String endpoint(URI worker, JsonNode events, String portField)
            throws IOException {
        int port = number(events, portField, 0);
        if (port > MAX_PORT) {
            throw new IOException("/server_info announces kv_events at port " + port);
        }
        if (port == 0) {
            return null;
        }
        String host = events.path("endpoint_host").asText("*");
        return EventEndpoint.reachable("tcp://" + host + ":" + port, worker);
    }

    /** A positive integer, the largest for all beyond; else {@code otherwise}. */
    private static int number(JsonNode object, String field, int otherwise) {
        double n = object.path(field).asDouble(0);
        return n >= 1 ? (int) n : otherwise;
    }
}
