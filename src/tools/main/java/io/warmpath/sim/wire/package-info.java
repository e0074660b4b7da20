/** KV events as the simulated engine sends them: msgpack, PUB and replay sockets. */
@NullMarked
package io.warmpath.sim.wire;

import org.jspecify.annotations.NullMarked;
