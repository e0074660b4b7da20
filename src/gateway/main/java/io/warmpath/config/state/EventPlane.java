package io.warmpath.config.state;

/** How KV events come from the engines to the gateway. */
public enum EventPlane {
    /** Straight from each engine, over ZeroMQ. */
    ZMQ,
    /** Through a JetStream stream, from relays beside the engines. */
    NATS
}
