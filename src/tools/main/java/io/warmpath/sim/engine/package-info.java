/** Virtual scheduling of one rank: queue, prefill, decode, abort. */
@org.jspecify.annotations.NullMarked
package io.warmpath.sim.engine;
