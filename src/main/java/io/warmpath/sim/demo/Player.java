package io.warmpath.sim.demo;

import io.warmpath.sim.demo.GatewayClient.Message;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.function.Consumer;

/**
 * Plays the workload on a stage.
 *
 * <p>Answers overlap, but people read before they ask again: a turn starts when the one before it
 * in the script has its first token, fewer than {@code inFlight} answers are running and the
 * gateway has applied all events so far. So there is load to balance, and yet each prediction is
 * made with full knowledge: nothing that happens while other answers grow touches the prefix of the
 * next prompt.
 */
final class Player {
    private static final int WARM_UP = 40;

    private final Stage stage;
    private final Workload workload;
    private final int inFlight;
    private final Map<Integer, List<Message>> histories = new HashMap<>();
    private final Map<Integer, CompletableFuture<GatewayClient.Answer>> running = new HashMap<>();

    /**
     * @param inFlight answers that may run at once, 1 or more
     */
    Player(Stage stage, Workload workload, int inFlight) {
        this.stage = stage;
        this.workload = workload;
        this.inFlight = inFlight;
    }

    /**
     * Short questions, one after the other, before anything is measured: the gateway's code is warm
     * then, as it is in service. They fill no block of any prefix that the workload uses.
     */
    void warmUp() throws DemoFailure, InterruptedException {
        for (int i = 0; i < WARM_UP; i++) {
            Workload.Turn turn = new Workload.Turn(-1, i, "Hello " + i, 2);
            List<Message> messages = List.of(new Message("user", turn.question()));
            stage.client().ask(turn, Stage.MODEL, messages, () -> {});
        }
    }

    /**
     * Plays all turns.
     *
     * @param done told of each turn, in the order in which they started
     */
    List<Played> play(Consumer<Played> done) throws DemoFailure, InterruptedException {
        List<CompletableFuture<GatewayClient.Answer>> all = new ArrayList<>();
        List<Played> played = new ArrayList<>();
        try (ExecutorService asking = Executors.newVirtualThreadPerTaskExecutor()) {
            for (List<Workload.Turn> round : workload.rounds()) {
                for (Workload.Turn turn : round) {
                    List<Message> messages = nextQuestion(turn);
                    awaitRoom(all);
                    stage.settle();
                    all.add(start(turn, messages, asking));
                    report(all, played, done, false);
                }
            }
            report(all, played, done, true);
        }
        return played;
    }

    /** Waits until one more answer may run. */
    private void awaitRoom(List<CompletableFuture<GatewayClient.Answer>> all) {
        while (true) {
            List<CompletableFuture<GatewayClient.Answer>> busy =
                    all.stream().filter(a -> !a.isDone()).toList();
            if (busy.size() < inFlight) {
                return;
            }
            CompletableFuture.anyOf(busy.toArray(CompletableFuture[]::new))
                    .handle((answer, failure) -> true) // a failure is told where it is reported
                    .join();
        }
    }

    /** The conversation so far, with the last turn's answer, and the new question. */
    private List<Message> nextQuestion(Workload.Turn turn) throws DemoFailure {
        List<Message> history =
                histories.computeIfAbsent(turn.conversation(), c -> new ArrayList<>());
        CompletableFuture<GatewayClient.Answer> before = running.get(turn.conversation());
        if (before == null) {
            history.add(new Message("system", workload.systemPrompt()));
        } else {
            history.add(new Message("assistant", result(before).text()));
        }
        history.add(new Message("user", turn.question()));
        return List.copyOf(history);
    }

    /** Returns when the first token has come, or the request has failed. */
    private CompletableFuture<GatewayClient.Answer> start(
            Workload.Turn turn, List<Message> messages, ExecutorService asking) {
        CompletableFuture<Boolean> firstToken = new CompletableFuture<>();
        CompletableFuture<GatewayClient.Answer> answer =
                CompletableFuture.supplyAsync(
                        () -> {
                            try {
                                return stage.client()
                                        .ask(
                                                turn,
                                                Stage.MODEL,
                                                messages,
                                                () -> firstToken.complete(true));
                            } catch (DemoFailure e) {
                                throw new CompletionException(e);
                            } catch (InterruptedException e) {
                                Thread.currentThread().interrupt();
                                throw new CompletionException(e);
                            } finally {
                                firstToken.complete(false);
                            }
                        },
                        asking);
        running.put(turn.conversation(), answer);
        firstToken.join();
        return answer;
    }

    /** Hands on what has ended, in order; all of it when {@code wait}. */
    private static void report(
            List<CompletableFuture<GatewayClient.Answer>> all,
            List<Played> played,
            Consumer<Played> done,
            boolean wait)
            throws DemoFailure {
        while (played.size() < all.size() && (wait || all.get(played.size()).isDone())) {
            Played next = result(all.get(played.size())).played();
            played.add(next);
            done.accept(next);
        }
    }

    private static GatewayClient.Answer result(CompletableFuture<GatewayClient.Answer> answer)
            throws DemoFailure {
        try {
            return answer.join();
        } catch (CompletionException e) {
            if (e.getCause() instanceof DemoFailure failure) {
                throw failure;
            }
            throw e;
        }
    }
}
