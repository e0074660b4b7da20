package io.warmpath.sim;

import io.warmpath.sim.half.Disaggregation;
import io.warmpath.sim.model.SimTokenizer;
import java.io.IOException;
import java.io.PrintStream;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import org.jspecify.annotations.Nullable;

/**
 * {@code warmpath sim}: runs simulated engines until the process is told to stop or the last one
 * was killed.
 */
public final class SimMain {
    private SimMain() {}

    /**
     * Blocks while the engines run.
     *
     * @return 0 after a normal end, 2 for wrong flags, 1 when an engine cannot start
     */
    public static int run(String[] args, PrintStream out, PrintStream err) {
        SimFlags flags;
        SimOptions first;
        try {
            flags = SimFlags.parse(args);
            if (flags.help()) {
                out.print(SimFlags.HELP);
                return 0;
            }
            first = flags.engine().build();
        } catch (IllegalArgumentException e) {
            err.println("warmpath sim: " + e.getMessage());
            return 2;
        }
        List<SimEngine> engines = new ArrayList<>();
        try (SimTokenizer tokenizer = tokenizer(flags);
                SimPool pool = pool(flags, first)) {
            if (pool != null) {
                flags.engine().pool(pool);
                out.printf("http://%s:%d  admin of the pool's master%n", pool.host(), pool.port());
            }
            for (int i = 0; i < flags.count(); i++) {
                SimEngine engine = SimEngine.start(nth(flags, first, i), tokenizer);
                engines.add(engine);
                out.printf(
                        "%s  model %s  events tcp://%s:%d  replay tcp://%s:%d%n",
                        engine.url(),
                        first.models().getFirst(),
                        first.host(),
                        engine.eventsPort(),
                        first.host(),
                        engine.replayPort());
            }
            out.flush();
            serve(engines);
            return 0;
        } catch (IOException | IllegalArgumentException e) {
            err.println("warmpath sim: " + e.getMessage());
            return 1;
        } finally {
            engines.forEach(SimEngine::close);
        }
    }

    private static SimTokenizer tokenizer(SimFlags flags) throws IOException {
        return flags.tokenizer() == null
                ? SimTokenizer.demo()
                : SimTokenizer.load(flags.tokenizer());
    }

    private static @Nullable SimPool pool(SimFlags flags, SimOptions first) throws IOException {
        SimFlags.Pool wanted = flags.pool();
        return wanted == null
                ? null
                : SimPool.start(
                        first.host(),
                        wanted.port(),
                        first.models().getFirst(),
                        wanted.pages(),
                        wanted.tokensPerSecond());
    }

    /** Ports given as 0 stay free choices; others count up so that no two engines share one. */
    private static SimOptions nth(SimFlags flags, SimOptions first, int i) {
        Disaggregation role = first.disaggregation();
        return flags.engine()
                .port(first.port() == 0 ? 0 : first.port() + i)
                .eventsPort(first.eventsPort() == 0 ? 0 : first.eventsPort() + i * first.ranks())
                .replayPort(first.replayPort() == 0 ? 0 : first.replayPort() + i * first.ranks())
                .disaggregation(role == null ? null : role.nth(i))
                .build();
    }

    private static void serve(List<SimEngine> engines) {
        CountDownLatch alive = new CountDownLatch(engines.size());
        engines.forEach(e -> e.onDeath(alive::countDown));
        try {
            alive.await();
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }
}
