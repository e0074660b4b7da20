/** The simulated engine's paged KV cache and its own block hashes. */
@org.jspecify.annotations.NullMarked
package io.warmpath.sim.cache;
