package io.warmpath.gateway.answer;

import io.warmpath.gateway.migration.Migration.Cause;
import io.warmpath.routing.RoutingDecision;

/**
 * A stream that has begun goes on elsewhere.
 *
 * @param from name of the worker that failed it
 * @param cause what it did
 * @param tokens of the answer that the client has; an estimate where the engine does not count
 * @param nanos since the request's last byte
 * @param to who goes on with it, and why
 */
public record StreamMove(String from, Cause cause, int tokens, long nanos, RoutingDecision to) {}
