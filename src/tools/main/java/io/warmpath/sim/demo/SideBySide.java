package io.warmpath.sim.demo;

import io.warmpath.sim.demo.GatewayClient.Message;
import io.warmpath.sim.model.SimTokenizer;
import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;
import java.util.random.RandomGenerator;

/**
 * Stages that are played at the same time, so that whatever else the machine does hits all of them
 * alike. One thread.
 */
final class SideBySide implements AutoCloseable {
    /** More than the warm-up leaves in the caches of an engine. */
    static final int WARM_UP_TOKENS = 24_000;

    private static final int WARM_UP = 30;
    private static final int WARM_UP_SENTENCES = 30;
    private static final int FIRST_PORT = 20_000;
    private static final int PORTS = 12_000;

    private final List<Stage> stages = new ArrayList<>();

    private SideBySide() {}

    /** Starts them and returns when all are ready and warm. */
    static SideBySide start(List<Stage.Setup> setups, SimTokenizer tokenizer, Terminal terminal)
            throws DemoFailure, InterruptedException {
        SideBySide all = new SideBySide();
        try {
            Terminal.Progress starting = terminal.progress("starting gateways", setups.size());
            for (Stage.Setup setup : setups) {
                all.stages.add(Stage.start(setup, tokenizer));
            }
            all.each(
                    stage -> {
                        stage.awaitReady();
                        starting.step();
                    });
            Terminal.Progress warming =
                    terminal.progress("warming up, questions", setups.size() * WARM_UP);
            all.each(stage -> warmUp(stage, warming));
            return all;
        } catch (DemoFailure | InterruptedException | RuntimeException e) {
            all.close();
            throw e;
        }
    }

    List<Stage> stages() {
        return stages;
    }

    /** Closes all but one. */
    void closeOthers(Stage kept) {
        stages.stream().filter(s -> !s.name().equals(kept.name())).forEach(Stage::close);
        stages.removeIf(s -> !s.name().equals(kept.name()));
    }

    /** Something that is done with a stage. */
    interface Part {
        void with(Stage stage) throws DemoFailure, InterruptedException;
    }

    /** Does something with all stages at the same time; a failure names the stage. */
    void each(Part part) throws DemoFailure, InterruptedException {
        try (Together together = new Together()) {
            for (Stage stage : stages) {
                together.run(
                        () -> {
                            try {
                                part.with(stage);
                            } catch (DemoFailure e) {
                                throw new DemoFailure(stage.name() + ": " + e.getMessage(), e);
                            }
                        });
            }
            together.await();
        }
    }

    /**
     * Short questions, one after the other, before anything is measured: the gateway's code is warm
     * then, as it is in service. They begin as no prompt of a workload does.
     */
    private static void warmUp(Stage stage, Terminal.Progress progress)
            throws DemoFailure, InterruptedException {
        RandomGenerator random = new SplittableRandom(0);
        String text = "";
        for (int i = 0; i < WARM_UP; i++) {
            // Each text twice: what engines hold takes other ways through the gateway.
            if (i % 2 == 0) {
                text = Phrases.document(random, WARM_UP_SENTENCES);
            }
            DemoWorkload.Turn turn = new DemoWorkload.Turn(-1, i, text, 2);
            stage.client().ask(turn, Stage.MODEL, List.of(new Message("user", turn.question())));
            progress.step();
        }
    }

    /**
     * Free ports below the range from which the system takes ports by itself: one of that range may
     * go to a connection before the gateway binds it.
     */
    static List<Integer> freePorts(int count) throws IOException {
        List<ServerSocket> held = new ArrayList<>();
        try {
            int first = FIRST_PORT + Math.floorMod(ProcessHandle.current().pid() * 16, PORTS);
            IOException last = new IOException("no port tried");
            for (int port = first; held.size() < count; port++) {
                if (port == first + 1_000) {
                    throw new IOException("no free port from " + first + " on", last);
                }
                try {
                    held.add(new ServerSocket(port, 1, InetAddress.getLoopbackAddress()));
                } catch (IOException taken) {
                    last = taken;
                }
            }
            return held.stream().map(ServerSocket::getLocalPort).toList();
        } finally {
            for (ServerSocket socket : held) {
                socket.close();
            }
        }
    }

    @Override
    public void close() {
        stages.parallelStream().forEach(Stage::close);
    }
}
