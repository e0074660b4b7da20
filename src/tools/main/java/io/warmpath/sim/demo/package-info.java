/** The demo player: simulated engines, the gateway as a child process, a scripted workload. */
@org.jspecify.annotations.NullMarked
package io.warmpath.sim.demo;
