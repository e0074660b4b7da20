package io.warmpath.lab.policy;

import io.warmpath.sim.virtual.BlockStore;
import io.warmpath.sim.virtual.EngineModel;
import io.warmpath.sim.virtual.VirtualEngine;
import io.warmpath.sim.virtual.VirtualTime;
import java.util.List;
import java.util.SplittableRandom;
import org.jspecify.annotations.Nullable;

/**
 * What a policy is made in.
 *
 * @param pool what all engines can fetch from; null: nothing. Its list is exact, as a master's is
 * @param engines themselves, those that have joined; routers look only at what theirs would tell
 *     them
 * @param mostEngines that there will be
 * @param calls how many there will be
 * @param ids of blocks are below this
 */
public record World(
        VirtualTime time,
        SplittableRandom random,
        EngineModel model,
        int blockTokens,
        @Nullable BlockStore pool,
        List<VirtualEngine<Call>> engines,
        int mostEngines,
        int calls,
        int ids,
        Indexes indexes) {}
