package io.warmpath.wiring.index;

import io.micrometer.core.instrument.MeterRegistry;
import io.warmpath.adapter.nativeindex.NativePrefixIndex;
import io.warmpath.config.WarmpathConfig;
import io.warmpath.config.router.RouterConfig;
import io.warmpath.config.router.VllmCacheAwareConfig;
import io.warmpath.config.state.IndexConfig;
import io.warmpath.config.state.IndexImplementation;
import io.warmpath.gateway.prompt.HotPrompts;
import io.warmpath.gateway.prompt.IndexOverlaps;
import io.warmpath.gateway.prompt.Overlaps;
import io.warmpath.gateway.prompt.TextOverlaps;
import io.warmpath.gateway.prompt.TrackerOverlaps;
import io.warmpath.hot.HotPrefixes;
import io.warmpath.prefix.ApproximateSlots;
import io.warmpath.prefix.DecisionLimits;
import io.warmpath.prefix.NumberedSlots;
import io.warmpath.prefix.PrefixIndex;
import io.warmpath.prefix.PrefixMatch;
import io.warmpath.prefix.PrefixQuery;
import io.warmpath.prefix.ReferencePrefixIndex;
import io.warmpath.prefix.SideIndex;
import io.warmpath.prefix.SlotBlocks;
import io.warmpath.prefix.SlotCredits;
import io.warmpath.prefix.WorkerSlot;
import io.warmpath.prefix.WorkerSlots;
import io.warmpath.routing.RouterMode;
import io.warmpath.telemetry.PredictionMeters;
import io.warmpath.telemetry.TrackerMeters;
import io.warmpath.wiring.memory.MemoryPlan;
import io.warmpath.wiring.settings.RouterSettings;
import io.warmpath.wiring.settings.VllmCacheAwareSettings;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import java.util.function.LongSupplier;
import org.jboss.logging.Logger;
import org.jspecify.annotations.Nullable;

/**
 * What the gateway knows about caches, as configured: the index of events, the index of decisions,
 * both, the block trackers, or nothing; beside them an index of texts, for prompts whose tokens
 * nobody knows; and the slots that go with it. {@link #start} once, {@link #close} once, after
 * everything that uses the parts.
 */
public final class OverlapParts implements AutoCloseable {
    private static final Logger LOG = Logger.getLogger(OverlapParts.class);

    /** Decisions end at most so late. */
    private static final Duration LONGEST_TIDY = Duration.ofSeconds(1);

    private static final int TIDIES_PER_TTL = 8;

    /** Some 1,000 prompts of 60,000 characters. */
    private static final long MOST_HOT_BYTES = 8L << 20;

    private final WorkerSlots slots;
    private final Overlaps overlaps;
    private final @Nullable TextOverlaps texts;
    private final @Nullable PrefixIndex textIndex;
    private final @Nullable SideIndex textSide;
    private final @Nullable PrefixIndex index;
    private final @Nullable PrefixIndex decisions;
    private final @Nullable TrackerOverlaps trackers;
    private final @Nullable IndexOverlaps indexed;
    private final @Nullable HotPrompts hot;
    private @Nullable SideIndex side;
    private final SlotCredits credits = new SlotCredits();
    private final boolean followsEvents;
    private final Duration tidyEvery;
    private final String inWords;
    private final ScheduledExecutorService tidying =
            Executors.newSingleThreadScheduledExecutor(
                    Thread.ofPlatform().daemon().name("warmpath-tidy").factory());

    /**
     * @param plan how much memory each part may have
     * @param nanoTime as {@link System#nanoTime}
     */
    public OverlapParts(WarmpathConfig config, MemoryPlan plan, LongSupplier nanoTime) {
        RouterConfig router = config.router();
        WorkerSlots slots;
        Overlaps overlaps;
        Duration tidyEvery;
        followsEvents = RouterSettings.followsEvents(config);
        if (RouterSettings.mode(router) == RouterMode.VLLM_CACHE_AWARE) {
            VllmCacheAwareConfig settings = config.routing().vllmCacheAware();
            trackers = VllmCacheAwareSettings.trackers(settings, library(config.index()));
            slots = trackers;
            overlaps = trackers;
            indexed = null;
            index = null;
            decisions = null;
            tidyEvery = settings.evictionIntervalSecs();
            inWords = "mode vllm-cache-aware goes by where earlier prompts went";
        } else if (!RouterSettings.usesIndex(config)) {
            trackers = null;
            slots = new NumberedSlots();
            overlaps = Overlaps.NONE;
            indexed = null;
            index = null;
            decisions = null;
            tidyEvery = Duration.ZERO;
            inWords =
                    "what is cached is worth nothing (overlap-score-credit is 0, or load-aware is"
                            + " set): there is no prefix index, requests are routed by load alone";
        } else if (!followsEvents) {
            trackers = null;
            index = index(config.index(), lasting(router.ttl()), plan.index());
            slots = new ApproximateSlots(index);
            indexed = asked(IndexOverlaps.ofDecisions(index, nanoTime), index, config, plan);
            overlaps = indexed;
            decisions = null;
            tidyEvery = tidyEvery(router.ttl());
            inWords =
                    "warmpath.router.use-kv-events is false: a worker is taken to hold what this"
                            + " gateway sent to it, for "
                            + router.ttl();
        } else {
            trackers = null;
            index = index(config.index(), DecisionLimits.DEFAULT, plan.index());
            Optional<Duration> ttl = RouterSettings.predictedTtl(router);
            decisions =
                    ttl.isPresent()
                            ? index(config.index(), lasting(ttl.get()), plan.sideIndex())
                            : null;
            if (decisions == null) {
                slots = index;
                indexed = asked(IndexOverlaps.ofEvents(index, credits), index, config, plan);
            } else {
                SideIndex both = new SideIndex(index, decisions);
                side = both;
                slots = both;
                indexed =
                        asked(
                                IndexOverlaps.ofBoth(index, both, credits, nanoTime),
                                index,
                                config,
                                plan);
            }
            overlaps = indexed;
            tidyEvery = ttl.map(OverlapParts::tidyEvery).orElse(Duration.ZERO);
            inWords = "";
        }
        hot =
                indexed == null
                        ? null
                        : new HotPrompts(
                                new HotPrefixes(MOST_HOT_BYTES, nanoTime),
                                config.explain().prefixText());
        if (overlaps == Overlaps.NONE) {
            textIndex = null;
            textSide = null;
            texts = null;
            this.slots = slots;
            this.overlaps = overlaps;
            this.tidyEvery = tidyEvery;
        } else {
            textIndex = index(config.index(), lasting(router.ttl()), plan.sideIndex());
            textSide = new SideIndex(slots, textIndex);
            texts = new TextOverlaps(overlaps, textSide, nanoTime);
            this.slots = textSide;
            this.overlaps = texts;
            Duration often = tidyEvery(router.ttl());
            this.tidyEvery =
                    tidyEvery.isZero() || often.compareTo(tidyEvery) < 0 ? often : tidyEvery;
        }
    }

    /** The native index takes texts; the Java one compares tokens, and pools name pages by them. */
    private static IndexOverlaps asked(
            IndexOverlaps overlaps, PrefixIndex index, WarmpathConfig config, MemoryPlan plan) {
        return index instanceof NativePrefixIndex texts && !SharedCacheParts.isOn(config)
                ? overlaps.askedWith(texts.prompts(plan.prompts()))
                : overlaps;
    }

    WorkerSlots slots() {
        return slots;
    }

    public Overlaps overlaps() {
        return overlaps;
    }

    /** The index that events go to, or decisions when there are none; null: there is no index. */
    public @Nullable PrefixIndex index() {
        return index;
    }

    /** Which prefixes are hot; null: there is no index, or it is not asked by blocks. */
    public @Nullable HotPrompts hot() {
        return hot;
    }

    /** Who holds how much of a prefix that {@link #hot} told. */
    public PrefixMatch holders(PrefixQuery prefix) {
        return indexed == null
                ? PrefixMatch.none(prefix.blockSize(), prefix.blocks())
                : indexed.holders(prefix);
    }

    /** How the index is made; empty: there is none. */
    public Optional<String> implementation() {
        return Optional.ofNullable(index)
                .map(i -> i instanceof NativePrefixIndex ? "native" : "java");
    }

    /** What each slot holds, as events say; nothing where none are followed. */
    public SlotBlocks told() {
        return index != null && followsEvents ? index.slotBlocks() : SlotBlocks.NONE;
    }

    /** How far what events say of each slot is believed. */
    public SlotCredits credits() {
        return credits;
    }

    /** The index has opened these by itself, before anybody else opened one. */
    void adopt(List<WorkerSlot> opened) {
        if (side != null) {
            side.adopt(opened);
        }
        if (textSide != null) {
            textSide.adopt(opened);
        }
    }

    /** Meters of the parts; the index of events has its own. */
    public void bind(MeterRegistry registry) {
        if (trackers != null) {
            TrackerMeters.bind(registry, trackers::stats, trackers::recorded);
        }
        PrefixIndex holder = decisions != null ? decisions : followsEvents ? null : index;
        if (holder != null && indexed != null) {
            PredictionMeters.bind(
                    registry,
                    PredictionMeters.TOKENS,
                    holder,
                    indexed::recorded,
                    indexed::recordedBlocks,
                    System::nanoTime);
        }
        if (texts != null && textIndex != null) {
            PredictionMeters.bind(
                    registry,
                    PredictionMeters.TEXTS,
                    textIndex,
                    texts::recorded,
                    texts::recordedChunks,
                    System::nanoTime);
        }
    }

    public boolean followsEvents() {
        return followsEvents;
    }

    /** Begins to forget what is due, on a thread of its own. */
    @SuppressWarnings("FutureReturnValueIgnored") // tidy() lets nothing out
    public void start() {
        if (!followsEvents) {
            LOG.infof("KV events are not followed: %s", inWords);
        }
        if (tidyEvery.isPositive()) {
            tidying.scheduleWithFixedDelay(
                    this::tidy, tidyEvery.toNanos(), tidyEvery.toNanos(), TimeUnit.NANOSECONDS);
        }
    }

    private void tidy() {
        try {
            overlaps.tidy();
        } catch (RuntimeException e) {
            LOG.warn("Forgetting old cache contents failed; it is tried again", e);
        }
    }

    @Override
    public void close() {
        tidying.shutdown();
        try {
            if (!tidying.awaitTermination(5, TimeUnit.SECONDS)) {
                LOG.warn("Forgetting old cache contents did not stop within 5 s");
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
        if (trackers != null) {
            trackers.close();
        }
        if (textIndex != null) {
            textIndex.close();
        }
        if (decisions != null) {
            decisions.close();
        }
        if (index != null) {
            index.close();
        }
    }

    private static Duration tidyEvery(Duration ttl) {
        Duration part = ttl.dividedBy(TIDIES_PER_TTL).plusMillis(1);
        return part.compareTo(LONGEST_TIDY) < 0 ? part : LONGEST_TIDY;
    }

    private static DecisionLimits lasting(Duration ttl) {
        return new DecisionLimits(ttl.toMillis(), DecisionLimits.DEFAULT.capacity());
    }

    private static PrefixIndex index(IndexConfig config, DecisionLimits limits, long maxBytes) {
        return config.implementation() == IndexImplementation.JAVA
                ? new ReferencePrefixIndex(ReferencePrefixIndex.DEFAULT_ORPHAN_LIMIT, limits)
                : new NativePrefixIndex(
                        library(config), NativePrefixIndex.DEFAULT_ORPHAN_LIMIT, limits, maxBytes);
    }

    private static Optional<Path> library(IndexConfig config) {
        return config.nativePath().map(Path::of);
    }
}
