/** Keys of what is known: events, index, snapshots, replicas, sessions, pins, NATS. */
@org.jspecify.annotations.NullMarked
package io.warmpath.config.state;
