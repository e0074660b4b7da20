package io.warmpath.events;

import io.warmpath.fleet.EventView;
import io.warmpath.prefix.PrefixMatch;
import io.warmpath.prefix.PrefixQuery;
import io.warmpath.prefix.PrefixSpace;
import io.warmpath.prefix.ReferencePrefixIndex;
import io.warmpath.prefix.Tier;
import io.warmpath.prefix.WorkerSlot;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;

/**
 * A session without sockets and with a clock made of numbers.
 *
 * <p>Batch n of an epoch stores the one-token block n under block n-1, so the depth of the prompt
 * 0,1,2,... says exactly which batches have been applied.
 */
abstract class SessionFixture {
    static final long SECOND = 1_000_000_000L;
    static final int CLEAR = 1_000;
    static final int BROKEN = 2_000;
    static final int WIDE = 3_000;

    /** Block 0 as llm-d's simulator stores it, with a parent 0. */
    static final int SIMULATED = 4_000;

    /** Block 0, and an event that could not be read. */
    static final int PARTLY = 5_000;

    final ReferencePrefixIndex index = new ReferencePrefixIndex();
    final WorkerSlot slot = index.open(0);
    final EventCounters counters = new EventCounters();
    final List<Long> requests = new ArrayList<>();
    final List<EventView> states = new ArrayList<>();

    long now;

    @AfterEach
    void close() {
        index.close();
    }

    SourceSession session(boolean replay) {
        EventSource source =
                new EventSource("w", 0, List.of(slot), "inproc://x", false, null, "", 1);
        return new SourceSession(
                source,
                index,
                SessionFixture::decode,
                counters,
                replay ? requests::add : null,
                (before, status) -> states.add(status.state()),
                new SourceSession.Timing(5 * SECOND, 30 * SECOND, 10 * SECOND),
                () -> now);
    }

    /** What was overtaken has had its time. */
    void late(SourceSession session) {
        now += SECOND;
        session.tick();
    }

    static void send(SourceSession session, int... batches) {
        for (int b : batches) {
            session.live(b, payload(0, b));
        }
    }

    static void replay(SourceSession session, int... batches) {
        for (int b : batches) {
            session.replayed(b, payload(0, b));
        }
    }

    /** {@code epoch} tells two processes apart, as the timestamp does in real payloads. */
    static byte[] payload(int epoch, int block) {
        return ByteBuffer.allocate(8).putInt(epoch).putInt(block).array();
    }

    private static KvBatch decode(byte[] payload) throws MalformedBatchException {
        ByteBuffer in = ByteBuffer.wrap(payload);
        int epoch = in.getInt();
        int block = in.getInt();
        if (block == BROKEN) {
            throw new MalformedBatchException("made broken");
        }
        KvEvent event =
                switch (block) {
                    case CLEAR -> new KvEvent.Cleared();
                    case WIDE ->
                            new KvEvent.Stored(
                                    new long[] {77, 78},
                                    false,
                                    0,
                                    new int[] {1, 2, 3, 4},
                                    false,
                                    2,
                                    "GPU",
                                    null,
                                    false,
                                    null,
                                    2,
                                    null,
                                    KvEvent.Scope.NONE);
                    case SIMULATED -> stored(0, 0);
                    case PARTLY -> stored(0, null);
                    default -> stored(block, block == 0 ? null : block);
                };
        return new KvBatch(epoch, 0, List.of(event), block == PARTLY ? 1 : 0, 0);
    }

    private static KvEvent stored(int block, @Nullable Integer parent) {
        return new KvEvent.Stored(
                new long[] {block + 1L},
                parent != null,
                parent == null ? 0 : parent,
                new int[] {block},
                false,
                1,
                "GPU",
                null,
                false,
                null,
                1,
                null,
                KvEvent.Scope.NONE);
    }

    int depth() {
        int[] prompt = new int[32];
        for (int i = 0; i < prompt.length; i++) {
            prompt[i] = i;
        }
        PrefixMatch match =
                index.match(new PrefixQuery(prompt, prompt.length, 1, PrefixSpace.NONE));
        return match.depth(slot, Tier.GPU);
    }
}
