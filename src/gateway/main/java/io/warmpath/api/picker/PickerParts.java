package io.warmpath.api.picker;

import io.warmpath.api.client.ClientGate;
import io.warmpath.api.error.RequestIds;
import io.warmpath.api.inference.InferenceEndpoint;
import io.warmpath.fleet.Fleet;
import io.warmpath.gateway.observe.FlowMetrics;
import io.warmpath.gateway.request.BodyMemory;
import io.warmpath.upstream.EngineClient;
import java.util.function.LongSupplier;
import java.util.function.UnaryOperator;

/**
 * What the requests of proxies need of a running gateway. Shared by all event loops.
 *
 * @param inference reads requests and starts them, on a flow that lets {@code Sender}s send
 * @param gate who may ask
 * @param bodies memory of all requests' bodies
 * @param keyed adds what engines want to be shown
 * @param random 64 random bits; any thread
 * @param nanoTime as {@link System#nanoTime}
 */
public record PickerParts(
        InferenceEndpoint inference,
        Fleet fleet,
        ClientGate gate,
        RequestIds ids,
        BodyMemory bodies,
        FlowMetrics metrics,
        PickerMeters meters,
        PickerOptions options,
        UnaryOperator<EngineClient> keyed,
        LongSupplier random,
        LongSupplier nanoTime) {}
