/** Sources of KV events: who is subscribed to, over ZMQ or NATS. */
@org.jspecify.annotations.NullMarked
package io.warmpath.wiring.events;
