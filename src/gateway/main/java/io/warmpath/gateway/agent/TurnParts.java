package io.warmpath.gateway.agent;

import io.warmpath.admission.Admission;
import io.warmpath.gateway.plan.Planner;
import io.warmpath.gateway.prompt.TokenLanes;
import io.warmpath.session.Affinity;

/**
 * Parts that all turns of sessions use.
 *
 * @param affinity where a session's requests go
 * @param sessions that clients open and close
 */
record TurnParts(
        Affinity affinity,
        EngineSessions sessions,
        Planner planner,
        Admission admission,
        TokenLanes lanes) {}
