package io.warmpath.sim;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.fasterxml.jackson.databind.JsonNode;
import io.warmpath.lab.workload.ChatShape;
import io.warmpath.lab.workload.GroupShape;
import io.warmpath.lab.workload.Workload;
import io.warmpath.sim.cache.CachePolicy;
import io.warmpath.sim.cache.CacheSpace;
import io.warmpath.sim.cache.KvCache;
import io.warmpath.sim.cache.SglangPageHasher;
import io.warmpath.sim.engine.HostDma;
import io.warmpath.sim.engine.QueueOrder;
import io.warmpath.sim.engine.RankScheduler;
import io.warmpath.sim.engine.Sequence;
import io.warmpath.sim.engine.Timing;
import io.warmpath.sim.engine.VirtualTimers;
import io.warmpath.sim.model.SimTokenizer;
import io.warmpath.sim.virtual.BlockCache;
import io.warmpath.sim.virtual.EngineModel;
import io.warmpath.sim.virtual.EngineWatcher;
import io.warmpath.sim.virtual.IdList;
import io.warmpath.sim.virtual.Job;
import io.warmpath.sim.virtual.VirtualEngine;
import io.warmpath.sim.virtual.VirtualTime;
import java.time.Duration;
import java.util.Arrays;
import java.util.HashMap;
import java.util.Map;
import java.util.function.IntConsumer;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/**
 * The lab's engine and the one that answers over HTTP are two programs that claim the same: what a
 * prompt finds cached, and when its first token comes. Both play the same requests here, the HTTP
 * one's scheduler and cache in virtual time too, so that no machine is too busy for it.
 */
class TruthCheckTest {
    private static final int BLOCK = 64;
    private static final int BATCH = 8192;
    private static final int SEQUENCES = 64;
    private static final double TOKENS_PER_SECOND = 20_000;
    private static final double HOST_TOKENS_PER_SECOND = 150_000;
    private static final int INTER_TOKEN_MILLIS = 10;
    private static final double CLOSE = 0.15;

    /** What both answered, by request. */
    private static final class Seen {
        final int[] cached;
        final double[] ttft;

        Seen(int requests) {
            cached = new int[requests];
            ttft = new double[requests];
        }

        double mean() {
            return Arrays.stream(ttft).average().orElseThrow();
        }

        double part(double of) {
            double[] sorted = ttft.clone();
            Arrays.sort(sorted);
            return sorted[(int) (of * sorted.length)];
        }
    }

    /** What the HTTP engine's {@link Timing} says, in the lab's words. */
    private static EngineModel model(int kvTokens) {
        return new EngineModel(
                "http",
                0,
                INTER_TOKEN_MILLIS,
                0,
                0,
                1000 / TOKENS_PER_SECOND,
                0,
                kvTokens,
                HOST_TOKENS_PER_SECOND,
                1,
                BATCH,
                SEQUENCES);
    }

    private static Seen lab(Workload w, double rate, int blocks, int hostBlocks) {
        VirtualTime time = new VirtualTime();
        Seen seen = new Seen(w.size());
        Map<Job, Integer> numbers = new HashMap<>();
        Map<Integer, Long> sent = new HashMap<>();
        IntConsumer[] send = {n -> {}};
        Turns turns =
                new Turns(
                        w,
                        (n, millis) -> time.after((long) (1e6 * millis), () -> send[0].accept(n)));
        VirtualEngine<Job> engine =
                new VirtualEngine<>(
                        time,
                        model(blocks * BLOCK),
                        BLOCK,
                        1,
                        new BlockCache(blocks),
                        false,
                        hostBlocks,
                        null,
                        new EngineWatcher<>() {
                            @Override
                            public void firstToken(Job job) {
                                int n = numbers.get(job);
                                seen.cached[n] = job.cachedTokens();
                                seen.ttft[n] = (time.nanos() - sent.get(n)) / 1e6;
                            }

                            @Override
                            public void ended(Job job) {
                                turns.ended(numbers.get(job));
                            }

                            @Override
                            public void stored(boolean host, int[] ids, int from, int to) {}

                            @Override
                            public void removed(boolean host, IdList ids) {}
                        });
        send[0] =
                n -> {
                    Job job = new Job(w.blocks()[n], w.prompt()[n], w.answer()[n]);
                    numbers.put(job, n);
                    sent.put(n, time.nanos());
                    engine.submit(job);
                };
        turns.begin(rate);
        while (time.step()) {
            // until nothing is left
        }
        turns.assertAllEnded();
        return seen;
    }

    private static Seen http(
            Workload w, double rate, int blocks, int hostBlocks, boolean early, int batchTokens) {
        VirtualTimers timers = new VirtualTimers();
        Timing timing =
                new Timing(
                        TOKENS_PER_SECOND,
                        HOST_TOKENS_PER_SECOND,
                        Duration.ofMillis(INTER_TOKEN_MILLIS),
                        1);
        KvCache cache =
                new KvCache(
                        BLOCK,
                        blocks,
                        hostBlocks,
                        new SglangPageHasher(),
                        new HostDma(timers, timing, () -> {}),
                        CachePolicy.LRU,
                        event -> {});
        RankScheduler rank =
                new RankScheduler(
                        cache,
                        timing,
                        timers,
                        SEQUENCES,
                        batchTokens,
                        early,
                        QueueOrder.ARRIVAL,
                        null,
                        () -> {});
        Seen seen = new Seen(w.size());
        IntConsumer[] send = {n -> {}};
        Turns turns =
                new Turns(
                        w,
                        (n, millis) ->
                                timers.schedule((long) (1e6 * millis), () -> send[0].accept(n)));
        send[0] =
                n -> {
                    long sent = timers.nanoTime();
                    rank.submit(
                            new Sequence(
                                    text(w, n),
                                    w.prompt()[n],
                                    CacheSpace.NONE,
                                    null,
                                    new Sequence.Listener() {
                                        @Override
                                        public void started(int cached, int host) {
                                            seen.cached[n] = cached;
                                            seen.ttft[n] = (timers.nanoTime() - sent) / 1e6;
                                        }

                                        @Override
                                        public void token(int index) {}

                                        @Override
                                        public void finished() {
                                            turns.ended(n);
                                        }
                                    }));
                };
        turns.begin(rate);
        timers.playAll();
        turns.assertAllEnded();
        return seen;
    }

    /** Tokens whose complete blocks are equal where their ids are. */
    private static int[] text(Workload w, int n) {
        int[] text = new int[w.prompt()[n] + w.answer()[n]];
        int[] blocks = w.blocks()[n];
        for (int i = 0; i < text.length; i++) {
            text[i] =
                    i / BLOCK < blocks.length
                            ? blocks[i / BLOCK] * BLOCK + i % BLOCK
                            : -1 - n * BLOCK - i % BLOCK;
        }
        return text;
    }

    /** Says which request comes when: at its time, or when those before it have ended. */
    private static final class Turns {
        private final Workload workload;
        private final Later later;
        private final int[] waitsFor;
        private int left;

        interface Later {
            void send(int number, double inMillis);
        }

        Turns(Workload workload, Later later) {
            this.workload = workload;
            this.later = later;
            this.waitsFor = workload.dependencies().clone();
            this.left = workload.size();
        }

        void begin(double rate) {
            for (int n = 0; n < workload.size(); n++) {
                if (waitsFor[n] == 0) {
                    later.send(n, workload.startMillis()[n] / rate);
                }
            }
        }

        void ended(int number) {
            left--;
            for (int next : workload.dependents()[number]) {
                if (--waitsFor[next] == 0) {
                    later.send(next, workload.pauseMillis()[next]);
                }
            }
        }

        void assertAllEnded() {
            assertEquals(0, left, "requests without an end");
        }
    }

    private static Workload chat(int sessions, long seed) {
        return new ChatShape(sessions, 6, 3000, 5, 4000, 1500, 60, 4, false).draw(seed);
    }

    private static void assertClose(double lab, double http, String what) {
        assertEquals(1, lab / http, CLOSE, what + ": lab " + lab + " ms, http " + http + " ms");
    }

    /**
     * Conversations up to two thirds of what an engine can compute. Beyond that they part: the HTTP
     * engine's answers come at their own pace while prompts are computed, so that the next question
     * comes sooner.
     */
    @ParameterizedTest(name = "rate {0}, as vLLM stores {1}, seed {2}")
    @CsvSource({"0.3, false, 1", "0.5, true, 2", "1, false, 3", "1, true, 4"})
    void both_find_the_same_cached_and_give_first_tokens_at_the_same_time(
            double rate, boolean early, long seed) {
        assertAgree(chat(150, seed), rate, early, "seed " + seed);
    }

    /** Nobody waits for an answer here, so a queue is as long for both, however it is loaded. */
    @ParameterizedTest(name = "rate {0}, seed {1}")
    @CsvSource({"2, 1", "4, 2", "5, 3"})
    void both_agree_with_long_queues_and_bursts(double rate, long seed) {
        assertAgree(bursts(seed), rate, false, "seed " + seed);
    }

    private static void assertAgree(Workload w, double rate, boolean early, String what) {
        Seen lab = lab(w, rate, w.ids(), 0);
        Seen http = http(w, rate, w.ids(), 0, early, BATCH);
        assertArrayEquals(http.cached, lab.cached, what);
        assertClose(lab.mean(), http.mean(), "mean, " + what);
        assertClose(lab.part(0.9), http.part(0.9), "p90, " + what);
    }

    /**
     * Six at a time, equal in 512 tokens only: who just catches a step and who does not would else
     * find different things.
     */
    private static Workload bursts(long seed) {
        return new GroupShape(600, 512, 1, 0, 0, 0, 1, 2500, 0.8, 40, 0.5, 6, 40).draw(seed);
    }

    /** One at a time, so that no difference in time is one in the order of use. */
    @ParameterizedTest(name = "host blocks {0}")
    @CsvSource({"0", "900"})
    void both_forget_the_same_blocks_when_memory_is_short(int hostBlocks) {
        Workload w =
                new GroupShape(400, 500, 30, 0.8, 2500, 0.8, 0.8, 300, 0.5, 40, 0.5, 0, 0).draw(5);
        double slow = 0.2;
        Seen lab = lab(w, slow, 300, hostBlocks);
        Seen http = http(w, slow, 300, hostBlocks, false, BATCH);
        assertArrayEquals(http.cached, lab.cached);
        assertClose(lab.mean(), http.mean(), "mean");
        Seen roomy = lab(w, slow, w.ids(), 0);
        assertNotEquals(
                Arrays.stream(roomy.cached).sum(),
                Arrays.stream(lab.cached).sum(),
                "memory was not short");
    }

    /** The check would see it: an engine that computes one prompt after the other is another. */
    @Test
    void an_engine_that_computes_prompts_one_by_one_is_told_apart() {
        Workload w = bursts(1);
        Seen lab = lab(w, 2, w.ids(), 0);
        Seen http = http(w, 2, w.ids(), 0, false, 1);
        assertTrue(Math.abs(lab.mean() / http.mean() - 1) > CLOSE, lab.mean() + " " + http.mean());
    }

    @Test
    void over_http_the_engine_reports_the_hits_that_the_lab_counts() throws Exception {
        Workload w =
                new GroupShape(60, 256, 8, 0.8, 1200, 0.5, 0.8, 200, 0.5, 4, 0.5, 0, 0).draw(7);
        Seen lab = lab(w, 0.01, 120, 0);
        SimOptions options =
                SimOptions.builder()
                        .blockSize(BLOCK)
                        .gpuBlocks(120)
                        .batchTokens(BATCH)
                        .prefillTokensPerSecond(TOKENS_PER_SECOND)
                        .speed(1000)
                        .build();
        int[] cached = new int[w.size()];
        try (SimTokenizer tokenizer = SimTokenizer.demo();
                SimEngine engine = SimEngine.start(options, tokenizer);
                SimClient client = new SimClient(engine)) {
            for (int n = 0; n < w.size(); n++) {
                String ids =
                        Arrays.stream(text(w, n))
                                .limit(w.prompt()[n])
                                .map(token -> Math.floorMod(token, 100_000))
                                .mapToObj(Integer::toString)
                                .collect(Collectors.joining(","));
                JsonNode answer =
                        client.json(
                                "/generate",
                                "{\"input_ids\":["
                                        + ids
                                        + "],\"sampling_params\":{\"ignore_eos\":true,"
                                        + "\"max_new_tokens\":"
                                        + w.answer()[n]
                                        + "}}");
                cached[n] = answer.at("/meta_info/cached_tokens").intValue();
            }
        }
        assertArrayEquals(lab.cached, cached);
    }
}
