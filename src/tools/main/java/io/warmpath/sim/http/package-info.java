/** The simulated engine's HTTP surface. */
@org.jspecify.annotations.NullMarked
package io.warmpath.sim.http;
