/** The relay: KV events of one engine passed on to NATS JetStream, a program of its own. */
@org.jspecify.annotations.NullMarked
package io.warmpath.wiring.relay;
