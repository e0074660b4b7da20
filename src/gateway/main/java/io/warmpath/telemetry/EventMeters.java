package io.warmpath.telemetry;

import io.micrometer.core.instrument.FunctionCounter;
import io.micrometer.core.instrument.Gauge;
import io.micrometer.core.instrument.MeterRegistry;
import io.warmpath.events.DropReason;
import io.warmpath.events.EventCounters;
import io.warmpath.fleet.EventView;
import java.util.Locale;
import java.util.function.ToDoubleFunction;
import java.util.function.ToIntFunction;
import org.jspecify.annotations.Nullable;

/** Meters of the write path. */
public final class EventMeters {
    private final MeterRegistry registry;
    private final EventCounters counters;

    private EventMeters(MeterRegistry registry, EventCounters counters) {
        this.registry = registry;
        this.counters = counters;
    }

    /** {@code inState}: how many sources are in a state now. */
    public static void bind(
            MeterRegistry registry, EventCounters counters, ToIntFunction<EventView> inState) {
        for (EventView state : EventView.ofSources()) {
            Gauge.builder("warmpath.events.sources", () -> inState.applyAsInt(state))
                    .description("Event sources by state")
                    .tag("state", state.word())
                    .register(registry);
        }
        EventMeters m = new EventMeters(registry, counters);
        m.bindBatches();
        m.bindEvents();
        m.bindRepairs();
    }

    private void bindBatches() {
        counter("warmpath.events.batches", "Batches applied", null, EventCounters::batches);
        rejected("batch", EventCounters::rejectedBatches);
        rejected("frames", EventCounters::badFrames);
        rejected("event", EventCounters::badEvents);
        rejected("unknown_tag", EventCounters::unknownTags);
        rejected("unknown_field", EventCounters::unknownFields);
        counter(
                "warmpath.events.duplicates",
                "Batches that a replay had already brought",
                null,
                EventCounters::duplicates);
    }

    private void rejected(String what, ToDoubleFunction<EventCounters> value) {
        counter(
                "warmpath.events.unreadable",
                "Parts of event messages that could not be used",
                new String[] {"what", what},
                value);
    }

    private void bindEvents() {
        kind("stored", EventCounters::storedEvents);
        kind("removed", EventCounters::removedEvents);
        kind("cleared", EventCounters::clearedEvents);
        blocks("stored", EventCounters::storedBlocks);
        blocks("removed", EventCounters::removedBlocks);
        result("applied", EventCounters::applied);
        result("orphan", EventCounters::orphans);
        result("unknown_removed", EventCounters::unknownRemoved);
        result("ignored", EventCounters::ignored);
        for (DropReason reason : DropReason.values()) {
            counter(
                    "warmpath.events.dropped",
                    "Readable events that were not applied",
                    new String[] {"reason", reason.name().toLowerCase(Locale.ROOT)},
                    c -> c.dropped(reason));
        }
    }

    private void kind(String kind, ToDoubleFunction<EventCounters> value) {
        counter("warmpath.events.received", "Events by kind", new String[] {"kind", kind}, value);
    }

    private void blocks(String kind, ToDoubleFunction<EventCounters> value) {
        counter(
                "warmpath.events.blocks",
                "Blocks in events by kind",
                new String[] {"kind", kind},
                value);
    }

    private void result(String result, ToDoubleFunction<EventCounters> value) {
        counter(
                "warmpath.events.applied",
                "What became of events in the index",
                new String[] {"result", result},
                value);
    }

    private void bindRepairs() {
        counter("warmpath.events.gaps", "Holes in a sequence", null, EventCounters::gaps);
        counter(
                "warmpath.events.gaps.repaired",
                "Holes that were filled",
                null,
                EventCounters::repaired);
        counter(
                "warmpath.events.gaps.lost",
                "Holes that could not be filled; the rank's content was forgotten",
                null,
                EventCounters::gapsLost);
        counter(
                "warmpath.events.publisher.restarts",
                "Publishers that started anew",
                null,
                EventCounters::restarts);
        counter("warmpath.events.replays", "Replays asked for", null, EventCounters::replays);
        counter(
                "warmpath.events.replayed.batches",
                "Batches that came by replay",
                null,
                EventCounters::replayedBatches);
        counter(
                "warmpath.events.replay.failures",
                "Replays that were not answered in time",
                null,
                EventCounters::replayFailures);
        counter(
                "warmpath.events.poll.failures",
                "Engines asked for their events in vain (TensorRT-LLM)",
                null,
                EventCounters::pollFailures);
    }

    private void counter(
            String name,
            String doc,
            String @Nullable [] tags,
            ToDoubleFunction<EventCounters> value) {
        FunctionCounter.Builder<EventCounters> b =
                FunctionCounter.builder(name, counters, value).description(doc);
        if (tags != null) {
            b.tags(tags);
        }
        b.register(registry);
    }
}
