package io.warmpath.api.picker;

import io.micrometer.core.instrument.Counter;
import io.micrometer.core.instrument.Gauge;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.Timer;
import io.warmpath.api.extproc.ProcessingRequest;
import io.warmpath.gateway.observe.EnumCounters;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;

/** What proxies ask the picker, and what becomes of it. Any thread. */
public final class PickerMeters {
    /** What became of a request that a proxy has told of. */
    enum Outcome {
        /** Chosen for what is in its body. */
        PICKED,
        /** Chosen without a look at its body: no inference, not readable, or not sent to us. */
        BY_LOAD,
        /** To an endpoint that has not said what it serves: its answer is not followed. */
        UNLEARNT,
        /** Answered by the picker. */
        REFUSED,
        /** Gone before it was answered. */
        CANCELLED
    }

    /** Why a stream was ended that asked too much. */
    enum Shed {
        /** More than all proxies may have together. */
        STREAMS,
        /** No room for a message that is not whole, or for answers that are not taken. */
        MEMORY,
        /** Nothing came, though it was the proxy's turn. */
        SILENT
    }

    private final AtomicInteger streams = new AtomicInteger();
    private final EnumCounters<Outcome> outcomes;
    private final EnumCounters<ProcessingRequest.Kind> messages;
    private final EnumCounters<Shed> shed;
    private final Timer bodyWait;
    private final Timer decide;
    final Counter servedElsewhere;
    final Counter servedUnknown;
    final Counter repeatedBodies;
    final Counter malformed;

    public PickerMeters(MeterRegistry registry) {
        Gauge.builder("warmpath.picker.streams", streams, AtomicInteger::get)
                .description("Requests that proxies follow with the endpoint picker now")
                .register(registry);
        outcomes =
                new EnumCounters<>(
                        registry,
                        Outcome.class,
                        "outcome",
                        "warmpath.picker.requests",
                        "Requests that proxies have asked the picker about");
        messages =
                new EnumCounters<>(
                        registry,
                        ProcessingRequest.Kind.class,
                        "kind",
                        "warmpath.picker.messages",
                        "Messages of proxies to the endpoint picker");
        shed =
                new EnumCounters<>(
                        registry,
                        Shed.class,
                        "why",
                        "warmpath.picker.shed",
                        "Streams of proxies that were ended: too many, no memory for what waits, or"
                                + " silent when it was their turn");
        bodyWait =
                Timer.builder("warmpath.picker.body.wait")
                        .description("From a request's headers until its whole body is there")
                        .register(registry);
        decide =
                Timer.builder("warmpath.picker.decide")
                        .description("From the whole body, or the headers, until the answer")
                        .register(registry);
        servedElsewhere =
                Counter.builder("warmpath.picker.served.elsewhere")
                        .description("Answers of another endpoint than the one that was picked")
                        .register(registry);
        servedUnknown =
                Counter.builder("warmpath.picker.served.unknown")
                        .description("Answers whose endpoint the proxy did not tell")
                        .register(registry);
        repeatedBodies =
                Counter.builder("warmpath.picker.repeated.bodies")
                        .description("Body messages behind the end of their body, left alone")
                        .register(registry);
        malformed =
                Counter.builder("warmpath.picker.malformed")
                        .description("Messages that were none of the protocol; their stream ended")
                        .register(registry);
    }

    void opened() {
        streams.incrementAndGet();
    }

    void closed() {
        streams.decrementAndGet();
    }

    void message(ProcessingRequest.Kind kind) {
        messages.count(kind);
    }

    void outcome(Outcome outcome) {
        outcomes.count(outcome);
    }

    void shed(Shed why) {
        shed.count(why);
    }

    void bodyWaited(long nanos) {
        bodyWait.record(nanos, TimeUnit.NANOSECONDS);
    }

    void decided(long nanos) {
        decide.record(nanos, TimeUnit.NANOSECONDS);
    }
}
