/** KV events over ZeroMQ: subscription, decoding, replay. */
@NullMarked
package io.warmpath.adapter.zmq;

import org.jspecify.annotations.NullMarked;
