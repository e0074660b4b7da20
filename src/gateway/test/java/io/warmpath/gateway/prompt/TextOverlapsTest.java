package io.warmpath.gateway.prompt;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.warmpath.adapter.nativeindex.NativePrefixIndex;
import io.warmpath.fleet.Candidate;
import io.warmpath.fleet.EngineKind;
import io.warmpath.fleet.Worker;
import io.warmpath.prefix.DecisionLimits;
import io.warmpath.prefix.NumberedSlots;
import io.warmpath.prefix.PrefixIndex;
import io.warmpath.prefix.PrefixMatch;
import io.warmpath.prefix.PrefixSpace;
import io.warmpath.prefix.ReferencePrefixIndex;
import io.warmpath.prefix.SideIndex;
import io.warmpath.prefix.Tier;
import io.warmpath.prefix.WorkerSlot;
import io.warmpath.tokens.template.PromptInput.Chat;
import io.warmpath.tokens.template.PromptInput.Message;
import io.warmpath.tokens.template.TextChunks;
import java.net.URI;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import java.util.Random;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class TextOverlapsTest {
    private static final long TTL_MILLIS = 5_000;
    private static final PrefixSpace SALTED = new PrefixSpace("", "tenant");

    private final AtomicLong nanos = new AtomicLong(-1_000_000_000);

    private static PrefixIndex index(boolean isNative, long capacity) {
        DecisionLimits limits = new DecisionLimits(TTL_MILLIS, capacity);
        return isNative
                ? new NativePrefixIndex(Optional.empty(), 1 << 10, limits)
                : new ReferencePrefixIndex(ReferencePrefixIndex.DEFAULT_ORPHAN_LIMIT, limits);
    }

    private static Candidate candidate(int id, int blockSize, WorkerSlot slot) {
        Worker worker =
                Worker.builder(id, "w" + id, URI.create("http://w" + id))
                        .kind(EngineKind.OPENAI)
                        .models(Set.of("m"))
                        .blockSize(blockSize)
                        .ranks(List.of(new Worker.Rank(0, slot)))
                        .build();
        return new Candidate(worker, 0, slot);
    }

    private static TextChunks text(List<Message> messages) {
        return TextChunks.of("m", new Chat(messages, true)).orElseThrow();
    }

    private record Sent(WorkerSlot to, PrefixSpace space, int[] ids, long millis) {}

    /** The literal rule: the longest common beginning with anything sent there lately. */
    private static int chunksHeld(
            List<Sent> sent, WorkerSlot at, PrefixSpace in, int[] ids, long now) {
        int most = 0;
        for (Sent s : sent) {
            if (s.to().equals(at) && s.space().equals(in) && now - s.millis() < TTL_MILLIS) {
                int same = Arrays.mismatch(s.ids(), ids);
                most = Math.max(most, (same < 0 ? ids.length : same) / TextChunks.IDS_PER_CHUNK);
            }
        }
        return most;
    }

    @ParameterizedTest
    @ValueSource(booleans = {true, false})
    void every_worker_holds_what_was_sent_to_it_for_its_time(boolean isNative) {
        long seed = System.nanoTime();
        Random random = new Random(seed);
        try (PrefixIndex index = index(isNative, 1 << 20)) {
            SideIndex texts = new SideIndex(new NumberedSlots(), index);
            TextOverlaps overlaps = new TextOverlaps(Overlaps.NONE, texts, nanos::get);
            List<Candidate> fleet = new ArrayList<>();
            for (int i = 0; i < 5; i++) {
                fleet.add(candidate(i, i < 3 ? 16 : 1, texts.open(0)));
            }
            List<Sent> sent = new ArrayList<>();
            List<List<Message>> conversations = new ArrayList<>();
            long millis = 0;
            for (int step = 0; step < 1_500; step++) {
                if (conversations.isEmpty() || random.nextInt(4) == 0) {
                    conversations.add(List.of(new Message("system", "s" + random.nextInt(3))));
                }
                List<Message> before = conversations.get(random.nextInt(conversations.size()));
                List<Message> now =
                        new ArrayList<>(before.subList(0, random.nextInt(before.size() + 1)));
                now.add(new Message("user", "x ".repeat(random.nextInt(600)) + random.nextInt(9)));
                conversations.add(now);
                TextChunks asked = text(now);
                PrefixSpace space = random.nextBoolean() ? PrefixSpace.NONE : SALTED;
                PromptContent prompt = PromptContent.of(asked);
                String where = "seed " + seed + " step " + step;
                List<PrefixMatch> matches = overlaps.matches("m", space, fleet, prompt);
                assertEquals(List.of(16, 1), matches.stream().map(PrefixMatch::blockSize).toList());
                for (Candidate c : fleet) {
                    PrefixMatch match = matches.get(c.worker().blockSize() == 16 ? 0 : 1);
                    int held = chunksHeld(sent, c.slot(), space, asked.ids(), millis);
                    int blocks = asked.tokens(held) / c.worker().blockSize();
                    assertEquals(blocks, match.depth(c.slot(), Tier.GPU), where);
                    assertEquals(blocks, match.depth(c.slot(), Tier.EXTERNAL), where);
                    assertTrue(blocks <= match.blocks(), where);
                }
                Candidate to = fleet.get(random.nextInt(fleet.size()));
                overlaps.booked("m", space, to, prompt);
                sent.add(new Sent(to.slot(), space, asked.ids(), millis));
                int later = random.nextInt(40);
                millis += later;
                nanos.addAndGet(TimeUnit.MILLISECONDS.toNanos(later));
                overlaps.tidy();
                if (random.nextInt(200) == 0) { // a worker comes back empty
                    int i = random.nextInt(fleet.size());
                    texts.close(fleet.get(i).slot());
                    fleet.set(i, candidate(i, fleet.get(i).worker().blockSize(), texts.open(0)));
                }
            }
            assertEquals(1_500, overlaps.recorded());
            assertTrue(overlaps.recordedChunks() > 1_500);
        }
    }

    @Test
    void what_it_remembers_is_bounded() {
        try (PrefixIndex index = index(true, 100)) {
            SideIndex texts = new SideIndex(new NumberedSlots(), index);
            TextOverlaps overlaps = new TextOverlaps(Overlaps.NONE, texts, nanos::get);
            Candidate to = candidate(1, 16, texts.open(0));
            for (int i = 0; i < 100; i++) {
                TextChunks one = text(List.of(new Message("user", i + " x".repeat(2_000))));
                overlaps.booked("m", PrefixSpace.NONE, to, PromptContent.of(one));
                assertTrue(index.stats().residencies() <= 100);
            }
            assertTrue(index.stats().residencies() > 50);
        }
    }

    @Test
    void a_worker_that_has_left_is_booked_nothing() {
        try (PrefixIndex index = index(true, 100)) {
            SideIndex texts = new SideIndex(new NumberedSlots(), index);
            TextOverlaps overlaps = new TextOverlaps(Overlaps.NONE, texts, nanos::get);
            Candidate to = candidate(1, 16, texts.open(0));
            texts.close(to.slot());
            TextChunks one = text(List.of(new Message("user", "hi")));
            overlaps.booked("m", PrefixSpace.NONE, to, PromptContent.of(one));
            assertEquals(0, index.stats().residencies());
        }
    }

    @Test
    void a_text_has_neither_ids_nor_blocks_of_tokens() {
        PromptContent prompt = PromptContent.of(text(List.of(new Message("user", "hi"))));
        assertNotNull(prompt.text());
        assertNull(prompt.query(16, PrefixSpace.NONE));
        assertEquals(0, prompt.ids().length);
        assertEquals(0, prompt.names(16, 1).length);
        assertTrue(EnginePrompts.of(prompt.text()).isGuess());
    }
}
