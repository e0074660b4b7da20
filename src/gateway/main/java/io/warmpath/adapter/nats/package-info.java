/** NATS: one connection, the names of what lies there, events through JetStream. */
@NullMarked
package io.warmpath.adapter.nats;

import org.jspecify.annotations.NullMarked;
