package io.warmpath.lab;

import io.warmpath.lab.policy.Call;
import io.warmpath.lab.policy.Policy;
import io.warmpath.prefix.PrefixEvent;
import io.warmpath.prefix.PrefixSpace;
import io.warmpath.prefix.Tier;
import io.warmpath.prefix.WorkerSlot;
import io.warmpath.sim.virtual.EngineWatcher;
import io.warmpath.sim.virtual.IdList;
import io.warmpath.sim.virtual.VirtualTime;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * What one engine does, told to the run: requests at once, as they are streamed; cache events after
 * the lag, those of one moment as one batch. One thread.
 */
final class EventFeed implements EngineWatcher<Call> {
    private final VirtualTime time;
    private final long lagNanos;
    private final Run run;
    private @Nullable Policy policy;
    private WorkerSlot slot = new WorkerSlot(0);
    private List<PrefixEvent> batch = List.of();
    private long batchNanos = -1;

    /**
     * @param lagNanos at least one, so that a batch is complete when it arrives
     */
    EventFeed(VirtualTime time, long lagNanos, Run run) {
        this.time = time;
        this.lagNanos = Math.max(1, lagNanos);
        this.run = run;
    }

    /** Before anything happens; a policy without interest in events hears none. */
    void tell(Policy whom, int engine) {
        if (whom.followsEvents()) {
            policy = whom;
            slot = whom.slot(engine);
        }
    }

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
        if (policy == null) {
            return;
        }
        int[] tokens = Arrays.copyOfRange(blocks, from, to);
        long[] hashes = new long[tokens.length];
        for (int i = 0; i < hashes.length; i++) {
            hashes[i] = tokens[i];
        }
        tell(
                new PrefixEvent.Stored(
                        slot,
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
        if (policy == null) {
            return;
        }
        long[] hashes = new long[blocks.size()];
        for (int i = 0; i < hashes.length; i++) {
            hashes[i] = blocks.get(i);
        }
        tell(new PrefixEvent.Removed(slot, tier(host), hashes));
    }

    private static Tier tier(boolean host) {
        return host ? Tier.HOST : Tier.GPU;
    }

    private void tell(PrefixEvent event) {
        Policy whom = Objects.requireNonNull(policy);
        if (batchNanos != time.nanos() || batch.isEmpty()) {
            batchNanos = time.nanos();
            List<PrefixEvent> fresh = new ArrayList<>(4);
            batch = fresh;
            time.after(lagNanos, () -> whom.apply(fresh));
        }
        batch.add(event);
    }
}
