package io.warmpath.telemetry;

import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.MultiGauge;
import io.micrometer.core.instrument.Tags;
import io.warmpath.fleet.Candidate;
import io.warmpath.fleet.FleetListener;
import io.warmpath.fleet.FleetRegistry;
import io.warmpath.fleet.Role;
import io.warmpath.routing.Router;
import io.warmpath.routing.rates.FleetPressure;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/**
 * The work of each model beside what its ranks can do, made up when it is scraped. A model without
 * a ready rank has no row; none has one where the router keeps no speeds.
 */
public final class PressureMeters {
    /** LoRA adapters may be many; the first by name are shown. */
    private static final int MOST_MODELS = 100;

    private final FleetRegistry fleet;
    private final Router router;
    private final MultiGauge pressure;
    private final MultiGauge roles;

    private PressureMeters(MeterRegistry registry, FleetRegistry fleet, Router router) {
        this.fleet = fleet;
        this.router = router;
        pressure =
                MultiGauge.builder("warmpath.fleet.pressure")
                        .description(
                                "Work that comes and waits against what the model's ready ranks can"
                                        + " do: above 1 queues grow without end")
                        .register(registry);
        roles =
                MultiGauge.builder("warmpath.role.pressure")
                        .description(
                                "Work that comes and waits against what the ranks of one role can"
                                        + " do, where a model's requests are split: the higher one is"
                                        + " short of workers")
                        .register(registry);
    }

    /** Registers the meter and follows the fleet. */
    public static void bind(MeterRegistry registry, FleetRegistry fleet, Router router) {
        PressureMeters meters = new PressureMeters(registry, fleet, router);
        fleet.addListener(FleetListener.onChange(meters::refresh));
        meters.refresh();
    }

    // Synchronized, so that whoever registers last has looked at the newest snapshot.
    private synchronized void refresh() {
        List<MultiGauge.Row<?>> rows = new ArrayList<>();
        for (String model : fleet.snapshot().models()) {
            if (rows.size() < MOST_MODELS && of(model).isPresent()) {
                rows.add(
                        MultiGauge.Row.of(
                                Tags.of("model", model),
                                this,
                                m -> m.of(model).map(FleetPressure::value).orElse(Double.NaN)));
            }
        }
        pressure.register(rows, true);
        roles.register(roleRows(), true);
    }

    private List<MultiGauge.Row<?>> roleRows() {
        List<MultiGauge.Row<?>> rows = new ArrayList<>();
        for (String model : fleet.snapshot().models()) {
            if (rows.size() >= MOST_MODELS || fleet.snapshot().prefills(model).isEmpty()) {
                continue;
            }
            for (Role role : Role.values()) {
                if (of(model, role).isPresent()) {
                    rows.add(
                            MultiGauge.Row.of(
                                    Tags.of("model", model, "role", role.label()),
                                    this,
                                    m ->
                                            m.of(model, role)
                                                    .map(FleetPressure::value)
                                                    .orElse(Double.NaN)));
                }
            }
        }
        return rows;
    }

    private Optional<FleetPressure> of(String model, Role role) {
        List<Candidate> candidates =
                role == Role.PREFILL
                        ? fleet.snapshot().prefills(model)
                        : fleet.snapshot().candidates(model).stream()
                                .filter(c -> c.worker().disaggregation().role() == role)
                                .toList();
        return of(model, candidates);
    }

    private Optional<FleetPressure> of(String model) {
        return of(model, fleet.snapshot().candidates(model));
    }

    private Optional<FleetPressure> of(String model, List<Candidate> candidates) {
        return candidates.isEmpty()
                ? Optional.empty()
                : router.forModel(model).pressure(candidates);
    }
}
