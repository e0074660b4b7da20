package io.warmpath.fleet;

import java.util.List;

/** What engines tell that have nothing special: one rank, blocks of 16 tokens, no events. */
public final class Profiles {
    private Profiles() {}

    public static WorkerProfile of(EngineKind kind, ServedModels served) {
        return of(kind, served, Disaggregation.NONE);
    }

    public static WorkerProfile of(EngineKind kind, ServedModels served, Disaggregation part) {
        return of(kind, served, part, List.of());
    }

    /** {@code unread}: what it tells in a form that is not usable. */
    public static WorkerProfile of(EngineKind kind, ServedModels served, List<String> unread) {
        return of(kind, served, Disaggregation.NONE, unread);
    }

    private static WorkerProfile of(
            EngineKind kind, ServedModels served, Disaggregation part, List<String> unread) {
        return new WorkerProfile(
                kind,
                "",
                served,
                16,
                false,
                EngineRanks.of(1),
                Capacity.UNKNOWN,
                List.of(),
                Offload.NONE,
                PriorityOrder.NOT_TAKEN,
                SessionSupport.STICKY,
                part,
                CacheTraits.PLAIN,
                List.of(),
                unread,
                "");
    }
}
