package io.warmpath.gateway.prompt;

import io.warmpath.fleet.Candidate;
import io.warmpath.fleet.EngineKind;
import io.warmpath.fleet.FleetSnapshot;
import io.warmpath.fleet.Worker;
import io.warmpath.tokens.profile.EngineProfile;
import java.util.EnumSet;
import java.util.List;
import java.util.Set;

/** Which profile of an engine a model's workers have. */
public final class Engines {
    private Engines() {}

    /** The profile of this kind; its version is the nearest that is known. */
    public static EngineProfile of(EngineKind kind) {
        return switch (kind) {
            case VLLM -> EngineProfile.VLLM;
            case SGLANG -> EngineProfile.SGLANG;
            case TRTLLM, OPENAI -> EngineProfile.ANY;
        };
    }

    /** All that these have; at least one, mostly just one. */
    static Set<EngineProfile> of(List<Candidate> candidates) {
        Set<EngineProfile> found = EnumSet.noneOf(EngineProfile.class);
        for (int i = 0; i < candidates.size(); i++) {
            found.add(of(candidates.get(i).worker().kind()));
        }
        if (found.isEmpty()) {
            found.add(EngineProfile.ANY);
        }
        return found;
    }

    /** That of all workers of the model, ready or not; without any, {@link EngineProfile#ANY}. */
    public static EngineProfile of(FleetSnapshot fleet, String model) {
        EngineProfile found = null;
        for (Worker worker : fleet.workers()) {
            if (worker.models().contains(model)) {
                EngineProfile one = of(worker.kind());
                if (found != null && found != one) {
                    return EngineProfile.ANY;
                }
                found = one;
            }
        }
        return found == null ? EngineProfile.ANY : found;
    }
}
