/**
 * Engines in virtual time: what a step takes and what a cache keeps, without tokens and sockets.
 */
@NullMarked
package io.warmpath.sim.virtual;

import org.jspecify.annotations.NullMarked;
