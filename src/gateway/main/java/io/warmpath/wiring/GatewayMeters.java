package io.warmpath.wiring;

import io.micrometer.core.instrument.MeterRegistry;
import io.warmpath.events.EventCounters;
import io.warmpath.load.LoadTracker;
import io.warmpath.prefix.PrefixIndex;
import io.warmpath.routing.Router;
import io.warmpath.telemetry.AddressMeters;
import io.warmpath.telemetry.EventMeters;
import io.warmpath.telemetry.FleetMeters;
import io.warmpath.telemetry.IndexMeters;
import io.warmpath.telemetry.LoadMeters;
import io.warmpath.telemetry.PressureMeters;
import io.warmpath.telemetry.TokenMeters;
import io.warmpath.tokens.ModelTokens;
import io.warmpath.tokens.PromptIndex;
import io.warmpath.wiring.events.EventSubscriptions;
import io.warmpath.wiring.fleet.FleetRuntime;
import org.jspecify.annotations.Nullable;

/** Binds every part that counts by itself; the request flow has meters of its own. */
public final class GatewayMeters {
    private GatewayMeters() {}

    public static void bind(
            MeterRegistry registry,
            @Nullable PrefixIndex index,
            LoadTracker load,
            FleetRuntime fleet,
            EventCounters events,
            ModelTokens tokens,
            @Nullable PromptIndex prompts,
            Router router) {
        if (index != null) {
            IndexMeters.bind(registry, index, System::nanoTime);
        }
        LoadMeters.bind(registry, load);
        TokenMeters.bind(registry, tokens, prompts);
        FleetMeters.bind(
                registry,
                fleet.registry(),
                fleet.monitor(),
                fleet.passiveHealth(),
                fleet.sources(),
                load,
                fleet.transfers());
        PressureMeters.bind(registry, fleet.registry(), router);
        AddressMeters.bind(registry, fleet.addresses());
        EventSubscriptions subscriptions = fleet.subscriptions();
        if (subscriptions != null) {
            EventMeters.bind(registry, events, subscriptions::inState);
        }
    }
}
