/** KV events as the simulated engine sends them: msgpack, PUB and replay sockets. */
@org.jspecify.annotations.NullMarked
package io.warmpath.sim.wire;
