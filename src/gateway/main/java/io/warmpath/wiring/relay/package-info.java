/** The relay: KV events of one engine passed on to NATS JetStream, a program of its own. */
@NullMarked
package io.warmpath.wiring.relay;

import org.jspecify.annotations.NullMarked;
