/** Simulated engines for the demo, tests and the lab; no product package depends on it. */
@org.jspecify.annotations.NullMarked
package io.warmpath.sim;
