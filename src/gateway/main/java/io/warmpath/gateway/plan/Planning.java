package io.warmpath.gateway.plan;

import io.warmpath.fleet.Fleet;
import io.warmpath.gateway.prompt.TokenStep;
import io.warmpath.gateway.request.ModelNames;

/**
 * The steps from a request to a decision. Shared by all event loops.
 *
 * @param models what the names in requests stand for
 * @param tokens prompt to tokens
 * @param planner tokens to decision
 * @param entrance between the two
 */
public record Planning(
        Fleet fleet,
        ModelNames models,
        TokenStep tokens,
        Planner planner,
        EntranceParts entrance) {}
