package io.warmpath.lab.policy;

import io.warmpath.prefix.DecisionLimits;
import io.warmpath.prefix.PrefixEvent;
import io.warmpath.prefix.PrefixIndex;
import io.warmpath.prefix.PrefixMatch;
import io.warmpath.prefix.Tier;
import io.warmpath.prefix.WorkerSlot;
import java.util.ArrayList;
import java.util.List;

/** A rule that knows what engines' events tell, and what it has sent itself. */
abstract class IndexedPolicy extends Policy {
    final World world;

    /** Requests sent to each engine that have not ended. */
    final int[] running;

    /** Prompt tokens of these. */
    final long[] runningTokens;

    private final PrefixIndex index;
    private final List<WorkerSlot> slots = new ArrayList<>();
    private final int[] engineOf;
    private int cachedOfLast;

    IndexedPolicy(World world) {
        this.world = world;
        running = new int[world.mostEngines()];
        runningTokens = new long[world.mostEngines()];
        engineOf = new int[world.calls()];
        index = world.indexes().index(DecisionLimits.DEFAULT);
        for (int i = 0; i < engines(); i++) {
            joined();
        }
    }

    final int engines() {
        return world.engines().size();
    }

    @Override
    public final void joined() {
        slots.add(index.open(0));
    }

    /** The engine to choose; it is counted by this class when it is sent. */
    abstract int pick(Call call, PrefixMatch match);

    @Override
    public final int choose(Call call) {
        PrefixMatch match = index.match(Prompts.query(call));
        int engine = pick(call, match);
        cachedOfLast = cachedTokens(call, match, engine);
        count(call, match, engine);
        return engine;
    }

    /** Prompt tokens that the engine chosen last is known to hold. */
    final int cachedOfLast() {
        return cachedOfLast;
    }

    @Override
    public final void sentByPeer(Call call, int engine) {
        count(call, index.match(Prompts.query(call)), engine);
    }

    private void count(Call call, PrefixMatch match, int engine) {
        engineOf[call.number()] = engine;
        running[engine]++;
        runningTokens[engine] += call.promptTokens();
        sent(call, match, engine);
    }

    /** For what a rule keeps besides. */
    void sent(Call call, PrefixMatch match, int engine) {}

    @Override
    public void ended(Call call) {
        int engine = engineOf(call);
        running[engine]--;
        runningTokens[engine] -= call.promptTokens();
    }

    /** Where it was sent. */
    final int engineOf(Call call) {
        return engineOf[call.number()];
    }

    /** Prompt tokens that the engine is known to hold, host memory included. */
    final int cachedTokens(Call call, PrefixMatch match, int engine) {
        int blocks = match.depth(slots.get(engine), Tier.HOST);
        return Math.min(blocks * world.blockTokens(), call.promptTokens() - 1);
    }

    @Override
    public final boolean followsEvents() {
        return true;
    }

    @Override
    public final WorkerSlot slot(int engine) {
        return slots.get(engine);
    }

    @Override
    public final void apply(List<PrefixEvent> events) {
        index.apply(events);
    }

    @Override
    public final void close() {
        index.close();
    }
}
