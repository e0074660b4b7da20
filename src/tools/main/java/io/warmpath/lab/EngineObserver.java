package io.warmpath.lab;

import io.warmpath.lab.policy.Call;
import io.warmpath.prefix.PrefixEvent;
import io.warmpath.prefix.PrefixSpace;
import io.warmpath.prefix.Tier;
import io.warmpath.sim.virtual.EngineWatcher;
import io.warmpath.sim.virtual.IdList;
import java.util.Arrays;

/** What one engine does, told to the run. One thread. */
record EngineObserver(CellRun run, int engine) implements EngineWatcher<Call> {
    @Override
    public void firstToken(Call call) {
        run.firstToken(call);
    }

    @Override
    public void ended(Call call) {
        run.ended(call);
    }

    @Override
    public void stored(boolean host, int[] blocks, int from, int to) {
        if (!run.tellsEvents()) {
            return;
        }
        int[] tokens = Arrays.copyOfRange(blocks, from, to);
        long[] hashes = new long[tokens.length];
        for (int i = 0; i < hashes.length; i++) {
            hashes[i] = tokens[i];
        }
        run.happened(
                new PrefixEvent.Stored(
                        run.slot(engine),
                        tier(host),
                        from > 0,
                        from > 0 ? blocks[from - 1] : 0,
                        hashes,
                        tokens,
                        1,
                        PrefixSpace.NONE));
    }

    @Override
    public void removed(boolean host, IdList blocks) {
        if (!run.tellsEvents()) {
            return;
        }
        long[] hashes = new long[blocks.size()];
        for (int i = 0; i < hashes.length; i++) {
            hashes[i] = blocks.get(i);
        }
        run.happened(new PrefixEvent.Removed(run.slot(engine), tier(host), hashes));
    }

    private static Tier tier(boolean host) {
        return host ? Tier.HOST : Tier.GPU;
    }
}
