package io.warmpath.sim.session;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.warmpath.sim.cache.CacheEvent;
import io.warmpath.sim.cache.CachePolicy;
import io.warmpath.sim.cache.CacheSpace;
import io.warmpath.sim.cache.KvCache;
import io.warmpath.sim.cache.Medium;
import io.warmpath.sim.cache.SglangPageHasher;
import io.warmpath.sim.engine.HostDma;
import io.warmpath.sim.engine.QueueOrder;
import io.warmpath.sim.engine.RankScheduler;
import io.warmpath.sim.engine.Sequence;
import io.warmpath.sim.engine.Timing;
import io.warmpath.sim.engine.VirtualTimers;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Set;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

/**
 * What a rank remembers between turns, on virtual time: 1 ms per prompt token, 4 tokens a block.
 */
class RankSessionsTest {
    private static final int BLOCK = 4;
    private static final int BOS = 7;
    private static final long SECOND = 1_000_000_000L;
    private static final Timing TIMING = new Timing(1000, 10_000, Duration.ofMillis(1), 1);

    private final VirtualTimers timers = new VirtualTimers();
    private final List<CacheEvent> events = new ArrayList<>();
    private KvCache cache = cache(100, 0);
    private RankScheduler scheduler = scheduler();
    private RankSessions sessions = sessions(false);

    /** One request on its way. */
    private final class Asked implements Sequence.Listener {
        private final SimSessionTurn turn;
        private final Sequence sequence;
        private final int[] tokens;
        private int cached = -1;
        private boolean over;

        Asked(SimSessionTurn turn, @Nullable String name, int answer) {
            this.turn = turn;
            int prompt = turn.prompt().length;
            this.tokens = Arrays.copyOf(turn.prompt(), prompt + answer);
            for (int i = 0; i < answer; i++) {
                tokens[prompt + i] = 900_000 + i;
            }
            this.sequence =
                    new Sequence(
                            tokens, prompt, CacheSpace.NONE, name, turn.slot(), null, null, this);
            scheduler.submit(sequence);
        }

        void leave() {
            scheduler.abort(sequence);
            turn.aborted();
        }

        /** Prompt tokens that were not computed. */
        int cached() {
            while (!over) {
                timers.advanceTo(timers.nanoTime() + SECOND / 1000);
                assertTrue(timers.pending() > 0 || over, "it waits for ever");
            }
            return cached;
        }

        @Override
        public void started(int cachedTokens, int hostTokens) {
            cached = cachedTokens;
        }

        @Override
        public void token(int index) {}

        @Override
        public void finished() {
            turn.finished(tokens);
            over = true;
        }
    }

    @Test
    void a_streaming_session_prepends_its_past_and_computes_only_what_is_new() throws Exception {
        open("s", true, null);
        assertEquals(0, turn("s", tokens(1, 20), 6).cached());
        Asked second = turn("s", tokens(2, 5), 3);
        assertEquals(20 + 6 + 5, second.turn.prompt().length);
        assertEquals(26, second.cached(), "prompt and answer, to the token");
        assertEquals(34, turn("s", tokens(3, 9), 1).cached());
        assertArrayEquals(tokens(2, 5), Arrays.copyOfRange(second.turn.prompt(), 26, 31));
    }

    @Test
    void its_first_turn_finds_what_others_have_left_and_leaves_only_its_prompt_to_them()
            throws Exception {
        plain(tokens(1, 16), 1).cached();
        open("s", true, null);
        events.clear();
        assertEquals(16, turn("s", tokens(1, 21), 12).cached());
        assertEquals(1, stored(), "the fifth block of the prompt; nothing is said of the answer's");
        turn("s", tokens(2, 21), 12).cached();
        assertEquals(1, stored(), "nor of any later turn");
        assertEquals(20, plain(tokens(1, 24), 1).cached(), "others find the first prompt");
    }

    @Test
    void its_kv_is_beyond_any_eviction_and_free_once_it_is_closed() throws Exception {
        cache = cache(20, 0);
        scheduler = scheduler();
        sessions = sessions(false);
        open("s", true, null);
        turn("s", tokens(1, 16), 8).cached();
        assertEquals(8, sessions.heldTokens(), "two blocks behind the prompt's four");
        for (int i = 10; i < 20; i++) {
            plain(tokens(i, 40), 1).cached();
        }
        assertEquals(24, turn("s", tokens(2, 2), 2).cached());
        sessions.close("s");
        assertEquals(0, sessions.heldTokens());
        assertEquals(cache.gpuEvictable(), cache.gpuUsed());
    }

    /** What SGLang's issue 27024 tells of: some agents, each with a session, fill the pool. */
    @Test
    void sessions_that_fill_the_memory_stop_the_engine_until_one_of_them_ends() throws Exception {
        cache = cache(12, 0);
        scheduler = scheduler();
        sessions = sessions(false);
        open("a", true, null);
        open("b", true, 30 * SECOND);
        turn("a", tokens(1, 20), 4).cached();
        turn("b", tokens(2, 20), 4).cached();
        Asked more = turn("a", tokens(3, 8), 1);
        Asked other = plain(tokens(4, 3), 1);
        timers.advanceTo(20 * SECOND);
        assertEquals(List.of(false, false), List.of(more.over, other.over), "nothing fits");
        assertEquals(2, scheduler.waiting());
        timers.advanceTo(40 * SECOND);
        assertFalse(sessions.isOpen("b"));
        assertEquals(List.of(true, true), List.of(more.over, other.over), "b has timed out");
        assertEquals(24, more.cached());
    }

    @Test
    void idle_time_ends_a_session_and_every_turn_starts_it_anew() throws Exception {
        open("s", true, 10 * SECOND);
        timers.advanceTo(8 * SECOND);
        turn("s", tokens(1, 8), 1).cached();
        timers.advanceTo(17 * SECOND);
        assertTrue(sessions.isOpen("s"));
        timers.advanceTo(20 * SECOND);
        assertFalse(sessions.isOpen("s"));
        assertEquals("Invalid request: session id s does not exist", refusal("s", tokens(2, 2)));
        assertEquals(cache.gpuEvictable(), cache.gpuUsed());
        timers.advanceTo(30 * SECOND);
        assertEquals(0, timers.pending(), "nobody looks after nothing");
    }

    @Test
    void a_streaming_session_takes_one_request_at_a_time_and_no_change_of_its_past()
            throws Exception {
        open("s", true, null);
        Asked first = turn("s", tokens(1, 8), 2);
        assertEquals(
                "Streaming session already has an active request.", refusal("s", tokens(2, 2)));
        first.cached();
        assertEquals(
                "Streaming sessions do not support replace.",
                refusal(new SessionParams("s", null, 0, true, false)));
        assertEquals(
                "Streaming sessions do not support offset.",
                refusal(new SessionParams("s", null, 3, false, false)));
        assertEquals(
                "Streaming sessions do not support drop_previous_output.",
                refusal(new SessionParams("s", null, 0, false, true)));
        assertEquals(10, turn("s", tokens(2, 2), 1).cached(), "no refusal has left a trace");
    }

    @Test
    void closing_waits_for_the_request_that_runs_and_takes_no_new_one() throws Exception {
        open("s", true, null);
        Asked running = turn("s", tokens(1, 8), 4);
        sessions.close("s");
        assertTrue(sessions.isOpen("s"));
        assertEquals(
                "Invalid request: close was requested for session s", refusal("s", tokens(2, 2)));
        running.cached();
        assertFalse(sessions.isOpen("s"));
        assertEquals(cache.gpuEvictable(), cache.gpuUsed());
        sessions.close("s");
    }

    @Test
    void a_client_that_leaves_takes_the_kv_along_but_not_the_past() throws Exception {
        open("s", true, null);
        turn("s", tokens(1, 9), 3).cached();
        Asked leaves = turn("s", tokens(2, 5), 50);
        timers.advanceTo(timers.nanoTime() + SECOND / 50);
        leaves.leave();
        assertEquals(0, sessions.heldTokens());
        Asked next = turn("s", tokens(3, 4), 1);
        assertEquals(12 + 4, next.turn.prompt().length, "what was aborted is forgotten");
        assertEquals(8, next.cached(), "found in the tree: the first prompt's two blocks");
    }

    @Test
    void an_emptied_cache_empties_the_slots_but_not_the_past() throws Exception {
        open("s", true, null);
        turn("s", tokens(1, 8), 4).cached();
        assertTrue(cache.clear());
        assertEquals(0, cache.gpuUsed() + sessions.heldTokens());
        Asked next = turn("s", tokens(2, 4), 2);
        assertEquals(16, next.turn.prompt().length);
        assertEquals(0, next.cached());
        assertEquals(18, turn("s", tokens(3, 4), 2).cached());
        sessions.close("s");
        assertEquals(cache.gpuEvictable(), cache.gpuUsed());
    }

    @Test
    void a_turn_loses_the_token_that_only_begins_prompts() throws Exception {
        open("s", true, null);
        turn("s", new int[] {BOS, 1, 2}, 1).cached();
        int[] past = {BOS, 1, 2, 900_000, 3, BOS};
        assertArrayEquals(past, turn("s", new int[] {BOS, 3, BOS}, 1).turn.prompt());
    }

    @Test
    void an_id_is_open_once() {
        open("s", false, null);
        assertFalse(sessions.open("s", true, null));
        sessions.close("s");
        assertTrue(sessions.open("s", true, null));
        assertEquals(1, sessions.streaming());
    }

    @Test
    void other_sessions_go_on_from_any_of_their_requests() throws Exception {
        open("s", false, null);
        Asked a = turn(new SessionParams("s", null, 0, false, false), "a", tokens(1, 8), 2);
        a.cached();
        assertArrayEquals(
                tokens(2, 2),
                turn(new SessionParams("s", null, 0, false, false), "b", tokens(2, 2), 1)
                        .turn
                        .prompt());
        Asked c = turn(new SessionParams("s", "a", 0, false, false), "c", tokens(3, 2), 1);
        assertEquals(12, c.turn.prompt().length);
        assertEquals(
                "Session request is appending to a request that hasn't finished.",
                refusal(new SessionParams("s", "c", 0, false, false)));
        c.cached();
        assertEquals(
                10,
                turn(new SessionParams("s", "a", 0, false, true), "d", tokens(4, 2), 1)
                        .turn
                        .prompt()
                        .length,
                "without the last answer");
        assertEquals(
                5,
                turn(new SessionParams("s", "a", 3, true, false), "e", tokens(5, 2), 1)
                        .turn
                        .prompt()
                        .length,
                "three tokens of the past");
        assertEquals(
                "Invalid request session id",
                refusal(new SessionParams("s", "c", 0, false, false)),
                "replaced");
    }

    @Test
    void closing_a_session_radix_name_drops_what_only_its_requests_have_used() throws Exception {
        cache = cache(100, 200);
        scheduler = scheduler();
        sessions = sessions(true);
        plain(tokens(1, 8), 1).cached();
        tagged("sub", tokens(1, 24), 1).cached();
        tagged("sub", tokens(2, 24), 1).cached();
        plain(tokens(2, 13), 1).cached();
        timers.advanceTo(timers.nanoTime() + SECOND);
        assertEquals(12, cache.contents(Medium.HOST).size());
        Asked running = tagged("sub", tokens(3, 8), 5);
        sessions.close("sub");
        assertEquals(12, cache.contents(Medium.GPU).size(), "a request of it runs");
        running.cached();
        timers.advanceTo(timers.nanoTime() + 3 * SECOND);
        assertEquals(
                2 + 3,
                cache.contents(Medium.GPU).size(),
                "what was there before, and what another request has found");
        assertEquals(2 + 3, cache.contents(Medium.HOST).size());
        assertEquals(8, plain(tokens(1, 24), 1).cached());
        assertEquals(0, sessions.streaming());
    }

    @Test
    void without_session_radix_a_name_is_only_a_name() throws Exception {
        tagged("sub", tokens(1, 24), 1).cached();
        sessions.close("sub");
        assertEquals(20, plain(tokens(1, 24), 1).cached());
    }

    private void open(String id, boolean streaming, @Nullable Long timeout) {
        assertTrue(sessions.open(id, streaming, timeout));
    }

    private Asked turn(String id, int[] prompt, int answer) throws SessionRefused {
        return turn(new SessionParams(id, null, 0, false, false), "r", prompt, answer);
    }

    private Asked turn(SessionParams params, String rid, int[] prompt, int answer)
            throws SessionRefused {
        return new Asked(sessions.begin(params, null, rid, prompt), null, answer);
    }

    private Asked tagged(String name, int[] prompt, int answer) throws SessionRefused {
        return new Asked(sessions.begin(null, name, "r", prompt), name, answer);
    }

    private Asked plain(int[] prompt, int answer) {
        return new Asked(new SimSessionTurn.Plain(prompt), null, answer);
    }

    private String refusal(String id, int[] prompt) {
        return assertThrows(SessionRefused.class, () -> turn(id, prompt, 1)).text();
    }

    private String refusal(SessionParams params) {
        return assertThrows(SessionRefused.class, () -> turn(params, "x", tokens(9, 2), 1)).text();
    }

    private int stored() {
        return events.stream()
                .mapToInt(e -> e instanceof CacheEvent.Stored s ? s.digests().size() : 0)
                .sum();
    }

    private KvCache cache(int gpu, int host) {
        return new KvCache(
                BLOCK,
                gpu,
                host,
                new SglangPageHasher(),
                new HostDma(timers, TIMING, () -> {}),
                CachePolicy.LRU,
                events::add);
    }

    private RankScheduler scheduler() {
        return new RankScheduler(
                cache, TIMING, timers, 8, 1000, false, QueueOrder.ARRIVAL, null, () -> {});
    }

    private RankSessions sessions(boolean radix) {
        return new RankSessions(scheduler, cache, timers, Set.of(BOS), radix);
    }

    private static int[] tokens(int first, int length) {
        return IntStream.range(0, length).map(i -> first * 1000 + i).toArray();
    }
}
