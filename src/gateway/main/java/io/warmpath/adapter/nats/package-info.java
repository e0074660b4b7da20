/** NATS: one connection, the names of what lies there, events through JetStream. */
@org.jspecify.annotations.NullMarked
package io.warmpath.adapter.nats;
