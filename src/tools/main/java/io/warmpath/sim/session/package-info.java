/** Sessions of one simulated rank: what the engine remembers between the turns of an agent. */
@org.jspecify.annotations.NullMarked
package io.warmpath.sim.session;
