/** Sources of KV events: who is subscribed to, over ZMQ or NATS. */
@NullMarked
package io.warmpath.wiring.events;

import org.jspecify.annotations.NullMarked;
