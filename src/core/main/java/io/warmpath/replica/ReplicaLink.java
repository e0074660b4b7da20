package io.warmpath.replica;

/**
 * What carries messages to all other gateways: fast, in order from each sender, and sometimes not
 * at all.
 */
public interface ReplicaLink {
    /**
     * Any one thread at a time; must not wait.
     *
     * @param message of which {@code length} bytes count; the array is used again
     * @return false when it was not sent
     */
    boolean send(byte[] message, int length);

    /** What is sent now has a chance. */
    boolean isUp();

    /** Bytes of the largest message that gets through. */
    int maxBytes();
}
