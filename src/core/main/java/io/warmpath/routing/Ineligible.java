package io.warmpath.routing;

/**
 * A worker or rank that could not be chosen.
 *
 * @param label as {@link io.warmpath.fleet.Candidate#label}
 * @param reason a short phrase, such as {@code draining}
 */
public record Ineligible(String label, String reason) {}
