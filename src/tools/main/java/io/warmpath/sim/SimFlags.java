package io.warmpath.sim;

import io.warmpath.sim.half.Disaggregation;
import io.warmpath.sim.wire.WireFormat;
import java.nio.file.Path;
import java.util.List;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * The flags of {@code warmpath sim}.
 *
 * @param engine options of the first engine
 * @param count engines in this process; ports count up from the first one's
 * @param tokenizer null for the built-in demo model
 * @param pool null for none
 */
record SimFlags(
        SimOptions.Builder engine,
        int count,
        @Nullable Path tokenizer,
        @Nullable Pool pool,
        boolean help) {
    /** The pool that the engines share. */
    record Pool(int pages, int port, double tokensPerSecond) {}

    static final String HELP =
            """
            warmpath sim - simulated LLM engines: real HTTP, KV events and cache, no model

              --host ADDRESS        address to listen on                        (127.0.0.1)
              --port N              HTTP port, 0 = any free one                 (30000)
              --count N             engines in this process, on ports that
                                    count up from --port                        (1)
              --model NAME          name it answers to; repeatable              (demo)
              --tokenizer FILE      tokenizer.json of a ChatML model            (demo model)
              --wire FORMAT         sglang-array, sglang-map, vllm-array
                                    or vllm-map                                 (sglang-map)

              --block-size N        tokens per KV block                         (16)
              --gpu-blocks N        blocks in GPU memory, per rank              (4096)
              --host-blocks N       blocks in host memory, per rank; 0 = none   (0)
              --dp-size N           data-parallel ranks, each with its cache    (1)
              --max-batch N         requests running at a time, per rank        (32)
              --batch-tokens N      prompt tokens computed in one step          (8192)

              --events-port N       PUB port of rank 0; rank N is N higher;
                                    0 = any free ones                           (0)
              --replay-port N       ROUTER port of rank 0, likewise             (0)
              --topic TEXT          topic of the events                         (kv-events)
              --buffer-steps N      event batches that can be replayed          (10000)
              --hash-form FORM      vLLM's block hashes as int or bytes         (int)
              --hash-seed TEXT      vLLM's PYTHONHASHSEED                       (vllm-none-hash)

              --prefill-tokens-per-second N     prompt tokens computed/second   (20000)
              --host-load-tokens-per-second N   tokens moved/second between
                                                GPU and host                    (150000)
              --itl DURATION        time between two tokens, such as 10ms       (10ms)
              --pool-pages N        pages of a Mooncake pool that the engines of
                                    this process share; 0 = none. Needs
                                    --host-blocks and one of SGLang's formats   (0)
              --pool-port N         admin HTTP of its master; 0 = a free one    (0)
              --pool-tokens-per-second N        tokens fetched/second from it   (75000)
              --answer-tokens N     length at which an answer ends by itself    (64)
              --generate-stream FORM            events of SGLang's /generate repeat
                                    all ids so far (cumulative) or tell
                                    the new ones (incremental)                  (cumulative)
              --enable-streaming-session        SGLang: sessions whose KV no eviction
                                                reaches, until they are closed
              --enable-session-radix-cache      SGLang: closing a session_id drops what
                                                only its requests have used
              --enable-priority-scheduling      SGLang: a request's priority orders the
                                                queue, the higher one first
              --schedule-low-priority-values-first   ... the lower one first
              --radix-eviction-policy POLICY    SGLang: lru, or priority: blocks of
                                                lower values go first         (lru)
              --hicache-max-pinned-ratio R      SGLang, a build with
                                                /hicache/pin_prefix: part of the host
                                                blocks that may be pinned, below 1.
                                                Not given: a build without it
              --disaggregation-mode MODE        SGLang: prefill or decode: one half of
                                                each request; null: all of it   (null)
              --disaggregation-bootstrap-port N where an engine that prefills is met,
                                                0 = a free one                  (8998)
              --disaggregation-timeout DURATION that the halves wait for each
                                                other                           (300s)
              --kv-bytes-per-token N            bytes moved from one to the
                                                other                           (131072)
              --transfer-gbps N                 at so many Gbit/s per engine    (25)
              --transfer-setup DURATION         and so long beside              (2ms)
              --speed FACTOR        all of the above this many times faster     (1)
              --seed N              of the answers' words                       (1)
              --help                this text

            While it runs: GET /sim/stats; /sim/kill, /sim/die?after=N[&scope=S],
            /sim/fail?status=S[&count=N][&retry-after=S], /sim/drop-events?n=N and
            /sim/template?start=TEXT break it on purpose.
            """;

    /** Flags that take no value. */
    private static final Set<String> SWITCHES =
            Set.of(
                    "--enable-streaming-session",
                    "--enable-session-radix-cache",
                    "--enable-priority-scheduling",
                    "--schedule-low-priority-values-first");

    /**
     * @throws IllegalArgumentException saying which flag is wrong and what it takes
     */
    static SimFlags parse(String... args) {
        FlagValues given = FlagValues.parse("warmpath sim", HELP, SWITCHES, List.of(args));
        return given.asksForHelp()
                ? new SimFlags(SimOptions.builder(), 0, null, null, true)
                : read(given);
    }

    private static SimFlags read(FlagValues given) {
        SimOptions.Builder o = SimOptions.builder();
        o.host(given.text("--host", "127.0.0.1"));
        o.port(given.number("--port", 30_000, 0, 65_535));
        o.models(given.given().getOrDefault("--model", List.of("demo")));
        o.wire(WireFormat.of(given.text("--wire", WireFormat.SGLANG_MAP.flag())));
        o.blockSize(given.number("--block-size", 16, 1, 4096));
        o.gpuBlocks(given.number("--gpu-blocks", 4096, 1, 10_000_000));
        o.hostBlocks(given.number("--host-blocks", 0, 0, 10_000_000));
        o.ranks(given.number("--dp-size", 1, 1, 256));
        o.maxBatch(given.number("--max-batch", 32, 1, 100_000));
        o.batchTokens(given.number("--batch-tokens", 8192, 1, 10_000_000));
        o.eventsPort(given.number("--events-port", 0, 0, 65_535));
        o.replayPort(given.number("--replay-port", 0, 0, 65_535));
        o.topic(given.text("--topic", "kv-events"));
        o.bufferSteps(given.number("--buffer-steps", 10_000, 1, 10_000_000));
        o.rawHashes(given.oneOf("--hash-form", "int", "bytes").equals("bytes"));
        if (given.has("--hash-seed")) {
            o.hashSeed(given.text("--hash-seed", ""));
        }
        o.prefillTokensPerSecond(given.rate("--prefill-tokens-per-second", 20_000));
        o.hostLoadTokensPerSecond(given.rate("--host-load-tokens-per-second", 150_000));
        o.interToken(given.duration("--itl", "10ms"));
        o.answerTokens(given.number("--answer-tokens", 64, 1, 1_000_000));
        o.streamsIncrements(
                given.oneOf("--generate-stream", "cumulative", "incremental")
                        .equals("incremental"));
        o.speed(given.rate("--speed", 1));
        o.seed(given.wide("--seed", 1));
        o.agents(agents(given));
        disaggregation(given, o);
        String tokenizer = given.text("--tokenizer", "");
        int poolPages = given.number("--pool-pages", 0, 0, 100_000_000);
        return new SimFlags(
                o,
                given.number("--count", 1, 1, 1000),
                tokenizer.isEmpty() ? null : Path.of(tokenizer),
                poolPages == 0
                        ? null
                        : new Pool(
                                poolPages,
                                given.number("--pool-port", 0, 0, 65_535),
                                given.rate("--pool-tokens-per-second", 75_000)),
                false);
    }

    private static void disaggregation(FlagValues given, SimOptions.Builder o) {
        String mode = given.text("--disaggregation-mode", "null");
        if (mode.equals("null")) {
            return;
        }
        o.disaggregation(
                new Disaggregation(
                        given.oneOf("--disaggregation-mode", "prefill", "decode").equals("prefill")
                                ? Disaggregation.Mode.PREFILL
                                : Disaggregation.Mode.DECODE,
                        given.number(
                                "--disaggregation-bootstrap-port",
                                Disaggregation.BOOTSTRAP_PORT,
                                0,
                                65_535),
                        given.number("--kv-bytes-per-token", 128 << 10, 1, 1 << 30),
                        given.rate("--transfer-gbps", 25) * 1e9 / 8,
                        given.duration("--transfer-setup", "2ms"),
                        given.duration("--disaggregation-timeout", "300s")));
    }

    private static AgentFeatures agents(FlagValues given) {
        return new AgentFeatures(
                given.has("--enable-streaming-session"),
                given.has("--enable-session-radix-cache"),
                given.has("--enable-priority-scheduling"),
                given.has("--schedule-low-priority-values-first"),
                given.oneOf("--radix-eviction-policy", "lru", "priority").equals("priority"),
                given.has("--hicache-max-pinned-ratio")
                        ? given.<Double>read(
                                "--hicache-max-pinned-ratio",
                                "",
                                "a number from 0 to below 1",
                                Double::valueOf,
                                n -> true)
                        : null);
    }
}
