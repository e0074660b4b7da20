package io.warmpath.api.admin;

import io.warmpath.load.LoadBook;
import io.warmpath.prefix.SlotBlocks;
import io.warmpath.routing.NotExact;
import io.warmpath.routing.RouterOptions;
import io.warmpath.usage.FleetHistory;
import java.time.Instant;
import java.util.Map;
import java.util.function.BooleanSupplier;
import java.util.function.LongSupplier;
import java.util.function.Supplier;

/**
 * What the page of the fleet tells beside what each worker's own page does. Any thread.
 *
 * @param blocks what ranks hold, as events say; nothing where none are followed
 * @param active requests between their last byte and their end
 * @param waiting those of them that wait for a rank with room
 * @param memoryFull new requests are refused for want of memory
 * @param notExact answers whose cached tokens were not predicted, or not exactly, by why
 * @param notReady why requests should not be sent here; empty: they should
 */
public record FleetFacts(
        LoadBook load,
        FleetHistory history,
        Supplier<SlotBlocks> blocks,
        LongSupplier active,
        LongSupplier waiting,
        BooleanSupplier memoryFull,
        Supplier<Map<NotExact, Long>> notExact,
        Supplier<String> notReady,
        RouterOptions router,
        Instant started) {}
