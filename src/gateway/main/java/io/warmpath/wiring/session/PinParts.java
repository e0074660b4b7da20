package io.warmpath.wiring.session;

import io.micrometer.core.instrument.MeterRegistry;
import io.vertx.core.Vertx;
import io.warmpath.adapter.sglang.SglangPins;
import io.warmpath.config.state.PinConfig;
import io.warmpath.fleet.FleetListener;
import io.warmpath.fleet.PinSupport;
import io.warmpath.fleet.Worker;
import io.warmpath.fleet.probe.PinSupports;
import io.warmpath.gateway.pin.KeepAlives;
import io.warmpath.gateway.pin.PinCalls;
import io.warmpath.gateway.pin.PinMetrics;
import io.warmpath.gateway.pin.Pins;
import io.warmpath.gateway.prompt.TokenLanes;
import io.warmpath.load.LoadBook;
import io.warmpath.session.PrefillBudget;
import io.warmpath.session.pin.PinFile;
import io.warmpath.session.pin.PinLedger;
import io.warmpath.session.pin.PinRefusals;
import io.warmpath.upstream.EngineClient;
import io.warmpath.wiring.fleet.FleetRuntime;
import io.warmpath.wiring.index.StateParts;
import io.warmpath.wiring.settings.SteadyMillis;
import java.io.IOException;
import java.security.SecureRandom;
import java.util.List;
import java.util.Optional;
import java.util.function.LongFunction;
import java.util.function.LongSupplier;
import org.jboss.logging.Logger;
import org.jspecify.annotations.Nullable;

/** Cache pins, from the configuration; kept over a restart where snapshots are. */
public final class PinParts implements AutoCloseable {
    private static final Logger LOG = Logger.getLogger(PinParts.class);

    /** Of the ledger among what is kept. */
    private static final String NAME = "pins";

    private final Pins pins;
    private final LongFunction<PinSupport> supports;
    private final @Nullable PinLedger ledger;
    private final PinRefusals refusals = new PinRefusals();
    private final @Nullable KeepAlives keepAlives;
    private final @Nullable PinCalls calls;

    public PinParts(
            PinConfig config,
            StateParts state,
            FleetRuntime fleet,
            Vertx vertx,
            EngineClient engines,
            TokenLanes lanes,
            LoadBook load,
            MeterRegistry meters) {
        PinMetrics metrics = new PinMetrics(meters);
        if (!config.enabled()) {
            pins = Pins.off(metrics);
            supports = id -> PinSupport.NONE;
            ledger = null;
            keepAlives = null;
            calls = null;
            return;
        }
        LongSupplier millis = SteadyMillis.ofMachine();
        PinLedger book =
                new PinLedger(
                        new PinLedger.Options(
                                config.max(),
                                config.maxTokens(),
                                config.tenantMax(),
                                config.tenantTokens()),
                        kept(state),
                        millis);
        ledger = book;
        state.keep(NAME, book::version, () -> PinFile.write(book.content()));
        fleet.registry()
                .addListener(
                        new FleetListener() {
                            @Override
                            public void detached(Worker worker) {
                                book.workerLeft(worker.id());
                            }
                        });
        PinSupports known = fleet.pinSupports(new SglangPins(config.path()));
        supports = known::of;
        PinConfig.KeepAlive k = config.keepAlive();
        KeepAlives fresh =
                new KeepAlives(
                        vertx,
                        engines,
                        fleet.registry(),
                        load,
                        book,
                        metrics,
                        new PrefillBudget(
                                new PrefillBudget.Options(
                                        k.concurrency(), k.tokensPerSecond(), k.maxBacklog()),
                                System::nanoTime),
                        k.interval(),
                        System::nanoTime);
        keepAlives = fresh;
        PinCalls asking = new PinCalls(vertx, engines, lanes, fleet.registry(), known, fresh);
        calls = asking;
        pins =
                new Pins(
                        new Pins.Options(
                                true,
                                config.path(),
                                config.timeout(),
                                config.retries(),
                                config.queueSize(),
                                config.weight(),
                                config.priority()),
                        book,
                        refusals,
                        metrics,
                        supports,
                        millis,
                        asking);
        metrics.bind(book);
    }

    /** Of an earlier process; else an empty ledger under a new secret. */
    private static PinFile.Content kept(StateParts state) {
        PinFile.Content none = new PinFile.Content(new SecureRandom().nextLong(), List.of());
        try {
            byte[] bytes = state.kept(NAME).orElse(null);
            if (bytes == null) {
                return none;
            }
            PinFile.Content content = PinFile.read(bytes);
            LOG.infof("Took up %d pins", content.pins().size());
            return content;
        } catch (IOException e) {
            LOG.warnf("The pins of the process before are not used: %s", e.getMessage());
            return none;
        }
    }

    public Pins pins() {
        return pins;
    }

    public LongFunction<PinSupport> supports() {
        return supports;
    }

    /** Empty: pins are off. */
    public Optional<PinLedger> ledger() {
        return Optional.ofNullable(ledger);
    }

    public PinRefusals refusals() {
        return refusals;
    }

    public void start() {
        if (keepAlives != null) {
            keepAlives.start();
        }
    }

    @Override
    public void close() {
        if (calls != null) {
            calls.close();
        }
    }
}
