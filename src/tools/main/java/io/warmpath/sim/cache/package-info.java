/** The simulated engine's paged KV cache and its own block hashes. */
@NullMarked
package io.warmpath.sim.cache;

import org.jspecify.annotations.NullMarked;
