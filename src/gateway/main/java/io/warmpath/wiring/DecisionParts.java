package io.warmpath.wiring;

import io.micrometer.core.instrument.FunctionCounter;
import io.micrometer.core.instrument.Gauge;
import io.micrometer.core.instrument.MeterRegistry;
import io.vertx.core.Vertx;
import io.warmpath.api.admin.DecisionStream;
import io.warmpath.api.admin.GatewayInstance;
import io.warmpath.config.ExplainConfig;
import io.warmpath.gateway.observe.DecisionLog;
import io.warmpath.wiring.settings.StartFailure;
import java.io.IOException;
import java.nio.file.Path;
import java.time.InstantSource;
import org.jspecify.annotations.Nullable;

/** The log of decisions, its file and those who follow it, as configured. */
final class DecisionParts implements AutoCloseable {
    /** Their places alone take some megabytes. */
    private static final int MOST = 1_000_000;

    private final @Nullable DecisionFile file;
    private final DecisionLog log;
    private final DecisionStream stream;

    /**
     * @param channel null: decisions go to nobody else
     * @throws StartFailure when the number is out of range or the file cannot be opened
     */
    DecisionParts(
            ExplainConfig config,
            Vertx vertx,
            GatewayInstance instance,
            MeterRegistry meters,
            DecisionLog.@Nullable Sink channel) {
        int kept = config.decisions();
        if (kept < 0 || kept > MOST) {
            throw new StartFailure(
                    "warmpath.explain.decisions is " + kept + "; use 0.." + MOST + " decisions");
        }
        file = config.decisionsFile().map(DecisionParts::open).orElse(null);
        FunctionCounter.builder("warmpath.decisions.dropped", this, DecisionParts::dropped)
                .description("Lines that the file of decisions was too slow for")
                .register(meters);
        DecisionLog.Sink sink =
                file == null ? channel : channel == null ? file : new Both(file, channel);
        log =
                kept == 0 && sink == null
                        ? DecisionLog.OFF
                        : new DecisionLog(
                                new DecisionLog.Bounds(
                                        kept,
                                        config.decisionsSize().bytes(),
                                        config.decisionsRate(),
                                        config.termsRate()),
                                sink,
                                InstantSource.system(),
                                System::nanoTime);
        FunctionCounter.builder("warmpath.decisions.left.out", log, DecisionLog::leftOut)
                .description("Decisions that came too fast to be kept, or were too large")
                .register(meters);
        Gauge.builder("warmpath.decisions.kept.bytes", log, l -> l.held().bytes())
                .description("Memory of the decisions that are kept")
                .baseUnit("bytes")
                .register(meters);
        stream = new DecisionStream(vertx, log.feed(), instance);
        Gauge.builder("warmpath.decisions.streams", stream, DecisionStream::readers)
                .description("Open streams of decisions")
                .register(meters);
    }

    private record Both(DecisionLog.Sink file, DecisionLog.Sink channel)
            implements DecisionLog.Sink {
        @Override
        public void decided(DecisionLog.Logged decision) {
            file.decided(decision);
            channel.decided(decision);
        }

        @Override
        public void ended(DecisionLog.Ended end) {
            file.ended(end);
            channel.ended(end);
        }
    }

    private double dropped() {
        return file == null ? 0 : file.dropped();
    }

    DecisionLog log() {
        return log;
    }

    /** Those who follow it. */
    DecisionStream stream() {
        return stream;
    }

    /** Streams end now: nobody has to wait for those who read them. */
    void leaving() {
        stream.close();
    }

    private static DecisionFile open(String name) {
        try {
            return new DecisionFile(Path.of(name), DecisionFile.QUEUE);
        } catch (IOException e) {
            throw new StartFailure(
                    "the file " + name + " (--explain-decisions-file) cannot be written");
        }
    }

    @Override
    public void close() {
        stream.close();
        if (file != null) {
            file.close();
        }
    }
}
