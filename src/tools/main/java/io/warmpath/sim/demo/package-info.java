/** The demo player: simulated engines, the gateway as a child process, a scripted workload. */
@NullMarked
package io.warmpath.sim.demo;

import org.jspecify.annotations.NullMarked;
