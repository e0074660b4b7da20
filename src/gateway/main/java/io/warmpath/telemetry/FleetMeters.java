package io.warmpath.telemetry;

import io.micrometer.core.instrument.FunctionCounter;
import io.micrometer.core.instrument.Gauge;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.MultiGauge;
import io.micrometer.core.instrument.Tags;
import io.warmpath.fleet.FleetListener;
import io.warmpath.fleet.FleetRegistry;
import io.warmpath.fleet.PassiveHealth;
import io.warmpath.fleet.Role;
import io.warmpath.fleet.Worker;
import io.warmpath.fleet.WorkerState;
import io.warmpath.fleet.monitor.FleetMonitor;
import io.warmpath.fleet.source.FleetSources;
import io.warmpath.load.LoadBook;
import io.warmpath.load.WorkerLoad;
import io.warmpath.routing.rates.TransferRates;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.function.ToDoubleFunction;

/**
 * Meters of the fleet: how many workers are in which state, and what is booked on each rank. Rows
 * of gone workers disappear with them.
 */
public final class FleetMeters {
    private final FleetRegistry fleet;
    private final LoadBook load;
    private final MultiGauge up;
    private final MultiGauge requests;
    private final MultiGauge prefillTokens;
    private final MultiGauge blocks;
    private final MultiGauge transfers;
    private final TransferRates rates;

    private FleetMeters(
            MeterRegistry registry, FleetRegistry fleet, LoadBook load, TransferRates rates) {
        this.rates = rates;
        this.fleet = fleet;
        this.load = load;
        up =
                MultiGauge.builder("warmpath.worker.up")
                        .description("1 while the worker is ready or on trial")
                        .register(registry);
        requests =
                MultiGauge.builder("warmpath.worker.requests")
                        .description("Requests running on the rank")
                        .register(registry);
        prefillTokens =
                MultiGauge.builder("warmpath.worker.prefill.tokens")
                        .description("Prompt tokens booked on the rank and not yet computed")
                        .register(registry);
        blocks =
                MultiGauge.builder("warmpath.worker.blocks")
                        .description("KV blocks of the requests running on the rank")
                        .register(registry);
        transfers =
                MultiGauge.builder("warmpath.disagg.transfer.bytes.per.second")
                        .description(
                                "How fast the KV cache of one request comes to a worker that decodes,"
                                        + " as its engine has shown; NaN: it has not")
                        .register(registry);
    }

    /** Registers the meters and follows the fleet. */
    public static void bind(
            MeterRegistry registry,
            FleetRegistry fleet,
            FleetMonitor monitor,
            PassiveHealth health,
            FleetSources sources,
            LoadBook load,
            TransferRates rates) {
        for (WorkerState state : WorkerState.values()) {
            Gauge.builder("warmpath.workers", fleet, f -> count(f, state))
                    .description("Workers by state")
                    .tag("state", state.name().toLowerCase(Locale.ROOT))
                    .register(registry);
        }
        FunctionCounter.builder("warmpath.worker.restarts", fleet, FleetRegistry::restarts)
                .description("Workers that came back as a new process")
                .register(registry);
        FunctionCounter.builder(
                        "warmpath.worker.probe.failures", monitor, FleetMonitor::failedProbes)
                .description("Health checks and questions to workers that failed")
                .register(registry);
        FunctionCounter.builder("warmpath.worker.suspensions", health, PassiveHealth::suspensions)
                .description("Times a worker was suspended because its requests went badly")
                .register(registry);
        Gauge.builder("warmpath.fleet.panics", fleet, f -> f.snapshot().panics())
                .description("Models of whose workers so many look bad that all are tried")
                .register(registry);
        Gauge.builder("warmpath.fleet.conflicts", sources, s -> s.problems().size())
                .description("Workers left out because another one has their name or id")
                .register(registry);
        Gauge.builder("warmpath.fleet.disagreements", fleet, FleetMeters::disagreements)
                .description(
                        "Facts that workers' records and engines tell differently, or that are not"
                                + " usable")
                .register(registry);
        FleetMeters meters = new FleetMeters(registry, fleet, load, rates);
        fleet.addListener(FleetListener.onChange(meters::refresh));
        meters.refresh();
    }

    private static double disagreements(FleetRegistry fleet) {
        return fleet.status().stream().mapToInt(s -> s.disagreements().size()).sum();
    }

    private static double count(FleetRegistry fleet, WorkerState state) {
        return fleet.snapshot().workers().stream().filter(w -> w.state() == state).count();
    }

    // Synchronized, so that whoever registers last has looked at the newest snapshot.
    private synchronized void refresh() {
        List<Worker> workers = fleet.snapshot().workers();
        List<MultiGauge.Row<?>> states = new ArrayList<>();
        for (Worker w : workers) {
            states.add(MultiGauge.Row.of(Tags.of("worker", w.name()), w.available() ? 1 : 0));
        }
        up.register(states, true);
        requests.register(rows(workers, WorkerLoad::requests), true);
        prefillTokens.register(rows(workers, WorkerLoad::prefillTokens), true);
        blocks.register(rows(workers, WorkerLoad::blocks), true);
        transfers.register(
                workers.stream()
                        .filter(w -> w.disaggregation().role() == Role.DECODE)
                        .<MultiGauge.Row<?>>map(this::transferOf)
                        .toList(),
                true);
    }

    private MultiGauge.Row<?> transferOf(Worker w) {
        return MultiGauge.Row.of(
                Tags.of("worker", w.name()),
                rates,
                all -> {
                    double rate = all.of(w.id()).bytesPerSecond();
                    return rate == 0 ? Double.NaN : rate;
                });
    }

    private List<MultiGauge.Row<?>> rows(List<Worker> workers, ToDoubleFunction<WorkerLoad> f) {
        List<MultiGauge.Row<?>> rows = new ArrayList<>();
        for (Worker w : workers) {
            for (Worker.Rank r : w.ranks()) {
                Tags tags = Tags.of("worker", w.name(), "rank", Integer.toString(r.dpRank()));
                rows.add(
                        MultiGauge.Row.of(
                                tags, load, book -> f.applyAsDouble(book.load(r.slot()))));
            }
        }
        return rows;
    }
}
