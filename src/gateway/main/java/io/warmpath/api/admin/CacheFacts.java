package io.warmpath.api.admin;

import io.warmpath.events.EventCounters;
import io.warmpath.fleet.Candidate;
import io.warmpath.gateway.prompt.HotPrompts;
import io.warmpath.pool.PoolLayout;
import io.warmpath.pool.PoolStanding;
import io.warmpath.prefix.IndexStats;
import io.warmpath.prefix.PrefixMatch;
import io.warmpath.prefix.PrefixQuery;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalDouble;
import java.util.function.BiFunction;
import java.util.function.Function;
import java.util.function.Supplier;

/**
 * What other parts of the gateway know of caches. Any thread.
 *
 * @param hot empty: there is no index, or it is not asked by blocks
 * @param holders who holds how much of a hot prefix
 * @param index empty: there is none
 * @param events empty: none are followed
 * @param evicted the part of what a model's ranks compute that was computed before
 * @param pools those that workers share
 */
public record CacheFacts(
        Optional<HotPrompts> hot,
        Function<PrefixQuery, PrefixMatch> holders,
        Supplier<Optional<IndexStats>> index,
        Optional<EventCounters> events,
        BiFunction<String, List<Candidate>, OptionalDouble> evicted,
        Supplier<Map<PoolLayout, PoolStanding>> pools) {}
