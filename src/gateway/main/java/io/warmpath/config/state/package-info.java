/** Keys of what is known: events, index, snapshots, replicas, sessions, pins, NATS. */
@NullMarked
package io.warmpath.config.state;

import org.jspecify.annotations.NullMarked;
