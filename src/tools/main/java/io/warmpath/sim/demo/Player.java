package io.warmpath.sim.demo;

import io.warmpath.sim.demo.GatewayClient.Message;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Consumer;

/**
 * Plays the workload on a stage, each turn at its time. Turns of different conversations overlap as
 * they come. A request is sent when the gateway has applied what the engines have told so far:
 * people take longer to ask again than events take to arrive, also on a busy machine.
 */
final class Player {
    private final Stage stage;
    private final DemoWorkload workload;
    private final DemoClock pace;
    private final Consumer<Played> done;
    private final List<Played> played = new ArrayList<>(); // guarded by itself

    /** {@code done}: told of each turn when its answer has ended, by any thread. */
    Player(Stage stage, DemoWorkload workload, DemoClock pace, Consumer<Played> done) {
        this.stage = stage;
        this.workload = workload;
        this.pace = pace;
        this.done = done;
    }

    /**
     * Plays all turns.
     *
     * @param begin when the play starts, in {@link System#nanoTime}
     * @return in the order in which they were sent
     */
    List<Played> play(long begin) throws DemoFailure, InterruptedException {
        try (Together together = new Together()) {
            for (DemoWorkload.Conversation c : workload.conversations()) {
                together.run(() -> converse(c, begin));
            }
            together.await();
        }
        synchronized (played) {
            return played.stream().sorted(Played.BY_TIME).toList();
        }
    }

    private void converse(DemoWorkload.Conversation conversation, long begin)
            throws DemoFailure, InterruptedException {
        List<Message> history = new ArrayList<>();
        history.add(new Message("system", conversation.systemPrompt()));
        for (int t = 0; t < conversation.turns().size(); t++) {
            DemoWorkload.Turn turn = conversation.turns().get(t);
            history.add(new Message("user", turn.question()));
            pace.until(begin + conversation.at().get(t).toNanos());
            stage.settle();
            GatewayClient.Answer answer =
                    stage.client().ask(turn, Stage.MODEL, List.copyOf(history));
            history.add(new Message("assistant", answer.text()));
            synchronized (played) {
                played.add(answer.played());
            }
            done.accept(answer.played());
        }
    }
}
