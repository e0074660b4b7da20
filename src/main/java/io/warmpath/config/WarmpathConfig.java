package io.warmpath.config;

import io.smallrye.config.ConfigMapping;
import io.smallrye.config.WithConverter;
import io.smallrye.config.WithDefault;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * Every key under {@code warmpath}. Sources, strongest first: command line, {@code WARMPATH_...}
 * environment, other environment names, the file of {@code --config}, the defaults here.
 *
 * <p>Immutable once read; any thread.
 */
@ConfigMapping(prefix = "warmpath")
public interface WarmpathConfig {

    @Setting(
            doc = "YAML file with settings, the workers for example.",
            unit = "path",
            flags = "--config")
    Optional<String> configFile();

    @WithDefault("INFO")
    @Setting(doc = "What is logged: ERROR, WARN, INFO, DEBUG or TRACE.", flags = "--log-level")
    LogLevel logLevel();

    Http http();

    Router router();

    Admission admission();

    Routing routing();

    Index index();

    Upstream upstream();

    Tokens tokens();

    /** What models have of their own, by the name that engines serve them under. */
    Map<String, ModelEntry> models();

    Events events();

    StateConfig state();

    SessionConfig session();

    MigrationConfig migration();

    RetryConfig retry();

    TelemetryConfig telemetry();

    NatsConfig nats();

    ReplicaConfig replica();

    SharedCacheConfig sharedCache();

    Fleet fleet();

    KubernetesConfig kubernetes();

    HealthConfig health();

    Admin admin();

    AuthConfig auth();

    Explain explain();

    Warmup warmup();

    @Setting(
            doc =
                    "Base URLs of engines, besides `warmpath.workers`; everything else is asked of"
                            + " them. `http`, `https`, `unix:///path/to/socket`, `h2c` and `h2`"
                            + " (HTTP/2). On the command line `--worker` may be repeated.",
            unit = "URL,URL,...",
            flags = {"--worker", "--workers"})
    Optional<List<String>> workerUrls();

    /** Engines known at start, with what they do not tell themselves. */
    List<WorkerEntry> workers();

    /** What is logged. */
    enum LogLevel {
        ERROR,
        WARN,
        INFO,
        DEBUG,
        TRACE
    }

    /** The side that clients see. */
    interface Http {
        HttpTlsConfig tls();

        @WithDefault("0.0.0.0")
        @Setting(
                doc = "Address to listen on.",
                unit = "address",
                flags = {"--http-host"},
                env = {"DYN_HTTP_HOST"})
        String host();

        @WithDefault("8000")
        @Setting(
                doc = "Port to listen on; 0 takes a free one.",
                unit = "port",
                flags = {"--http-port"},
                env = {"DYN_HTTP_PORT"},
                min = 0,
                max = 65535)
        int port();

        @WithDefault("64M")
        @WithConverter(ByteSize.Reader.class)
        @Setting(
                doc = "Largest request body accepted; larger ones get 413.",
                flags = {"--http-max-body-size"},
                env = {"DYN_HTTP_BODY_LIMIT_MB:M"},
                minSize = "1K",
                maxSize = "1G")
        ByteSize maxBodySize();

        @WithDefault("0")
        @Setting(
                doc = "Event loop threads; 0: one per core.",
                unit = "threads",
                min = 0,
                max = 1024)
        int eventLoops();

        @WithDefault("100")
        @Setting(
                doc =
                        "Pause of an event loop after a turn in which an engine's answer came in a"
                                + " burst (three reads, each less than 0.5 ms after the one before), so"
                                + " that more bytes gather and fewer system calls are needed; 0: none."
                                + " Answers of one token a step never cause it.",
                unit = "µs",
                min = 0,
                max = 200)
        int gather();

        @WithDefault("1s")
        @WithConverter(TimeSpan.class)
        @Setting(
                doc = "What clients are told to wait when no worker is there or all are busy.",
                maxTime = "1h")
        Duration retryAfter();

        @WithDefault("529")
        @Setting(
                doc = "Status of requests that are refused because of load: 529 or 503.",
                unit = "status",
                env = {"DYN_HTTP_OVERLOAD_STATUS_CODE"},
                min = 503,
                max = 529)
        int overloadStatus();

        @WithDefault("4096")
        @Setting(
                doc = "Connections that may wait to be accepted.",
                unit = "connections",
                env = {"DYN_HTTP_LISTEN_BACKLOG"},
                min = 1,
                max = 65535)
        int acceptBacklog();

        @WithDefault("30s")
        @WithConverter(TimeSpan.class)
        @Setting(
                doc = "How long running answers may take to end after a signal to stop.",
                flags = {"--shutdown-grace"},
                maxTime = "1h")
        Duration shutdownGrace();

        @WithDefault("0s")
        @WithConverter(TimeSpan.class)
        @Setting(
                doc =
                        "Pause between a signal to stop and the end of taking requests: `/ready` says"
                                + " 503 meanwhile, so that balancers and Kubernetes send no more.",
                flags = {"--shutdown-delay"},
                maxTime = "10m")
        Duration shutdownDelay();
    }

    /** How a worker is chosen. */
    interface Router {
        @WithDefault("kv")
        @Setting(
                doc =
                        "How a worker is chosen: by cached prefix and load (kv), random,"
                                + " round-robin, by fewest running requests of all (least-loaded) or of"
                                + " two drawn (power-of-two), by the client alone (direct), or by where"
                                + " earlier prompts went (vllm-cache-aware).",
                flags = {"--router-mode"},
                env = {"DYN_ROUTER_MODE"})
        RoutingMode mode();

        @WithDefault("blocks")
        @Setting(
                doc =
                        "What costs are made of in mode kv: weighted blocks to prefill and in"
                                + " decode (blocks), or the milliseconds until the answer and those"
                                + " that the others lose, learnt from the workers' answers (latency).",
                flags = {"--router-cost"})
        RoutingCost cost();

        Latency latency();

        /** What requests of a policy class may do, by its name in `x-dynamo-meta-policy-class`. */
        Map<String, ClassRouting> classes();

        @WithDefault("1.0")
        @Setting(
                doc =
                        "Worth of a cached block on the GPU, in blocks that need no prefill. Above"
                                + " 1 favours caches over balance; 0 ignores caches and follows no KV"
                                + " events.",
                unit = "blocks",
                flags = {"--router-kv-overlap-score-credit"},
                env = {"DYN_ROUTER_KV_OVERLAP_SCORE_CREDIT"},
                min = 0,
                max = 1e6)
        double overlapScoreCredit();

        @WithDefault("0.0")
        @Setting(
                doc =
                        "How fast that worth shrinks on workers with more booked prefill than the"
                                + " least busy one: halved at an excess of one such prompt for 1, never"
                                + " for 0.",
                flags = {"--router-kv-overlap-score-credit-decay"},
                env = {"DYN_ROUTER_KV_OVERLAP_SCORE_CREDIT_DECAY"},
                min = 0,
                max = 1e6)
        double overlapScoreCreditDecay();

        @WithDefault("1.0")
        @Setting(
                doc =
                        "Weight of the blocks to prefill against the blocks in decode. Higher"
                                + " favours time to first token, lower an even decode.",
                flags = {"--router-prefill-load-scale"},
                env = {"DYN_ROUTER_PREFILL_LOAD_SCALE"},
                min = 0,
                max = 1e6)
        double prefillLoadScale();

        @WithDefault("0.0")
        @Setting(
                doc = "Cost of each request that runs on a worker already.",
                unit = "blocks",
                flags = {"--router-decode-active-request-weight"},
                env = {"DYN_ROUTER_DECODE_ACTIVE_REQUEST_WEIGHT"},
                min = 0,
                max = 1e6)
        double decodeActiveRequestWeight();

        @Setting(
                doc =
                        "Deprecated: sets prefill-load-scale, and at 0 also overlap-score-credit to"
                                + " 0.",
                flags = {"--router-kv-overlap-score-weight", "--kv-overlap-score-weight"},
                env = {"DYN_ROUTER_KV_OVERLAP_SCORE_WEIGHT", "DYN_OVERLAP_SCORE_WEIGHT"},
                min = 0,
                max = 1e6)
        Optional<Double> overlapScoreWeight();

        @WithDefault("false")
        @Setting(
                doc =
                        "Balance load alone: mode kv, no KV events, nothing cached counts, and"
                                + " every running request's blocks count in full. Overrules the keys it"
                                + " is made of.",
                flags = {"--load-aware"},
                env = {"DYN_ROUTER_LOAD_AWARE"})
        boolean loadAware();

        @WithDefault("false")
        @Setting(
                doc =
                        "For agents with long shared prefixes and 16-token blocks: overlap-score-"
                                + "credit 2, prefill-load-scale 4, decode-active-request-weight 64."
                                + " Overrules these keys; not with load-aware.",
                flags = {"--agentic"},
                env = {"DYN_ROUTER_AGENTIC"})
        boolean agentic();

        @WithDefault("0.0")
        @Setting(
                doc =
                        "Randomness of the choice: temperature of a softmax over the costs; 0 takes"
                                + " the lowest cost.",
                flags = {"--router-temperature"},
                env = {"DYN_ROUTER_TEMPERATURE"},
                min = 0,
                max = 1e6)
        double temperature();

        @WithDefault("0.75")
        @Setting(
                doc = "Worth of a block in host memory, as a part of one on the GPU.",
                flags = {"--router-host-cache-hit-weight"},
                env = {"DYN_ROUTER_HOST_CACHE_HIT_WEIGHT"},
                min = 0,
                max = 1)
        double hostCacheHitWeight();

        @WithDefault("0.25")
        @Setting(
                doc = "Worth of a block on disk or in a shared pool, as a part of one on the GPU.",
                flags = {"--router-disk-cache-hit-weight"},
                env = {"DYN_ROUTER_DISK_CACHE_HIT_WEIGHT"},
                min = 0,
                max = 1)
        double diskCacheHitWeight();

        @WithDefault("true")
        @Setting(
                doc =
                        "Follow the engines' KV events. Off: no subscriptions; the index holds what"
                                + " this gateway has decided, for `warmpath.router.ttl`.",
                flags = {"--router-kv-events", "--kv-events"},
                offFlags = {"--no-router-kv-events", "--no-kv-events"},
                env = {"DYN_ROUTER_USE_KV_EVENTS"})
        boolean useKvEvents();

        @WithDefault("2m")
        @WithConverter(TimeSpan.class)
        @Setting(
                doc =
                        "Without KV events: how long a worker is taken to hold the prompts that"
                                + " were sent to it.",
                flags = {"--router-ttl-secs"},
                env = {"DYN_ROUTER_TTL_SECS"},
                minTime = "1ms",
                maxTime = "30d")
        Duration ttl();

        @WithConverter(TimeSpan.class)
        @Setting(
                doc =
                        "With KV events: how long a worker is also taken to hold the prompts that"
                                + " were sent to it, until its events tell. 0: events alone. Not set:"
                                + " 5s with the cost latency, else events alone.",
                flags = {"--router-predicted-ttl-secs"},
                env = {"DYN_ROUTER_PREDICTED_TTL_SECS"},
                maxTime = "30d")
        Optional<Duration> predictedTtl();

        @WithDefault("5m")
        @WithConverter(TimeSpan.class)
        @Setting(
                doc =
                        "A request of which nothing was heard for this long no longer counts as"
                                + " load. Every piece of an answer counts as hearing of it.",
                env = {"DYN_ROUTER_ACTIVE_REQUEST_EXPIRY_SECS"},
                minTime = "1s",
                maxTime = "30d")
        Duration activeRequestExpiry();

        @WithDefault("true")
        @Setting(
                doc = "Count the KV blocks of running requests as load.",
                flags = {"--router-track-active-blocks", "--track-active-blocks"},
                offFlags = {"--no-router-track-active-blocks", "--no-track-active-blocks"},
                env = {"DYN_ROUTER_TRACK_ACTIVE_BLOCKS"})
        boolean trackActiveBlocks();

        @WithDefault("true")
        @Setting(
                doc =
                        "Count prompt tokens as load until the first token of the answer. Off:"
                                + " prompts cost and book no prefill.",
                flags = {"--router-track-prefill-tokens", "--track-prefill-tokens"},
                offFlags = {"--no-router-track-prefill-tokens", "--no-track-prefill-tokens"},
                env = {"DYN_ROUTER_TRACK_PREFILL_TOKENS"})
        boolean trackPrefillTokens();

        @WithDefault("false")
        @Setting(
                doc =
                        "Count the blocks of answers as they grow. Blocks that no other request"
                                + " uses weigh less as the answer nears the length that"
                                + " `nvext.agent_hints.osl` expects. Needs `track-active-blocks`.",
                flags = {"--router-track-output-blocks", "--track-output-blocks"},
                offFlags = {"--no-router-track-output-blocks", "--no-track-output-blocks"},
                env = {"DYN_ROUTER_TRACK_OUTPUT_BLOCKS"})
        boolean trackOutputBlocks();

        @WithDefault("true")
        @Setting(
                doc =
                        "Equal prefixes of requests that run on one rank occupy their blocks once."
                                + " Off: every request counts in full.",
                flags = {"--router-assume-kv-reuse", "--assume-kv-reuse"},
                offFlags = {"--no-router-assume-kv-reuse", "--no-assume-kv-reuse"},
                env = {"DYN_ROUTER_ASSUME_KV_REUSE"})
        boolean assumeKvReuse();
    }

    /** Whether and when a request may start. */
    interface Admission {
        @Setting(
                doc =
                        "A request waits while every rank that it may go to has more prompt tokens"
                                + " booked than this fraction of what its engine takes per step. Not"
                                + " set: no queue.",
                unit = "fraction",
                flags = {"--router-queue-threshold"},
                env = {"DYN_ROUTER_QUEUE_THRESHOLD"},
                min = 0,
                max = 1e6)
        Optional<Double> queueThreshold();

        @WithDefault("fcfs")
        @Setting(
                doc =
                        "Who leaves the queue first: fcfs (first come, first served) or wspt (least"
                                + " work first).",
                flags = {"--router-queue-policy"},
                env = {"DYN_ROUTER_QUEUE_POLICY"})
        QueueOrder queuePolicy();

        @Setting(
                doc =
                        "YAML file with policy classes: queues with shares, thresholds and limits"
                                + " of their own. In place of `queue-threshold` and `queue-policy`.",
                unit = "path",
                flags = {"--router-policy-config"},
                env = {"DYN_ROUTER_POLICY_CONFIG"})
        Optional<String> policyConfig();

        @WithDefault("10s")
        @WithConverter(TimeSpan.class)
        @Setting(
                doc =
                        "A request that waited this long asks the index again before it is routed;"
                                + " 0: never.",
                env = {"DYN_ROUTER_OVERLAP_REFRESH_AFTER_SECS"},
                maxTime = "1h")
        Duration overlapRefreshAfter();

        @WithDefault("8192")
        @Setting(
                doc = "Prompt tokens per step of engines that do not tell theirs.",
                unit = "tokens",
                flags = {"--max-num-batched-tokens"},
                min = 1,
                max = 1e9)
        int maxNumBatchedTokens();

        @Setting(
                doc =
                        "A rank with more than this fraction of its KV blocks in use gets no"
                                + " request; when all are so, requests are refused.",
                unit = "fraction",
                flags = {"--active-decode-blocks-threshold"},
                env = {"DYN_ACTIVE_DECODE_BLOCKS_THRESHOLD"},
                min = 0,
                max = 1)
        Optional<Double> activeDecodeBlocksThreshold();

        @Setting(
                doc = "A rank with more prompt tokens booked than this gets no request.",
                unit = "tokens",
                flags = {"--active-prefill-tokens-threshold"},
                env = {"DYN_ACTIVE_PREFILL_TOKENS_THRESHOLD"},
                min = 0,
                max = 1e18)
        Optional<Long> activePrefillTokensThreshold();

        @Setting(
                doc =
                        "A rank with more prompt tokens booked than this fraction of what its"
                                + " engine takes per step gets no request.",
                unit = "fraction",
                flags = {"--active-prefill-tokens-threshold-frac"},
                env = {"DYN_ACTIVE_PREFILL_TOKENS_THRESHOLD_FRAC"},
                min = 0,
                max = 1e6)
        Optional<Double> activePrefillTokensThresholdFrac();
    }

    /** Settings of single router modes. */
    interface Routing {
        VllmCacheAware vllmCacheAware();
    }

    /** The mode vllm-cache-aware. */
    interface VllmCacheAware {
        @WithDefault("0")
        @Setting(
                doc = "Tokens per block; 0: as each engine tells.",
                unit = "tokens",
                min = 0,
                max = 65536)
        int blockSize();

        @WithDefault("100000")
        @Setting(
                doc =
                        "Blocks remembered of each worker after an eviction; between two of them at"
                                + " most twice as many.",
                unit = "blocks",
                min = 1,
                max = 1 << 30)
        long maxBlocksPerBackend();

        @WithDefault("60s")
        @WithConverter(TimeSpan.class)
        @Setting(
                doc = "Time between evictions; a bare number counts seconds.",
                minTime = "10ms",
                maxTime = "1d")
        Duration evictionIntervalSecs();

        @WithDefault("0.3")
        @Setting(
                doc = "Part of a prompt's blocks that a worker must hold more of than this.",
                min = 0,
                max = 1)
        double cacheThreshold();

        @WithDefault("1.25")
        @Setting(
                doc =
                        "A worker gets a prompt for its blocks only while it runs fewer requests"
                                + " than this times the mean.",
                min = 1,
                max = 1e6)
        double loadFactor();

        @WithDefault("position")
        @Setting(
                doc =
                        "How a block is told from others: by its tokens and position, or by its"
                                + " tokens and all before them (chained), which takes no prompt for"
                                + " another.")
        BlockHashing hashing();

        /** What models have of their own, by model name. */
        Map<String, VllmCacheAwareModel> models();
    }

    /** One model in the mode vllm-cache-aware; what is not set is as for all. */
    interface VllmCacheAwareModel {
        @Setting(doc = "As `block-size`, for one model.", unit = "tokens", min = 0, max = 65536)
        Optional<Integer> blockSize();

        @Setting(
                doc = "As `max-blocks-per-backend`, for one model.",
                unit = "blocks",
                min = 1,
                max = 1 << 30)
        Optional<Long> maxBlocksPerBackend();

        @Setting(doc = "As `cache-threshold`, for one model.", min = 0, max = 1)
        Optional<Double> cacheThreshold();

        @Setting(doc = "As `load-factor`, for one model.", min = 1, max = 1e6)
        Optional<Double> loadFactor();

        @Setting(doc = "As `hashing`, for one model.")
        Optional<BlockHashing> hashing();
    }

    /** Where requests of one policy class may go. */
    interface ClassRouting {
        @Setting(
                doc =
                        "Taints of workers that requests of this policy class tolerate: name,"
                                + " name=value, or `*` for all.",
                unit = "name=value,...")
        Optional<List<String>> tolerations();
    }

    /** How fast engines are taken to be until their answers say otherwise, for the cost latency. */
    interface Latency {
        @WithDefault("7.5")
        @Setting(
                doc = "Time of one engine step with one short request.",
                unit = "ms",
                min = 0,
                max = 1e9)
        double stepMillis();

        @WithDefault("20")
        @Setting(doc = "What each running request adds to a step.", unit = "us", min = 0, max = 1e9)
        double decodeMicrosPerRequest();

        @WithDefault("52")
        @Setting(
                doc = "What each token held by running requests adds to a step.",
                unit = "ns",
                min = 0,
                max = 1e9)
        double decodeNanosPerToken();

        @WithDefault("32")
        @Setting(
                doc = "Prefill time of a token, its attention left out.",
                unit = "us",
                min = 0,
                max = 1e9)
        double prefillMicrosPerToken();

        @WithDefault("1.32")
        @Setting(
                doc = "Prefill time of a token for each token before it.",
                unit = "ns",
                min = 0,
                max = 1e9)
        double prefillNanosPerPair();

        @WithDefault("150000")
        @Setting(
                doc = "How fast cached tokens come from host memory.",
                unit = "tokens/s",
                min = 1,
                max = 1e9)
        double hostTokensPerSecond();

        @WithDefault("75000")
        @Setting(
                doc = "How fast cached tokens come from disk or a pool.",
                unit = "tokens/s",
                min = 1,
                max = 1e9)
        double poolTokensPerSecond();

        @WithDefault("1.0")
        @Setting(
                doc =
                        "How much dearer work becomes against waiting as the fleet fills; 0.5 suits"
                                + " engines with a host tier.",
                unit = "",
                min = 0,
                max = 1e9)
        double workPrice();

        @WithDefault("256")
        @Setting(
                doc = "Length of an answer until some were seen.",
                unit = "tokens",
                min = 1,
                max = 1e9)
        double outputTokens();
    }

    /** The prefix index. */
    interface Index {
        @WithDefault("native")
        @Setting(
                doc =
                        "native: the C++ library; java: the literal reference, slow, for debugging."
                                + " There is no silent fallback.",
                flags = {"--index-implementation"})
        IndexImplementation implementation();

        @Setting(
                doc = "Folder with the native library; empty: the one packed into the jar.",
                unit = "path")
        Optional<String> nativePath();
    }

    /** The side that engines see. */
    interface Upstream {
        @WithDefault("2s")
        @WithConverter(TimeSpan.class)
        @Setting(
                doc = "How long connecting to an engine may take.",
                minTime = "1ms",
                maxTime = "1m")
        Duration connectTimeout();

        @WithDefault("10m")
        @WithConverter(TimeSpan.class)
        @Setting(
                doc =
                        "How long an engine may take from the request to the first byte of its"
                                + " answer: queueing and prefill.",
                minTime = "10ms",
                maxTime = "1d")
        Duration firstByteTimeout();

        @WithDefault("2m")
        @WithConverter(TimeSpan.class)
        @Setting(
                doc = "Longest silence in the middle of an answer.",
                minTime = "10ms",
                maxTime = "1d")
        Duration idleTimeout();

        @WithDefault("4s")
        @WithConverter(TimeSpan.class)
        @Setting(
                doc =
                        "How long an unused connection to an engine is kept. Must be below the"
                                + " engine's own limit, which is 5 s for vLLM and SGLang.",
                minTime = "1ms",
                maxTime = "1h")
        Duration keepAliveTimeout();

        @WithDefault("16384")
        @Setting(
                doc = "Connections to one worker per event loop; further requests wait for one.",
                unit = "connections",
                min = 1,
                max = 1e6)
        int maxConnectionsPerWorker();

        @WithDefault("auto")
        @Setting(
                doc =
                        "Answers' bytes go from the engine's socket to the client's past the HTTP"
                                + " codecs wherever that is possible (`auto`), or never (`off`:"
                                + " several times the CPU, to rule it out when something is"
                                + " wrong).")
        RawPath rawPath();

        @WithDefault("false")
        @Setting(
                doc =
                        "Leave `nvext` in the bodies that engines get. It is taken out by default,"
                                + " as strict engines refuse it; needed when a worker is a gateway.")
        boolean forwardNvext();

        @WithDefault("true")
        @Setting(
                doc =
                        "Ask SGLang and vLLM for the usage of every stream in the modes that"
                                + " predict what is cached (kv, vllm-cache-aware), to compare. A"
                                + " client that has not asked for it does not get to see it.")
        boolean requestUsage();

        Tls tls();

        PassThrough passThrough();
    }

    /** APIs whose requests are passed on without a look at prompt and answer. */
    interface PassThrough {
        @WithDefault("10m")
        @WithConverter(TimeSpan.class)
        @Setting(
                doc =
                        "How long an engine may take to the first byte of its answer: embeddings,"
                                + " rerank, responses, audio, images.",
                minTime = "10ms",
                maxTime = "1d")
        Duration firstByteTimeout();

        @WithDefault("2m")
        @WithConverter(TimeSpan.class)
        @Setting(
                doc = "Longest silence in the middle of such an answer.",
                minTime = "10ms",
                maxTime = "1d")
        Duration idleTimeout();
    }

    /** Engines behind {@code https}. */
    interface Tls {
        @Setting(
                doc =
                        "PEM file of the certificates that may sign engines' certificates; unset:"
                                + " those that the JDK trusts.",
                unit = "path")
        Optional<String> caFile();

        @Setting(
                doc =
                        "PEM file of the gateway's own certificate and its chain, for engines that"
                                + " ask for one.",
                unit = "path")
        Optional<String> certFile();

        @Setting(
                doc = "PEM file of its private key: PKCS #8 (`BEGIN PRIVATE KEY`), not encrypted.",
                unit = "path")
        Optional<String> keyFile();

        @WithDefault("true")
        @Setting(
                doc =
                        "Check engines' certificates and the names in them. Off, any certificate"
                                + " will do.")
        boolean verify();
    }

    /** Prompt to token ids. */
    interface Tokens {
        @Setting(
                doc =
                        "tokenizer.json per model name; `--tokenizer MODEL=FILE` may be repeated, a"
                                + " bare `--tokenizer FILE` serves every other model.",
                unit = "path",
                flags = {"--tokenizer"})
        Map<String, String> tokenizers();

        @Setting(doc = "tokenizer.json of models without an entry of their own.", unit = "path")
        Optional<String> defaultTokenizer();

        @WithDefault("auto")
        @Setting(
                doc =
                        "auto: the C++ tokenizer for files that it understands wholly, the"
                                + " tokenizers library for the others; library: always the latter."
                                + " Both give the same ids.")
        TokenizerImplementation implementation();

        @WithDefault("0ms")
        @WithConverter(TimeSpan.class)
        @Setting(
                doc =
                        "How often models' files are looked at; what has changed is loaded. 0ms:"
                                + " only on `POST /models/reload`.",
                maxTime = "1d")
        Duration reloadInterval();

        @WithDefault("0")
        @Setting(
                doc =
                        "Threads that tokenise; 0: one per two cores, at least one. Long prompts"
                                + " have half as many of their own, at least one.",
                unit = "threads",
                min = 0,
                max = 1024)
        int threads();

        @WithDefault("256")
        @Setting(
                doc = "Prompts that may wait to be tokenised; further ones are routed by load.",
                unit = "prompts",
                min = 1,
                max = 1e6)
        int queueSize();

        @WithDefault("2s")
        @WithConverter(TimeSpan.class)
        @Setting(
                doc = "A prompt that takes longer to tokenise is routed by load alone.",
                minTime = "1ms",
                maxTime = "1h")
        Duration deadline();
    }

    /** One model. */
    interface ModelEntry {
        @Setting(
                doc =
                        "Directory with the model's tokenizer, chat template and configuration, as"
                                + " it is published; or its tokenizer.json with the others beside"
                                + " it.",
                unit = "path")
        Optional<String> path();

        @Setting(doc = "Its tokenizer.json, where that is not the one of `path`.", unit = "path")
        Optional<String> tokenizer();

        @WithDefault("false")
        @Setting(
                doc =
                        "Ask the engines' own `/tokenize` for prompts whose tokens the files here"
                                + " do not give: files that are missing or broken, prompts that an"
                                + " engine makes by code.")
        boolean askEngine();

        @Setting(
                doc =
                        "File with its chat template, in place of those of `path`: what the engines"
                                + " were given with `--chat-template`.",
                unit = "path")
        Optional<String> chatTemplate();

        @Setting(
                doc =
                        "Tokens per KV block of its workers that neither tell it nor have it"
                                + " configured, in place of `warmpath.fleet.default-block-size`.",
                unit = "tokens",
                min = 1,
                max = 65536)
        Optional<Integer> blockSize();

        @Setting(
                doc =
                        "Cache salt of all its requests, which keeps their blocks apart in the"
                                + " engines' caches; a client's own salt goes behind it and a"
                                + " colon.",
                unit = "text without a colon")
        Optional<String> namespace();

        @Setting(doc = "Other names under which clients find it.", unit = "name,name,...")
        Optional<List<String>> aliases();

        @Setting(
                doc =
                        "Its LoRA adapters, as engines list them. They have its tokens, and blocks"
                                + " of their own.",
                unit = "name,name,...")
        Optional<List<String>> lora();
    }

    /** The engines' KV events. */
    interface Events {
        @WithDefault("zmq")
        @Setting(
                doc =
                        "How KV events come: straight from the engines, or through NATS JetStream"
                                + " from relays beside the engines (`./warmpath relay`).",
                flags = "--event-plane",
                env = "DYN_EVENT_PLANE")
        EventPlane plane();

        @WithDefault("100ms")
        @WithConverter(TimeSpan.class)
        @Setting(
                doc = "First pause before connecting to an event source again; doubles.",
                minTime = "1ms",
                maxTime = "1m")
        Duration reconnectMinDelay();

        @WithDefault("5s")
        @WithConverter(TimeSpan.class)
        @Setting(
                doc = "Longest pause before connecting to an event source again.",
                minTime = "1ms",
                maxTime = "10m")
        Duration reconnectMaxDelay();

        @WithDefault("30s")
        @WithConverter(TimeSpan.class)
        @Setting(
                doc = "Silence of an event source after which it is asked for missed events.",
                minTime = "100ms",
                maxTime = "1d")
        Duration auditInterval();

        @WithDefault("5s")
        @WithConverter(TimeSpan.class)
        @Setting(
                doc = "How long missed events are waited for when an engine replays them.",
                minTime = "10ms",
                maxTime = "5m")
        Duration replayTimeout();

        @WithDefault("10s")
        @WithConverter(TimeSpan.class)
        @Setting(
                doc =
                        "How long an engine may answer requests with new blocks and publish"
                                + " nothing, before what is known of its cache no longer counts.",
                minTime = "100ms",
                maxTime = "1d")
        Duration stallTimeout();

        @WithDefault("0.5")
        @Setting(
                doc =
                        "What a known block counts while events of its rank are missing and being"
                                + " repaired, or late.",
                min = 0,
                max = 1)
        double doubtfulCredit();
    }

    /** Workers in general. */
    interface Fleet {
        @WithDefault("16")
        @Setting(
                doc = "Tokens per KV block of engines that neither tell it nor have it configured.",
                unit = "tokens",
                flags = {"--kv-cache-block-size"},
                env = {"DYN_KV_CACHE_BLOCK_SIZE"},
                min = 1,
                max = 65536)
        int defaultBlockSize();

        @WithDefault("/health")
        @Setting(doc = "Path that tells whether an engine is well.", unit = "path")
        String healthPath();

        @WithDefault("2s")
        @WithConverter(TimeSpan.class)
        @Setting(doc = "Time between health checks.", minTime = "10ms", maxTime = "10m")
        Duration healthInterval();

        @WithDefault("1s")
        @WithConverter(TimeSpan.class)
        @Setting(
                doc = "How long a health check, or a question to an engine, may take.",
                minTime = "10ms",
                maxTime = "1m")
        Duration healthTimeout();

        @WithDefault("2")
        @Setting(
                doc =
                        "Failed checks in a row that make a worker unhealthy. A refused connection"
                                + " does so at once.",
                unit = "checks",
                min = 1,
                max = 100)
        int failuresToUnhealthy();

        @WithDefault("500ms")
        @WithConverter(TimeSpan.class)
        @Setting(
                doc = "Time between health checks of an unhealthy worker.",
                minTime = "10ms",
                maxTime = "10m")
        Duration unhealthyInterval();

        @WithDefault("60s")
        @WithConverter(TimeSpan.class)
        @Setting(
                doc = "How long a worker that is being removed may take to finish its requests.",
                maxTime = "1d")
        Duration drainTimeout();

        @WithDefault("1s")
        @WithConverter(TimeSpan.class)
        @Setting(
                doc =
                        "Time between looks at the configuration file, whose workers are taken up"
                                + " anew when it has changed. 0: never.",
                maxTime = "1h")
        Duration reloadInterval();

        FleetNatsConfig nats();
    }

    /** Operators' endpoints. */
    interface Admin {
        @Setting(
                doc =
                        "Bearer token of the admin endpoints (/workers). Without one they answer"
                                + " only to the machine itself.",
                secret = true)
        Optional<String> token();

        @Setting(
                doc = "File that holds the admin token, in place of `warmpath.admin.token`.",
                unit = "path",
                flags = {"--admin-token-file"})
        Optional<String> tokenFile();
    }

    /** Telling why a worker was chosen. */
    interface Explain {
        @WithDefault("on-request")
        @Setting(
                doc =
                        "When answer headers tell the chosen worker and why: off, on-request (when"
                                + " the request has `x-warmpath-explain: 1`) or always.",
                flags = {"--explain"})
        ExplainHeaders headers();

        @WithDefault("0")
        @Setting(
                doc =
                        "Last decisions that are kept in full for `GET /router/decisions` and `POST"
                                + " /router/replay`. 0: none, at no cost.",
                unit = "decisions",
                flags = {"--explain-decisions"})
        int decisions();

        @Setting(
                doc =
                        "File to which every decision, and how it ended, is appended as a line of"
                                + " JSON, for `warmpath lab --from-log`; what the disk is too slow"
                                + " for is counted and left out. Empty: none.",
                unit = "path",
                flags = {"--explain-decisions-file"})
        Optional<String> decisionsFile();
    }

    /** Requests that the gateway sends to itself before it is ready. */
    interface Warmup {
        @WithDefault("300")
        @Setting(
                doc =
                        "Requests that the gateway sends to itself, against an engine of its own on"
                                + " loopback, before it says that it is ready; 0: none. No metric"
                                + " counts them.",
                unit = "requests",
                flags = {"--warmup-requests"},
                min = 0,
                max = 1e6)
        int requests();

        @WithDefault("2s")
        @WithConverter(TimeSpan.class)
        @Setting(doc = "Longest time that the warm-up may take.", minTime = "1ms", maxTime = "5m")
        Duration time();
    }

    /** One engine. */
    interface WorkerEntry {
        @Setting(
                doc = "Base URL of the engine's HTTP API, as in `warmpath.worker-urls`.",
                unit = "URL")
        String url();

        @Setting(doc = "Name in logs, headers and metrics; default w0, w1, ...", unit = "name")
        Optional<String> name();

        @Setting(
                doc = "Identity in APIs; default: XXH64 of the URL.",
                unit = "whole number below 2^64")
        Optional<String> id();

        @Setting(doc = "sglang, vllm or openai; default: asked of the engine.")
        Optional<EngineType> kind();

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
                doc = "What operators tell it apart by; shown in `GET /workers`.",
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
    }
}
