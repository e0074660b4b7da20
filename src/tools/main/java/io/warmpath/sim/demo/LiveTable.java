package io.warmpath.sim.demo;

import static io.warmpath.plot.Plain.plain;

import java.util.HashMap;
import java.util.Map;

/**
 * A line for each turn as it went on the stage that is shown, with the time to its first token on
 * the one that it is compared with. A line comes when both have ended. Any thread.
 */
final class LiveTable {
    private final Terminal terminal;
    private final boolean pooled;
    private final Map<DemoWorkload.Turn, Played> shown = new HashMap<>(); // guarded by this
    private final Map<DemoWorkload.Turn, Played> compared = new HashMap<>(); // guarded by this

    /** {@code pooled}: the gateway of the stage that is shown asks a pool. */
    LiveTable(Terminal terminal, boolean pooled) {
        this.terminal = terminal;
        this.pooled = pooled;
    }

    /** {@code shown}: name of the stage that is shown. {@code compared}: of the other one. */
    void heading(String shown, String compared) {
        terminal.say("");
        terminal.say(
                "Each turn with %s: tokens found, and how right that was; last, when the", shown);
        terminal.say("same turn had its first token with %s.", compared);
        terminal.say("");
        terminal.say(
                "                prompt    on    in    in predicted reported      first    first");
        terminal.say(
                "chat turn  eng. tokens   GPU  host  pool    cached   cached      token    token");
    }

    private void line(Object... columns) {
        String line = plain("%4s %4s  %-4.4s %6s %5s %5s %5s %9s %8s%s %s %8s", columns);
        terminal.say("%s", line.stripTrailing());
    }

    synchronized void shown(Played turn) {
        shown.put(turn.turn(), turn);
        line(turn.turn());
    }

    synchronized void compared(Played turn) {
        compared.put(turn.turn(), turn);
        line(turn.turn());
    }

    private void line(DemoWorkload.Turn turn) {
        Played p = shown.get(turn);
        Played other = compared.get(turn);
        if (p == null || other == null) {
            return;
        }
        boolean sooner = p.timeToFirstToken().compareTo(other.timeToFirstToken()) < 0;
        String first = plain("%8s", StageRun.millis(p.timeToFirstToken()));
        line(
                turn.conversation() + 1,
                turn.number() + 1,
                p.worker(),
                p.promptTokens(),
                p.gpuBlocks() * Stage.BLOCK_SIZE,
                p.hostBlocks() * Stage.BLOCK_SIZE,
                pooled ? p.poolBlocks() * Stage.BLOCK_SIZE : "-",
                p.predictedTokens() < 0 ? "?" : p.predictedTokens(),
                p.reportedTokens(),
                p.asPredicted() ? terminal.good(" =") : terminal.bad(" !"),
                sooner ? terminal.good(first) : first,
                StageRun.millis(other.timeToFirstToken()));
    }
}
