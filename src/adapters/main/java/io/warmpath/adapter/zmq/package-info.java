/** KV events over ZeroMQ: subscription, decoding, replay. */
@org.jspecify.annotations.NullMarked
package io.warmpath.adapter.zmq;
