/** Simulated engines for the demo, tests and the lab; no product package depends on it. */
@NullMarked
package io.warmpath.sim;

import org.jspecify.annotations.NullMarked;
