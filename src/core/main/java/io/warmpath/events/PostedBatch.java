package io.warmpath.events;

/**
 * Events that an engine posts: what names the source, and which of its batches this is.
 *
 * @param worker name
 * @param epoch rises with each process of the engine
 * @param sequence of the batch, from 0 in each epoch
 */
public record PostedBatch(String worker, int dpRank, long epoch, long sequence, KvBatch batch) {}
