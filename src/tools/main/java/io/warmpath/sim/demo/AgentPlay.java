package io.warmpath.sim.demo;

import io.warmpath.sim.demo.GatewayClient.Message;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.concurrent.atomic.AtomicBoolean;

/**
 * Plays the script of the agents on a stage: teams side by side, in a team one agent at a time, and
 * background requests that come by chance (Poisson) until the last team is done. Any failed request
 * fails the play.
 */
final class AgentPlay {
    private static final int LEAD_TOKENS = 100;
    private static final int SUB_TOKENS = 50;
    private static final int BACKGROUND_TOKENS = 8;
    private static final Duration TOOL = Duration.ofMillis(200);
    private static final Duration TEAM = Duration.ofMillis(400);
    private static final Duration BACKGROUND = Duration.ofMillis(220);

    /** Who asked. */
    enum Who {
        LEAD,
        SUB,
        BACKGROUND
    }

    /** {@code agent}: a name; empty for the background. */
    record Turn(Who who, String agent, Played played) {
        int number() {
            return played.turn().number();
        }
    }

    private final Stage stage;
    private final AgentScript script;
    private final Set<AgentFeature> features;
    private final DemoClock pace;
    private final Runnable progress;
    private final List<Turn> turns = new ArrayList<>(); // guarded by itself
    private final AtomicBoolean over = new AtomicBoolean();

    /** {@code progress}: told of each turn of an agent. */
    AgentPlay(
            Stage stage,
            AgentScript script,
            Set<AgentFeature> features,
            DemoClock pace,
            Runnable progress) {
        this.stage = stage;
        this.pace = pace;
        this.progress = progress;
        this.script = script;
        this.features = features;
    }

    /** All turns, in the order in which they ended. */
    List<Turn> play() throws DemoFailure, InterruptedException {
        try (Together others = new Together();
                Together teams = new Together()) {
            others.run(() -> background(others));
            for (int t = 0; t < script.teams().size(); t++) {
                int team = t;
                teams.run(() -> team(team));
            }
            teams.await();
            over.set(true);
            others.await();
        }
        synchronized (turns) {
            return List.copyOf(turns);
        }
    }

    private void team(int number) throws DemoFailure, InterruptedException {
        pace.pause(TEAM.multipliedBy(number));
        AgentScript.Team team = script.teams().get(number);
        String lead = "lead-" + (number + 1);
        Conversation main = new Conversation(Who.LEAD, lead, number, LEAD_TOKENS);
        List<String> questions = team.lead().questions();
        for (int t = 0; t < questions.size(); t++) {
            main.ask(t, questions.get(t), t == questions.size() - 1);
            if (t < team.subs().size()) {
                String name = lead + "-sub-" + (t + 1);
                Conversation sub = new Conversation(Who.SUB, name, number, SUB_TOKENS);
                List<String> tasks = team.subs().get(t).questions();
                for (int s = 0; s < tasks.size(); s++) {
                    sub.ask(s, tasks.get(s), s == tasks.size() - 1);
                    pace.pause(TOOL);
                }
            }
        }
    }

    private void background(Together requests) throws InterruptedException {
        long at = System.nanoTime();
        for (int i = 0; !over.get(); i++) {
            String prompt = script.background().get(i % script.background().size());
            DemoWorkload.Turn turn = new DemoWorkload.Turn(-1, i, prompt, BACKGROUND_TOKENS);
            List<Message> messages = List.of(new Message("user", prompt));
            requests.run(
                    () -> add(Who.BACKGROUND, "", stage.client().ask(turn, Stage.MODEL, messages)));
            at += (long) (script.gap(i) * BACKGROUND.toNanos());
            pace.until(at);
        }
    }

    /** One agent and what it remembers. */
    private final class Conversation {
        private final Who who;
        private final String name;
        private final int team;
        private final int tokens;
        private final List<Message> history = new ArrayList<>();

        Conversation(Who who, String name, int team, int tokens) {
            this.who = who;
            this.name = name;
            this.team = team;
            this.tokens = tokens;
            history.add(new Message("system", script.tools()));
        }

        void ask(int number, String question, boolean last)
                throws DemoFailure, InterruptedException {
            history.add(new Message("user", question));
            GatewayClient.Answer answer =
                    stage.client()
                            .ask(
                                    new DemoWorkload.Turn(team, number, question, tokens),
                                    Stage.MODEL,
                                    List.copyOf(history),
                                    AgentFeature.turn(
                                            features, name, who == Who.LEAD, number, last));
            history.add(new Message("assistant", answer.text()));
            add(who, name, answer);
            progress.run();
        }
    }

    private void add(Who who, String agent, GatewayClient.Answer answer) {
        synchronized (turns) {
            turns.add(new Turn(who, agent, answer.played()));
        }
    }
}
