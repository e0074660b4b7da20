/**
 * Engines in virtual time: what a step takes and what a cache keeps, without tokens and sockets.
 */
@org.jspecify.annotations.NullMarked
package io.warmpath.sim.virtual;
