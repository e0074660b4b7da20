/** Virtual scheduling of one rank: queue, prefill, decode, abort. */
@NullMarked
package io.warmpath.sim.engine;

import org.jspecify.annotations.NullMarked;
