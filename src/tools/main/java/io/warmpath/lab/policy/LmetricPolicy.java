package io.warmpath.lab.policy;

import io.warmpath.load.LoadBook;
import io.warmpath.load.LoadOptions;
import io.warmpath.load.LoadTracker;
import io.warmpath.load.PotentialBlocks;
import io.warmpath.load.PromptBlocks;
import io.warmpath.load.WorkerLoad;
import io.warmpath.prefix.PrefixMatch;
import java.util.List;

/** Dynamo's {@code lmetric}: blocks to prefill, times blocks in decode and one. Lowest wins. */
final class LmetricPolicy extends IndexedPolicy {
    private final LoadTracker loads;
    private final LoadBook.Booking[] bookings;
    private final Lowest lowest;

    LmetricPolicy(World world) {
        super(world);
        loads = new LoadTracker(world.time()::nanos, LoadOptions.DEFAULT, 1);
        bookings = new LoadBook.Booking[world.calls()];
        lowest = new Lowest(world.random());
    }

    @Override
    int pick(Call call, PrefixMatch match) {
        double block = world.blockTokens();
        PromptBlocks named = Prompts.named(call, world.blockTokens());
        PotentialBlocks potential = loads.potential(List.of(named));
        lowest.begin();
        for (int i = 0; i < engines(); i++) {
            if (!isHere(i)) {
                continue;
            }
            WorkerLoad load = loads.load(slot(i));
            int fresh = call.promptTokens() - cachedTokens(call, match, i);
            double prefill = (load.prefillTokens() + fresh) / block;
            double decode = load.blocks() + potential.added(slot(i), named.total());
            lowest.offer(i, prefill * (decode + 1));
            note(call, i, "cached tokens", call.promptTokens() - fresh);
            note(call, i, "blocks to prefill", prefill);
            note(call, i, "blocks in decode", decode);
            note(call, i, "product, lowest wins", prefill * (decode + 1));
        }
        return lowest.engine();
    }

    @Override
    void sent(Call call, PrefixMatch match, int engine) {
        int fresh = call.promptTokens() - cachedTokens(call, match, engine);
        PromptBlocks named = Prompts.named(call, world.blockTokens());
        bookings[call.number()] = loads.book(slot(engine), fresh, named, 0);
    }

    @Override
    public void firstToken(Call call) {
        bookings[call.number()].firstToken();
    }

    @Override
    public void ended(Call call) {
        super.ended(call);
        bookings[call.number()].close();
    }
}
