package io.warmpath.bench;

import io.vertx.core.Vertx;
import io.warmpath.adapter.mooncake.MooncakeKeyStore;
import io.warmpath.adapter.mooncake.MooncakeOptions;
import io.warmpath.adapter.mooncake.RealMaster;
import io.warmpath.adapter.nativeindex.NativePageDigests;
import io.warmpath.pool.PageDigests;
import io.warmpath.pool.PoolHits;
import io.warmpath.pool.PoolLayout;
import io.warmpath.pool.PoolOptions;
import io.warmpath.pool.PoolQuestion;
import io.warmpath.pool.ProbingPool;
import io.warmpath.pool.SglangPages;
import io.warmpath.pool.SglangRanks;
import io.warmpath.pool.SglangVersion;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import java.util.stream.IntStream;

/**
 * One look-up in a shared pool after the other, before a real Mooncake master on loopback: from
 * token ids to hits, on a thread that waits. Main, as JMH would start a master for each fork:
 *
 * <pre>
 * PoolLookUp ROUNDS [TOKENS...]
 * </pre>
 */
final class PoolLookUp {
    private static final int PAGE = 64;
    private static final int OBJECT_BYTES = 64;

    /** As in service, but for the time-out: a machine that builds beside is no failure here. */
    private static final MooncakeOptions PATIENT =
            new MooncakeOptions(
                    MooncakeOptions.DEFAULTS.keysPerRequest(),
                    MooncakeOptions.DEFAULTS.connections(),
                    Duration.ofSeconds(10),
                    MooncakeOptions.DEFAULTS.maxAnswerBytes(),
                    MooncakeOptions.DEFAULTS.viewCheck());

    private PoolLookUp() {}

    /** What is asked how. */
    enum Way {
        SEARCH,
        ALL,
        CACHED;

        private PoolOptions options() {
            PoolOptions none = PoolOptions.DEFAULTS.withTtls(Duration.ZERO, Duration.ZERO);
            return switch (this) {
                case SEARCH -> none;
                case ALL -> none.withAll(true);
                case CACHED -> none.withTtls(Duration.ofHours(1), Duration.ofHours(1));
            };
        }
    }

    record Figure(
            int tokens,
            int tp,
            Way way,
            int heldPages,
            int keysAsked,
            long p50Nanos,
            long p99Nanos) {
        @Override
        public String toString() {
            return String.format(
                    Locale.ROOT,
                    "%7d tokens, tp %d, %4d of %4d pages held, %-6s %6d keys, p50 %8.1f us, p99 %8.1f us",
                    tokens,
                    tp,
                    heldPages,
                    tokens / PAGE,
                    way,
                    keysAsked,
                    p50Nanos / 1e3,
                    p99Nanos / 1e3);
        }
    }

    public static void main(String[] args) throws Exception {
        int rounds = Integer.parseInt(args[0]);
        int[] tokens =
                args.length > 1
                        ? Arrays.stream(args).skip(1).mapToInt(Integer::parseInt).toArray()
                        : new int[] {1024, 8192, 102_400};
        run(rounds, tokens, Files.createTempDirectory("pool-look-up"), System.out::println);
    }

    static void run(int rounds, int[] lengths, Path logs, Consumer<Figure> out) {
        PageDigests sha = new NativePageDigests(Optional.empty());
        Vertx vertx = Vertx.vertx();
        try (RealMaster master = RealMaster.start(logs, 256 << 20)) {
            int start = 0;
            for (int length : lengths) {
                for (int tp : new int[] {1, 4}) {
                    start += 1_000_000;
                    PoolQuestion question =
                            new PoolQuestion(IntStream.range(start, start + length).toArray());
                    one(master, vertx, sha, question, tp, rounds, out);
                }
            }
        } finally {
            vertx.close().toCompletionStage().toCompletableFuture().join();
        }
    }

    /** Nothing held, half of it, all of it. */
    private static void one(
            RealMaster master,
            Vertx vertx,
            PageDigests sha,
            PoolQuestion question,
            int tp,
            int rounds,
            Consumer<Figure> out) {
        SglangPages recipe =
                new SglangPages(
                        new SglangVersion(0, 5, 23),
                        PAGE,
                        false,
                        false,
                        SglangRanks.of(tp, 1),
                        "",
                        "Qwen/Qwen3-8B");
        byte[] digests = recipe.digests(question, sha);
        int pages = question.length() / PAGE;
        int held = 0;
        for (int part : new int[] {0, pages / 2, pages}) {
            List<String> keys = new ArrayList<>();
            for (; held < part; held++) {
                recipe.keys(digests, held, keys);
            }
            master.put(keys, OBJECT_BYTES);
            for (Way way : Way.values()) {
                PoolLayout layout = new PoolLayout(recipe, List.of(master.url()));
                MooncakeKeyStore store =
                        new MooncakeKeyStore(
                                vertx,
                                layout.masters(),
                                PATIENT,
                                System::nanoTime,
                                MooncakeKeyStore.Reach.ANYWHERE);
                try (ProbingPool pool =
                        new ProbingPool(
                                layout,
                                store,
                                sha,
                                Runnable::run,
                                way.options(),
                                System::nanoTime)) {
                    out.accept(measure(pool, question, tp, way, held, rounds));
                }
            }
        }
    }

    private static Figure measure(
            ProbingPool pool, PoolQuestion question, int tp, Way way, int held, int rounds) {
        PoolHits hits = ask(pool, question); // finds the leader, fills the cache
        long[] nanos = new long[rounds];
        for (int i = -rounds / 4; i < rounds; i++) {
            long begin = System.nanoTime();
            hits = ask(pool, question);
            if (i >= 0) {
                nanos[i] = System.nanoTime() - begin;
            }
            if (hits.run() != held) {
                throw new IllegalStateException(hits + ", of which " + held + " are held");
            }
        }
        Arrays.sort(nanos);
        return new Figure(
                question.length(),
                tp,
                way,
                held,
                hits.keysAsked(),
                nanos[rounds / 2],
                nanos[Math.min(rounds - 1, rounds * 99 / 100)]);
    }

    private static PoolHits ask(ProbingPool pool, PoolQuestion question) {
        return pool.ask(question).toCompletableFuture().orTimeout(10, TimeUnit.SECONDS).join();
    }
}
