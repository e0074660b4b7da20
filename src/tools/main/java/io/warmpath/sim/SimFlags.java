package io.warmpath.sim;

import io.warmpath.sim.half.Disaggregation;
import io.warmpath.sim.wire.WireFormat;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
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

    private static final Pattern DURATION = Pattern.compile("(\\d+(?:\\.\\d+)?)(us|ms|s)");
    private static final Map<String, Double> NANOS = Map.of("us", 1e3, "ms", 1e6, "s", 1e9);

    /**
     * @throws IllegalArgumentException saying which flag is wrong and what it takes
     */
    static SimFlags parse(String... args) {
        Map<String, List<String>> given = new HashMap<>();
        for (int i = 0; i < args.length; i++) {
            String flag = args[i];
            String value = null;
            int equals = flag.indexOf('=');
            if (flag.startsWith("--") && equals > 0) {
                value = flag.substring(equals + 1);
                flag = flag.substring(0, equals);
            }
            if (flag.equals("--help") || flag.equals("-h")) {
                return new SimFlags(SimOptions.builder(), 0, null, null, true);
            }
            if (!HELP.contains("  " + flag + " ") || !flag.startsWith("--")) {
                throw new IllegalArgumentException(
                        "unknown flag " + flag + "; warmpath sim --help lists them");
            }
            if (SWITCHES.contains(flag)) {
                if (value != null) {
                    throw new IllegalArgumentException(flag + " takes no value");
                }
                value = "";
            }
            if (value == null) {
                if (++i == args.length) {
                    throw new IllegalArgumentException(flag + " needs a value");
                }
                value = args[i];
            }
            given.computeIfAbsent(flag, f -> new ArrayList<>()).add(value);
        }
        return new Reader(given).read();
    }

    /** Typed access to the given values; the last one wins. */
    private record Reader(Map<String, List<String>> given) {
        SimFlags read() {
            SimOptions.Builder o = SimOptions.builder();
            o.host(text("--host", "127.0.0.1"));
            o.port(number("--port", 30_000, 0, 65_535));
            o.models(given.getOrDefault("--model", List.of("demo")));
            o.wire(WireFormat.of(text("--wire", WireFormat.SGLANG_MAP.flag())));
            o.blockSize(number("--block-size", 16, 1, 4096));
            o.gpuBlocks(number("--gpu-blocks", 4096, 1, 10_000_000));
            o.hostBlocks(number("--host-blocks", 0, 0, 10_000_000));
            o.ranks(number("--dp-size", 1, 1, 256));
            o.maxBatch(number("--max-batch", 32, 1, 100_000));
            o.batchTokens(number("--batch-tokens", 8192, 1, 10_000_000));
            o.eventsPort(number("--events-port", 0, 0, 65_535));
            o.replayPort(number("--replay-port", 0, 0, 65_535));
            o.topic(text("--topic", "kv-events"));
            o.bufferSteps(number("--buffer-steps", 10_000, 1, 10_000_000));
            o.rawHashes(oneOf("--hash-form", "int", "bytes").equals("bytes"));
            if (given.containsKey("--hash-seed")) {
                o.hashSeed(text("--hash-seed", ""));
            }
            o.prefillTokensPerSecond(rate("--prefill-tokens-per-second", 20_000));
            o.hostLoadTokensPerSecond(rate("--host-load-tokens-per-second", 150_000));
            o.interToken(duration("--itl", "10ms"));
            o.answerTokens(number("--answer-tokens", 64, 1, 1_000_000));
            o.streamsIncrements(
                    oneOf("--generate-stream", "cumulative", "incremental").equals("incremental"));
            o.speed(rate("--speed", 1));
            o.seed(wide("--seed", 1));
            o.agents(agents());
            disaggregation(o);
            String tokenizer = text("--tokenizer", "");
            int poolPages = number("--pool-pages", 0, 0, 100_000_000);
            return new SimFlags(
                    o,
                    number("--count", 1, 1, 1000),
                    tokenizer.isEmpty() ? null : Path.of(tokenizer),
                    poolPages == 0
                            ? null
                            : new Pool(
                                    poolPages,
                                    number("--pool-port", 0, 0, 65_535),
                                    rate("--pool-tokens-per-second", 75_000)),
                    false);
        }

        private void disaggregation(SimOptions.Builder o) {
            String mode = text("--disaggregation-mode", "null");
            if (mode.equals("null")) {
                return;
            }
            o.disaggregation(
                    new Disaggregation(
                            oneOf("--disaggregation-mode", "prefill", "decode").equals("prefill")
                                    ? Disaggregation.Mode.PREFILL
                                    : Disaggregation.Mode.DECODE,
                            number(
                                    "--disaggregation-bootstrap-port",
                                    Disaggregation.BOOTSTRAP_PORT,
                                    0,
                                    65_535),
                            number("--kv-bytes-per-token", 128 << 10, 1, 1 << 30),
                            rate("--transfer-gbps", 25) * 1e9 / 8,
                            duration("--transfer-setup", "2ms"),
                            duration("--disaggregation-timeout", "300s")));
        }

        private AgentFeatures agents() {
            return new AgentFeatures(
                    given.containsKey("--enable-streaming-session"),
                    given.containsKey("--enable-session-radix-cache"),
                    given.containsKey("--enable-priority-scheduling"),
                    given.containsKey("--schedule-low-priority-values-first"),
                    oneOf("--radix-eviction-policy", "lru", "priority").equals("priority"),
                    given.containsKey("--hicache-max-pinned-ratio") ? pinnedRatio() : null);
        }

        private double pinnedRatio() {
            String value = text("--hicache-max-pinned-ratio", "");
            try {
                return Double.parseDouble(value);
            } catch (NumberFormatException e) {
                throw bad("--hicache-max-pinned-ratio", value, "a number from 0 to below 1");
            }
        }

        private String text(String flag, String otherwise) {
            List<String> values = given.get(flag);
            return values == null ? otherwise : values.getLast();
        }

        private String oneOf(String flag, String first, String second) {
            String value = text(flag, first);
            if (!value.equals(first) && !value.equals(second)) {
                throw bad(flag, value, first + " or " + second);
            }
            return value;
        }

        private int number(String flag, int otherwise, int least, int most) {
            String value = text(flag, String.valueOf(otherwise));
            try {
                int n = Integer.parseInt(value);
                if (n >= least && n <= most) {
                    return n;
                }
            } catch (NumberFormatException e) {
                throw bad(flag, value, "a number from " + least + " to " + most);
            }
            throw bad(flag, value, "a number from " + least + " to " + most);
        }

        private long wide(String flag, long otherwise) {
            String value = text(flag, String.valueOf(otherwise));
            try {
                return Long.parseLong(value);
            } catch (NumberFormatException e) {
                throw bad(flag, value, "a whole number");
            }
        }

        private double rate(String flag, double otherwise) {
            String value = text(flag, String.valueOf(otherwise));
            try {
                double n = Double.parseDouble(value);
                if (n > 0 && n < Double.POSITIVE_INFINITY) {
                    return n;
                }
            } catch (NumberFormatException e) {
                throw bad(flag, value, "a number above 0");
            }
            throw bad(flag, value, "a number above 0");
        }

        private Duration duration(String flag, String otherwise) {
            String value = text(flag, otherwise);
            Matcher m = DURATION.matcher(value);
            if (!m.matches()) {
                throw bad(flag, value, "a duration such as 10ms, 500us or 1s");
            }
            double unit = NANOS.getOrDefault(m.group(2), 0.0);
            return Duration.ofNanos((long) (Double.parseDouble(m.group(1)) * unit));
        }

        private static IllegalArgumentException bad(String flag, String value, String wanted) {
            return new IllegalArgumentException(flag + " " + value + ": must be " + wanted);
        }
    }
}
