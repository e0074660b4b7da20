package io.warmpath.gateway.plan;

import io.warmpath.fleet.Fleet;
import io.warmpath.gateway.prompt.TokenStep;
import io.warmpath.gateway.request.ModelNames;
import io.warmpath.gateway.request.Objectives;

/**
 * The steps from a request to a decision. Shared by all event loops.
 *
 * @param models what the names of models in requests stand for
 * @param objectives that requests may name
 * @param tokens prompt to tokens
 * @param planner tokens to decision
 * @param entrance between the two
 */
public record Planning(
        Fleet fleet,
        ModelNames models,
        Objectives objectives,
        TokenStep tokens,
        Planner planner,
        EntranceParts entrance) {}
