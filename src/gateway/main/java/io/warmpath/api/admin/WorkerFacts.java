package io.warmpath.api.admin;

import io.warmpath.fleet.EngineKind;
import io.warmpath.fleet.PinSupport;
import io.warmpath.fleet.Worker;
import io.warmpath.fleet.monitor.LoadPoll;
import io.warmpath.gateway.observe.SplitPairs.SplitPair;
import io.warmpath.routing.rates.TransferRates;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.Function;
import java.util.function.LongFunction;

/**
 * What other parts of the gateway know of workers. Any thread.
 *
 * @param loads what a worker's engine last said of its ranks, by worker id
 * @param followsEvents false: nobody here listens to engines' events, so that they, or what relays
 *     them, may stop sending
 * @param drifted which prompts have other ids here than on engines of a kind
 * @param pins how a worker keeps what clients pin, by its id
 * @param transfers how KV caches come to a worker from others, by its id
 * @param tokens where those of a worker's models come from, by model
 * @param pairs with whom a worker splits requests, by its name
 */
public record WorkerFacts(
        LongFunction<Map<Integer, LoadPoll.Seen>> loads,
        boolean followsEvents,
        Function<EngineKind, Set<String>> drifted,
        LongFunction<PinSupport> pins,
        LongFunction<TransferRates.Known> transfers,
        Function<Worker, Map<String, String>> tokens,
        Function<String, List<SplitPair>> pairs) {}
