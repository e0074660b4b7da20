package io.warmpath.lab.policy;

import io.warmpath.prefix.PrefixEvent;
import io.warmpath.prefix.WorkerSlot;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Function;

/**
 * Two rules of a peer's, one for who computes a prompt and one for who decodes, and what keeps a
 * request on one engine. Neither rule knows of the other's choice.
 */
final class PairedPolicy extends Policy {
    /** Whether the prompt is computed elsewhere. */
    @FunctionalInterface
    interface Gate {
        Gate ALWAYS = (call, cached) -> true;

        /** Dynamo's {@code isl_bounding}: a short remainder that is a small part stays. */
        Gate DYNAMO =
                (call, cached) -> {
                    int left = call.promptTokens() - cached;
                    return !(left < 2048 && left < 0.7 * call.promptTokens());
                };

        /** llm-d's sample: 16 tokens that are not cached. */
        Gate LLM_D = (call, cached) -> call.promptTokens() - cached >= 16;

        /** {@code cached}: prompt tokens at the engine that decodes. */
        boolean splits(Call call, int cached);
    }

    private final Halves halves;
    private final Policy prefill;
    private final Policy decode;
    private final Gate gate;
    private int prefiller = -1;

    PairedPolicy(
            World world,
            Halves halves,
            Function<World, Policy> prefill,
            Function<World, Policy> decode,
            Gate gate) {
        this.halves = halves;
        this.gate = gate;
        int p = halves.prefills();
        this.prefill = prefill.apply(part(world, 0, p));
        this.decode = decode.apply(part(world, p, world.engines().size()));
    }

    private static World part(World world, int from, int to) {
        return new World(
                world.time(),
                world.random(),
                world.model(),
                world.blockTokens(),
                world.pool(),
                List.copyOf(world.engines().subList(from, to)),
                to - from,
                world.calls(),
                world.ids(),
                world.indexes());
    }

    @Override
    public Halves halves() {
        return halves;
    }

    @Override
    public int choose(Call call) {
        int to = decode.choose(call);
        int cached = decode instanceof IndexedPolicy indexed ? indexed.cachedOfLast() : 0;
        prefiller = gate.splits(call, cached) ? prefill.choose(call) : -1;
        return halves.prefills() + to;
    }

    @Override
    public int prefiller() {
        return prefiller;
    }

    @Override
    public void prefilled(Call call) {
        prefill.firstToken(call);
        prefill.ended(call);
    }

    @Override
    public void firstToken(Call call) {
        decode.firstToken(call);
    }

    @Override
    public void ended(Call call) {
        decode.ended(call);
    }

    @Override
    public boolean followsEvents() {
        return prefill.followsEvents() || decode.followsEvents();
    }

    @Override
    public void apply(List<PrefixEvent> events) {
        tell(prefill, events, 0, halves.prefills());
        tell(decode, events, halves.prefills(), Integer.MAX_VALUE);
    }

    /** What is about its engines, in its own slots. */
    private static void tell(Policy one, List<PrefixEvent> events, int from, int to) {
        if (!one.followsEvents()) {
            return;
        }
        List<PrefixEvent> own = new ArrayList<>();
        for (PrefixEvent event : events) {
            int engine = event.slot().index();
            if (engine >= from && engine < to) {
                own.add(in(one.slot(engine - from), event));
            }
        }
        if (!own.isEmpty()) {
            one.apply(own);
        }
    }

    private static PrefixEvent in(WorkerSlot slot, PrefixEvent event) {
        return switch (event) {
            case PrefixEvent.Stored s ->
                    new PrefixEvent.Stored(
                            slot,
                            s.tier(),
                            s.hasParent(),
                            s.parent(),
                            s.hashes(),
                            s.tokens(),
                            s.blockSize(),
                            s.space());
            case PrefixEvent.Removed r -> new PrefixEvent.Removed(slot, r.tier(), r.hashes());
            case PrefixEvent.Cleared c -> new PrefixEvent.Cleared(slot, c.tier());
        };
    }

    @Override
    public void close() {
        prefill.close();
        decode.close();
    }
}
