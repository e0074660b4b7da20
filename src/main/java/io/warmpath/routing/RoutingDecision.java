package io.warmpath.routing;

import java.util.List;

/**
 * The winner, and every candidate's terms. The log line, the response headers and a failing test
 * print this same object.
 *
 * @param scores of every candidate that costs were compared of; in the modes that do not compare,
 *     of the chosen one alone
 * @param reason one short phrase, such as {@code lowest cost 3.0 of 4} or {@code pinned by client}
 * @param blocks KV blocks the request will occupy on the chosen worker (prompt blocks, rounded up;
 *     at least one, so that a prompt of unknown length is seen by the next decision)
 */
public record RoutingDecision(
        RouterMode mode, Score chosen, List<Score> scores, int blocks, String reason) {}
