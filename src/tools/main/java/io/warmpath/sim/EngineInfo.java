package io.warmpath.sim;

import io.warmpath.sim.half.Disaggregation;
import java.time.InstantSource;
import java.util.List;
import java.util.StringJoiner;

/** What a simulated engine says of itself. Engine's thread only. */
final class EngineInfo {
    static final String SGLANG_VERSION = "0.5.23";

    private final SimOptions options;
    private final int eventsPort;
    private final int replayPort;
    private final List<Rank> ranks;
    private final long createdSeconds;
    private final int bootstrapPort;

    EngineInfo(
            SimOptions options,
            int eventsPort,
            int replayPort,
            List<Rank> ranks,
            InstantSource clock,
            int bootstrapPort) {
        this.options = options;
        this.eventsPort = eventsPort;
        this.replayPort = replayPort;
        this.ranks = ranks;
        this.bootstrapPort = bootstrapPort;
        this.createdSeconds = clock.instant().getEpochSecond();
    }

    String models() {
        boolean sglang = options.wire().sglang();
        StringJoiner data = new StringJoiner(",", "{\"object\":\"list\",\"data\":[", "]}");
        for (String model : options.models()) {
            String name = AnswerShape.quoted(model);
            data.add(
                    """
                            {"id":%s,"object":"model","created":%s,"owned_by":%s,\
                            "root":%s,"parent":null,"max_model_len":%s%s"""
                            .formatted(
                                    name,
                                    createdSeconds,
                                    sglang ? "\"sglang\"" : "\"vllm\"",
                                    name,
                                    options.maxModelLength(),
                                    sglang ? "}" : permission()));
        }
        return data.toString();
    }

    private String permission() {
        return ",\"permission\":[{\"id\":\"modelperm-sim\",\"object\":\"model_permission\","
                + "\"created\":"
                + createdSeconds
                + ",\"allow_create_engine\":false,\"allow_sampling\":true,\"allow_logprobs\":true,"
                + "\"allow_search_indices\":false,\"allow_view\":true,\"allow_fine_tuning\":false,"
                + "\"organization\":\"*\",\"group\":null,\"is_blocking\":false}]}";
    }

    /** SGLang's {@code /server_info}, the keys a router needs. */
    String serverInfo() {
        int tokens = options.maxModelLength();
        StringJoiner states = new StringJoiner(",", "[", "]");
        for (int r = 0; r < ranks.size(); r++) {
            states.add(
                    """
                            {"effective_max_running_requests_per_dp":%s,\
                            "memory_usage":{"token_capacity":%s}}"""
                            .formatted(options.maxBatch(), tokens));
        }
        String model = AnswerShape.quoted(options.models().getFirst());
        return """
                {"version":"%s","kv_events":{"publisher":"zmq","endpoint_host":%s,\
                "endpoint_port_base":%s,"topic":%s,"block_size":%s,"dp_size":%s,\
                "replay_endpoint_port_base":%s},"page_size":%s,\
                "max_total_num_tokens":%s,"dp_size":%s,"tp_size":1,\
                "served_model_name":%s,"model_path":%s%s%s%s,"internal_states":%s}"""
                .formatted(
                        SGLANG_VERSION,
                        AnswerShape.quoted(eventHost()),
                        eventsPort,
                        AnswerShape.quoted(options.topic()),
                        options.blockSize(),
                        options.ranks(),
                        replayPort,
                        options.blockSize(),
                        tokens,
                        options.ranks(),
                        model,
                        model,
                        hierarchy(),
                        agents(),
                        disaggregation(),
                        states);
    }

    /** Of a server that decodes, that it keeps no prefixes too. */
    private String disaggregation() {
        Disaggregation d = options.disaggregation();
        if (d == null) {
            return ",\"disaggregation_mode\":\"null\"";
        }
        boolean decodes = d.mode() == Disaggregation.Mode.DECODE;
        return """
                ,"disable_radix_cache":%s,"load_balance_method":"%s",\
                "disaggregation_mode":"%s",\
                "disaggregation_transfer_backend":"mooncake",\
                "disaggregation_bootstrap_port":%s"""
                .formatted(
                        decodes,
                        decodes ? "round_robin" : "follow_bootstrap_room",
                        decodes ? "decode" : "prefill",
                        bootstrapPort);
    }

    /** The arguments of a server for agents. */
    private String agents() {
        AgentFeatures a = options.agents();
        return """
                ,"enable_streaming_session":%s,"enable_session_radix_cache":%s,\
                "enable_priority_scheduling":%s,\
                "schedule_low_priority_values_first":%s,"radix_eviction_policy":%s"""
                .formatted(
                        a.streamingSessions(),
                        a.radixSessions(),
                        a.priorityScheduling(),
                        a.lowValuesFirst(),
                        a.priorityEviction() ? "\"priority\"" : "\"lru\"");
    }

    /** The arguments of a server with memory below its GPU's. */
    private String hierarchy() {
        if (options.hostBlocks() == 0) {
            return "";
        }
        SimPool pool = options.pool();
        return ",\"enable_hierarchical_cache\":true,\"hicache_write_policy\":\"write_through\""
                + (pool == null
                        ? ""
                        : ",\"pp_size\":1,\"hicache_storage_backend\":\"mooncake\","
                                + "\"hicache_storage_backend_extra_config\":"
                                + AnswerShape.quoted(
                                        """
                                                {"master_server_address":"%s:50051",\
                                                "master_metrics_port":%s}"""
                                                .formatted(pool.host(), pool.port())));
    }

    /** vLLM's {@code /kv_event_sources}: one entry per rank. */
    String eventSources() {
        StringJoiner sources = new StringJoiner(",", "{", "}");
        for (int r = 0; r < options.ranks(); r++) {
            sources.add(
                    "\""
                            + r
                            + "\":{\"enable_kv_cache_events\":true,\"publisher\":\"zmq\","
                            + "\"endpoint\":\"tcp://"
                            + eventHost()
                            + ":"
                            + (eventsPort + r)
                            + "\",\"replay_endpoint\":\"tcp://"
                            + eventHost()
                            + ":"
                            + (replayPort + r)
                            + "\",\"buffer_steps\":"
                            + options.bufferSteps()
                            + ",\"hwm\":100000,\"max_queue_size\":100000,\"topic\":"
                            + AnswerShape.quoted(options.topic())
                            + "}");
        }
        return sources.toString();
    }

    String version() {
        return "{\"version\":\"0.32.0\"}";
    }

    private String eventHost() {
        return options.host().equals("0.0.0.0") ? "*" : options.host();
    }
}
