package io.warmpath.sim.virtual;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.SplittableRandom;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

class VirtualEngineTest {
    private static final EngineModel MODEL = EngineModel.SMALL;
    private static final int BLOCK = 64;

    private final VirtualTime time = new VirtualTime();
    private final Map<Job, Double> first = new HashMap<>();
    private final Map<Job, Double> end = new HashMap<>();
    private final List<String> events = new ArrayList<>();

    private VirtualEngine<Job> engine(int hostBlocks) {
        return new VirtualEngine<>(
                time,
                MODEL,
                BLOCK,
                1,
                new BlockCache(400_000 / BLOCK),
                false,
                hostBlocks,
                null,
                new EngineWatcher<>() {
                    @Override
                    public void firstToken(Job job) {
                        first.put(job, time.nanos() / 1e6);
                    }

                    @Override
                    public void ended(Job job) {
                        end.put(job, time.nanos() / 1e6);
                    }

                    @Override
                    public void stored(boolean host, int[] blocks, int from, int to) {
                        events.add((host ? "host" : "gpu") + " +" + (to - from));
                    }

                    @Override
                    public void removed(boolean host, IdList blocks) {
                        events.add((host ? "host" : "gpu") + " -" + blocks.size());
                    }
                });
    }

    private static Job job(int firstId, int prompt, int answer) {
        int blocks = (prompt + answer) / BLOCK;
        return new Job(IntStream.range(firstId, firstId + blocks).toArray(), prompt, answer);
    }

    private void play() {
        while (time.step()) {
            // until nothing is left
        }
    }

    @Test
    void a_prompt_alone_takes_what_the_model_says() {
        VirtualEngine<Job> engine = engine(0);
        Job job = job(0, 8000, 3);
        engine.submit(job);
        play();
        double prefill = 1.5 + 0.032 * 8000 + 1.32e-6 * 8000 * 4000;
        assertEquals(prefill, first.get(job), 1e-3);
        double decode = 2 * (1.5 + 6 + 0.020) + 52e-6 * (8001 + 8002);
        assertEquals(prefill + decode, end.get(job), 1e-3);
        assertEquals(0, job.cachedTokens());
    }

    @Test
    void the_next_equal_prompt_computes_its_last_block_only() {
        VirtualEngine<Job> engine = engine(0);
        engine.submit(job(0, 640, 2));
        play();
        Job again = job(0, 640, 2);
        engine.submit(again);
        play();
        assertEquals(576, again.cachedTokens());
        assertEquals(List.of("gpu +10"), events, "the second one stores nothing new");
    }

    @Test
    void what_left_the_device_comes_back_from_the_host() {
        VirtualEngine<Job> engine = engine(10_000);
        engine.submit(job(0, 64_000, 1));
        play();
        for (int i = 1; i <= 6; i++) {
            engine.submit(job(i * 2000, 64_000, 1));
            play();
        }
        assertTrue(events.stream().anyMatch(e -> e.startsWith("gpu -")), "all fits: " + events);
        Job again = job(0, 64_001, 1);
        engine.submit(again);
        double began = time.nanos() / 1e6;
        play();
        assertEquals(64_000, again.cachedTokens());
        assertTrue(first.get(again) - began > 1000 * 20_000 / 150_000.0, "loading takes time");
    }

    @Test
    void a_request_that_never_fits_is_refused() {
        VirtualEngine<Job> engine = engine(0);
        assertThrows(IllegalArgumentException.class, () -> engine.submit(job(0, 400_000, 100)));
    }

    /** Runs of decoding steps are one event; here every step is played. */
    @Test
    void times_are_those_of_an_engine_that_plays_every_step() {
        for (long seed = 1; seed <= 5; seed++) {
            SplittableRandom random = new SplittableRandom(seed);
            List<double[]> arrivals = new ArrayList<>();
            double at = 0;
            for (int i = 0; i < 200; i++) {
                at += random.nextExponential() * 150;
                arrivals.add(
                        new double[] {at, 1 + random.nextInt(12_000), 1 + random.nextInt(300)});
            }
            VirtualTime ownTime = new VirtualTime();
            List<Double> firsts = new ArrayList<>();
            List<Double> ends = new ArrayList<>();
            VirtualEngine<Job> engine =
                    new VirtualEngine<>(
                            ownTime,
                            MODEL,
                            BLOCK,
                            1,
                            new BlockCache(1 << 20),
                            false,
                            0,
                            null,
                            new EngineWatcher<>() {
                                @Override
                                public void firstToken(Job job) {
                                    firsts.add(ownTime.nanos() / 1e6);
                                }

                                @Override
                                public void ended(Job job) {
                                    ends.add(ownTime.nanos() / 1e6);
                                }

                                @Override
                                public void stored(boolean host, int[] b, int from, int to) {}

                                @Override
                                public void removed(boolean host, IdList blocks) {}
                            });
            for (double[] a : arrivals) {
                ownTime.at(
                        (long) (a[0] * 1e6),
                        () -> engine.submit(new Job(new int[0], (int) a[1], (int) a[2])));
            }
            while (ownTime.step()) {
                // until nothing is left
            }
            StepByStep expected = new StepByStep(arrivals);
            expected.play();
            assertClose(expected.firsts, firsts, "first tokens, seed " + seed);
            assertClose(expected.ends, ends, "ends, seed " + seed);
        }
    }

    private static void assertClose(List<Double> expected, List<Double> actual, String what) {
        List<Double> a = expected.stream().sorted().toList();
        List<Double> b = actual.stream().sorted().toList();
        assertEquals(a.size(), b.size(), what);
        for (int i = 0; i < a.size(); i++) {
            assertEquals(a.get(i), b.get(i), 0.01, what + ", number " + i);
        }
    }

    /** One step after the other, nothing cached, room for all. */
    private static final class StepByStep {
        private final List<double[]> arrivals;
        private final List<Double> firsts = new ArrayList<>();
        private final List<Double> ends = new ArrayList<>();

        StepByStep(List<double[]> arrivals) {
            this.arrivals = arrivals;
        }

        void play() {
            List<double[]> prefill = new ArrayList<>(); // prompt, done, answer
            List<double[]> decode = new ArrayList<>(); // held, left
            double now = 0;
            int next = 0;
            while (next < arrivals.size() || !prefill.isEmpty() || !decode.isEmpty()) {
                if (prefill.isEmpty() && decode.isEmpty()) {
                    now = Math.max(now, arrivals.get(next)[0]);
                }
                while (next < arrivals.size() && arrivals.get(next)[0] <= now) {
                    double[] a = arrivals.get(next++);
                    prefill.add(new double[] {a[1], 0, a[2]});
                }
                double budget = 8192 - decode.size();
                double chunks = 0;
                for (double[] p : prefill) {
                    double n = Math.min(budget, p[0] - p[1]);
                    budget -= n;
                    chunks += 0.032 * n + 1.32e-6 * n * (p[1] + n / 2);
                    p[1] += n;
                }
                double held = decode.stream().mapToDouble(d -> d[0]).sum();
                now += 1.5 + Math.max(6, chunks) + 0.020 * decode.size() + 52e-6 * held;
                for (double[] d : decode) {
                    d[0]++;
                    if (--d[1] == 0) {
                        ends.add(now);
                    }
                }
                decode.removeIf(d -> d[1] == 0);
                for (double[] p : prefill) {
                    if (p[1] == p[0]) {
                        firsts.add(now);
                        if (p[2] == 1) {
                            ends.add(now);
                        } else {
                            decode.add(new double[] {p[0] + 1, p[2] - 1});
                        }
                    }
                }
                prefill.removeIf(p -> p[1] == p[0]);
            }
        }
    }

    @Test
    void what_another_engine_has_computed_takes_room_and_answers_when_it_has_come() {
        VirtualEngine<Job> engine = engine(0);
        List<Integer> fetched = new ArrayList<>();
        Job.Arrival way =
                tokens -> {
                    fetched.add(tokens);
                    return time.nanos() + 50_000_000;
                };
        Job comes = job(0, 1000, 10);
        comes.comesBy(way);
        engine.submit(comes);
        assertEquals(1, engine.running(), "its room is taken");
        assertTrue(engine.memoryUse() > 0);
        while (time.step()) {}
        assertEquals(50, first.get(comes), 1e-3);
        double step = MODEL.stepMillis() + MODEL.weightsMillis() + MODEL.decodeMillis(1, 1000);
        assertEquals(50 + 9 * step, end.get(comes), 0.1);
        assertEquals(List.of(1000), fetched);
        assertEquals(0, engine.memoryUse());

        Job again = job(0, 1000, 10); // what it has kept need not come
        again.comesBy(way);
        engine.submit(again);
        while (time.step()) {}
        assertEquals(List.of(1000, 1000 - 1000 / BLOCK * BLOCK), fetched);
    }

    @Test
    void what_comes_while_others_decode_goes_on_with_the_next_step() {
        VirtualEngine<Job> engine = engine(0);
        Job there = job(0, 640, 200);
        engine.submit(there);
        while (!first.containsKey(there)) {
            time.step();
        }
        double came = time.nanos() / 1e6 + 33;
        Job comes = job(100, 640, 5);
        comes.comesBy(tokens -> time.nanos() + 33_000_000);
        engine.submit(comes);
        while (time.step()) {}
        double step = MODEL.stepMillis() + MODEL.weightsMillis() + MODEL.decodeMillis(2, 2000);
        assertTrue(first.get(comes) >= came, "it has come");
        // A step until it has its room, and one until it is taken along.
        assertTrue(first.get(comes) <= came + 2 * step, first.get(comes) + " " + came);
        assertTrue(end.get(comes) < end.get(there));
        assertEquals(2, end.size());
    }
}
