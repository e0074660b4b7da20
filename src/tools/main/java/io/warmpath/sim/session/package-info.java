/** Sessions of one simulated rank: what the engine remembers between the turns of an agent. */
@NullMarked
package io.warmpath.sim.session;

import org.jspecify.annotations.NullMarked;
