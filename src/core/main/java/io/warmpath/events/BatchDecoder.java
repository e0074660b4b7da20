package io.warmpath.events;

/** Reads one payload of an engine's event stream. Any thread; keeps nothing. */
public interface BatchDecoder {
    /**
     * @throws MalformedBatchException when the bytes are not a batch at all; a single event that
     *     makes no sense is skipped and counted in the batch instead
     */
    KvBatch decode(byte[] payload) throws MalformedBatchException;
}
