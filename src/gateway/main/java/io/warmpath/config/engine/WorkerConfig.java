package io.warmpath.config.engine;

import io.smallrye.config.WithDefault;
import io.warmpath.config.setting.Setting;
import io.warmpath.fleet.EngineKind;
import java.util.List;
import java.util.Optional;

/** One engine. */
public interface WorkerConfig {
    @Setting(doc = "Base URL of the engine's HTTP API, as in `warmpath.worker-urls`.", unit = "URL")
    String url();

    @Setting(doc = "Name in logs, headers and metrics; default w0, w1, ...", unit = "name")
    Optional<String> name();

    @Setting(doc = "Identity in APIs; default: XXH64 of the URL.", unit = "whole number below 2^64")
    Optional<String> id();

    @Setting(doc = "sglang, vllm, trtllm or openai; default: asked of the engine.")
    Optional<EngineKind> kind();

    @Setting(doc = "Model names; default: asked of the engine.", unit = "name,name,...")
    Optional<List<String>> models();

    @WithDefault("0")
    @Setting(
            doc = "Tokens per KV block; 0: asked of the engine.",
            unit = "tokens",
            min = 0,
            max = 65536)
    int blockSize();

    @WithDefault("0")
    @Setting(
            doc = "Data-parallel ranks; 0: asked of the engine, else 1.",
            unit = "ranks",
            min = 0,
            max = 1024)
    int dpSize();

    @Setting(
            doc =
                    "ZeroMQ endpoint of rank 0's KV events; rank r is at port + r. `post`: the"
                            + " engine posts its events to `POST /events`.",
            unit = "tcp://host:port or post")
    Optional<String> eventsEndpoint();

    @Setting(
            doc = "ZeroMQ endpoint of rank 0 that replays missed events.",
            unit = "tcp://host:port")
    Optional<String> replayEndpoint();

    @WithDefault("false")
    @Setting(doc = "The gateway binds the events endpoint and the engine connects to it.")
    boolean eventsBind();

    @Setting(doc = "Event topic to subscribe to; empty: all.")
    Optional<String> topic();

    @Setting(
            doc =
                    "What sets the worker apart: name or name=value, which requests may ask"
                            + " for; with `:NoSchedule` only requests that tolerate it go there,"
                            + " with `:PreferNoSchedule` others go there when it is that much"
                            + " better.",
            unit = "name=value:effect,...")
    Optional<List<String>> taints();

    @Setting(
            doc =
                    "What operators tell it apart by; shown in `GET /workers`. `node`, `rack` and"
                            + " `zone` say where it runs, see disaggregation.md.",
            unit = "name=value,...")
    Optional<List<String>> labels();

    @WithDefault("0")
    @Setting(
            doc = "Prompt tokens of one step of a rank; 0: asked of the engine.",
            unit = "tokens",
            min = 0)
    int maxNumBatchedTokens();

    @WithDefault("0")
    @Setting(
            doc = "KV blocks on a rank's device; 0: asked of the engine.",
            unit = "blocks",
            min = 0)
    int totalKvBlocks();

    @Setting(
            doc =
                    "What it makes of a request's priority: higher-first, lower-first or"
                            + " not-taken; default: asked of SGLang; vLLM does not say, and with"
                            + " `--scheduling-policy priority` it is lower-first.")
    Optional<String> priority();

    @Setting(
            doc =
                    "Load that each of its ranks can carry where others carry 1, see"
                            + " routing.md; default: as other sources tell it, else 1.",
            min = 0.01,
            max = 100)
    Optional<Double> weight();

    @Setting(
            doc =
                    "Which part of requests it does: prefill, decode, both, or encode, which"
                            + " gets none; default: asked of SGLang, vLLM does not say. See"
                            + " disaggregation.md.")
    Optional<String> role();

    @WithDefault("0")
    @Setting(
            doc =
                    "Port of a prefill engine's registry, at its own host, where decode engines"
                            + " find it: SGLang's (0: asked of the engine), or that of vLLM's"
                            + " MooncakeConnector, which is used then (0: another connector).",
            unit = "port",
            min = 0,
            max = 65535)
    int bootstrapPort();

    @Setting(
            doc =
                    "How it is made to keep what clients pin: rpc, kv-hints, priority, keep-alive or"
                            + " none; default: asked of the engine, see agents.md.")
    Optional<String> pins();

    @Setting(
            doc =
                    "How its SGLang server writes to the Mooncake pool: page_size, tp_size,"
                            + " pp_size, is_mla_model, is_eagle, tp_lcm_size, should_split_heads,"
                            + " extra_backend_tag, master_server_address, master_metrics_port,"
                            + " model_name, sglang_version; default: asked of the engine.",
            unit = "JSON object")
    Optional<String> sglangHicacheMooncake();

    @Setting(
            doc =
                    "How its vLLM writes to the Mooncake pool: block_size, hash_seed,"
                            + " model_name, store_namespace, cache_prefix, tp_ranks, pcp_ranks,"
                            + " dcp_ranks, pp_ranks, groups, master_server_address,"
                            + " master_metrics_port.",
            unit = "JSON object")
    Optional<String> vllmMooncakeStore();

    @Setting(
            doc =
                    "How the LMCache in its vLLM names its chunks: instance_id, chunk_size,"
                            + " hash_algorithm, hash_seed.",
            unit = "JSON object")
    Optional<String> lmcache();
}
