package io.warmpath.wiring.index;

import io.micrometer.core.instrument.FunctionCounter;
import io.micrometer.core.instrument.Gauge;
import io.micrometer.core.instrument.MeterRegistry;
import io.warmpath.adapter.zmq.LmcacheController;
import io.warmpath.adapter.zmq.MessageRoom;
import io.warmpath.config.router.SharedCacheConfig;
import io.warmpath.pool.KeyStore;
import io.warmpath.pool.LmcacheInstances;
import io.warmpath.pool.PoolOptions;
import io.warmpath.wiring.memory.MemoryPlan;
import io.warmpath.wiring.settings.StartFailure;
import java.io.IOException;
import java.time.Duration;
import java.util.function.LongSupplier;
import java.util.function.ToDoubleFunction;
import java.util.function.ToLongFunction;

/** The controller of LMCache's workers, and what it has heard. */
public final class LmcacheParts implements AutoCloseable {
    /** What is asked is here: all chunks of a prompt at once, and no answer is kept. */
    static final PoolOptions OPTIONS = options();

    /** Of a chunk that a worker holds, for itself and in the set of its location. */
    private static final int CHUNK_BYTES = 64;

    private static final long MOST_CHUNKS = 1 << 22;

    private final LmcacheInstances instances;
    private final MessageRoom room;
    private final LmcacheController controller;

    private LmcacheParts(
            LmcacheInstances instances, MessageRoom room, LmcacheController controller) {
        this.instances = instances;
        this.room = room;
        this.controller = controller;
    }

    private static PoolOptions options() {
        PoolOptions d = PoolOptions.DEFAULTS;
        return new PoolOptions(
                false,
                1 << 16,
                Duration.ZERO,
                Duration.ZERO,
                0,
                d.mostUnderWay(),
                d.inlineTokens(),
                d.failures(),
                d.pause(),
                d.pause());
    }

    /**
     * @throws StartFailure when an endpoint cannot be had
     */
    static LmcacheParts open(
            SharedCacheConfig shared,
            MemoryPlan plan,
            MeterRegistry meters,
            LongSupplier nanoTime) {
        LmcacheInstances instances =
                new LmcacheInstances(plan.kept(MOST_CHUNKS * CHUNK_BYTES) / CHUNK_BYTES);
        MessageRoom room = new MessageRoom(plan.messages());
        try {
            LmcacheController controller =
                    new LmcacheController(
                            shared.lmcachePull(), shared.lmcacheReply(), instances, room, nanoTime);
            meters(meters, instances, room, controller::messages, controller::badMessages);
            return new LmcacheParts(instances, room, controller);
        } catch (IOException | IllegalArgumentException e) {
            throw new StartFailure(
                    "warmpath.shared-cache.lmcache-pull, lmcache-reply: " + e.getMessage());
        }
    }

    /**
     * @param messages that were understood
     * @param badMessages the others
     */
    public static void meters(
            MeterRegistry registry,
            LmcacheInstances instances,
            MessageRoom room,
            LongSupplier messages,
            LongSupplier badMessages) {
        counter(
                registry,
                instances,
                "messages",
                "Messages of LMCache's workers that were understood",
                i -> messages.getAsLong());
        counter(
                registry,
                instances,
                "messages.bad",
                "Messages to the LMCache controller that made no sense",
                i -> badMessages.getAsLong());
        counter(
                registry,
                instances,
                "refused",
                "Unfinished messages and connections of LMCache's ports without room",
                i -> room.refused());
        counter(
                registry,
                instances,
                "operations",
                "Chunks that LMCache's workers have taken up or given up",
                LmcacheInstances::operations);
        counter(
                registry,
                instances,
                "ignored",
                "Operations and messages of LMCache beyond the bounds, or of no sync that is known",
                LmcacheInstances::ignored);
        counter(
                registry,
                instances,
                "gaps",
                "Times that operations of an LMCache worker were missing",
                LmcacheInstances::gaps);
        Gauge.builder("warmpath.lmcache.unfinished.bytes", room, MessageRoom::held)
                .description("What has come of messages to LMCache's ports that have not ended")
                .register(registry);
        ToDoubleFunction<LmcacheInstances> chunks = LmcacheInstances::chunks;
        Gauge.builder("warmpath.lmcache.chunks", instances, chunks)
                .description("Chunks that LMCache's workers hold, each copy counted")
                .strongReference(true)
                .register(registry);
    }

    private static void counter(
            MeterRegistry registry,
            LmcacheInstances instances,
            String name,
            String doc,
            ToLongFunction<LmcacheInstances> count) {
        FunctionCounter.builder("warmpath.lmcache." + name, instances, i -> count.applyAsLong(i))
                .description(doc)
                .register(registry);
    }

    MessageRoom room() {
        return room;
    }

    KeyStore store(String instance) {
        return instances.store(instance);
    }

    @Override
    public void close() {
        controller.close();
    }
}
