/** The simulated engine's HTTP surface. */
@NullMarked
package io.warmpath.sim.http;

import org.jspecify.annotations.NullMarked;
