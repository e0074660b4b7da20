package io.warmpath.wiring;

import io.warmpath.fleet.FleetRegistry;
import io.warmpath.fleet.source.SourceName;
import io.warmpath.gateway.shared.SharedCache;
import io.warmpath.wiring.events.EventParts;
import io.warmpath.wiring.fleet.FleetRuntime;
import io.warmpath.wiring.index.OverlapParts;
import io.warmpath.wiring.index.SharedCacheParts;
import io.warmpath.wiring.memory.MemoryWatch;
import java.util.Map;
import java.util.Optional;
import java.util.function.Supplier;

/**
 * What {@link HealthBeans} asks of a running gateway, beside what operators ask. All answer from
 * memory.
 *
 * @param notReady why requests should not be sent here, though a worker gets them; empty: they
 *     should
 * @param index how the prefix index is implemented; empty: there is none
 * @param natsEvents the connection that events come by; empty: they come from engines, or are not
 *     followed
 * @param fleetSources whether each of those who name workers is heard
 * @param poolLacks why the InferencePool has no endpoint that serves; empty: it has, or there is
 *     none
 * @param pools how many shared pools answer; empty: no pool is configured
 * @param memory of the process
 */
record HealthParts(
        FleetRegistry fleet,
        Supplier<String> notReady,
        Optional<String> index,
        Supplier<Optional<Boolean>> natsEvents,
        Supplier<Map<SourceName, Boolean>> fleetSources,
        Supplier<String> poolLacks,
        Optional<Supplier<SharedCache.Answering>> pools,
        MemoryWatch memory) {
    static HealthParts of(
            FleetRuntime fleet,
            Supplier<String> notReady,
            Supplier<String> poolLacks,
            OverlapParts caches,
            EventParts events,
            SharedCacheParts sharedCache,
            MemoryWatch memory) {
        return new HealthParts(
                fleet.registry(),
                notReady,
                caches.implementation(),
                events::connectedToNats,
                fleet::heard,
                poolLacks,
                Optional.ofNullable(sharedCache.cache()).map(cache -> cache::answering),
                memory);
    }
}
