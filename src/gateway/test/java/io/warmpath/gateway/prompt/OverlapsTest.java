package io.warmpath.gateway.prompt;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.warmpath.adapter.nativeindex.NativeBlockTracker;
import io.warmpath.adapter.nativeindex.NativeBpeTokenizer;
import io.warmpath.adapter.nativeindex.NativePrefixIndex;
import io.warmpath.adapter.tokenizer.DemoModel;
import io.warmpath.adapter.tokenizer.HuggingFaceModelLoader;
import io.warmpath.fleet.CacheTraits;
import io.warmpath.fleet.Candidate;
import io.warmpath.fleet.EngineKind;
import io.warmpath.fleet.Worker;
import io.warmpath.load.LoadTracker;
import io.warmpath.prefix.ApproximateSlots;
import io.warmpath.prefix.Bigrams;
import io.warmpath.prefix.BlockTracker;
import io.warmpath.prefix.DecisionLimits;
import io.warmpath.prefix.PrefixEvent;
import io.warmpath.prefix.PrefixIndex;
import io.warmpath.prefix.PrefixMatch;
import io.warmpath.prefix.PrefixQuery;
import io.warmpath.prefix.PrefixSpace;
import io.warmpath.prefix.ReferencePrefixIndex;
import io.warmpath.prefix.SideIndex;
import io.warmpath.prefix.Tier;
import io.warmpath.prefix.WorkerSlot;
import io.warmpath.prefix.WorkerSlots;
import io.warmpath.routing.CostKind;
import io.warmpath.routing.Router;
import io.warmpath.routing.RouterMode;
import io.warmpath.routing.RouterOptions;
import io.warmpath.routing.RoutingDecision;
import io.warmpath.routing.RoutingRequest;
import io.warmpath.routing.modes.Routers;
import io.warmpath.tokens.LookUp;
import io.warmpath.tokens.PromptIndex;
import io.warmpath.tokens.model.LoadedModel;
import io.warmpath.tokens.text.TextTokenizer;
import java.net.URI;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import java.util.SplittableRandom;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

/** What is known of caches without events, and between a decision and its event. */
class OverlapsTest {
    private static final int B = 16;
    private static final String MODEL = "m";
    private static final DecisionLimits LIMITS = new DecisionLimits(5_000, 1 << 20);

    private final AtomicLong nanos = new AtomicLong(-1_000_000_000);

    private static Candidate candidate(int id, int blockSize, WorkerSlot slot) {
        Worker worker =
                Worker.builder(id, "w" + id, URI.create("http://w" + id))
                        .kind(EngineKind.VLLM)
                        .models(Set.of(MODEL))
                        .blockSize(blockSize)
                        .ranks(List.of(new Worker.Rank(0, slot)))
                        .build();
        return new Candidate(worker, 0, slot);
    }

    private static List<Candidate> fleet(WorkerSlots slots, int size) {
        return IntStream.range(0, size).mapToObj(i -> candidate(i, B, slots.open(1))).toList();
    }

    private static int[] prompt(int seed, int blocks) {
        int[] tokens = new int[blocks * B + 1];
        Arrays.setAll(tokens, i -> seed * 1_000_003 + i);
        return tokens;
    }

    private static int depth(Overlaps overlaps, List<Candidate> fleet, Candidate of, int[] tokens) {
        return depth(overlaps, fleet, of, PromptContent.of(tokens));
    }

    private static int depth(
            Overlaps overlaps, List<Candidate> fleet, Candidate of, PromptContent prompt) {
        List<PrefixMatch> matches = overlaps.matches(MODEL, PrefixSpace.NONE, fleet, prompt);
        assertEquals(1, matches.size());
        return matches.getFirst().depth(of.slot(), Tier.GPU);
    }

    private void pass(long millis) {
        nanos.addAndGet(TimeUnit.MILLISECONDS.toNanos(millis));
    }

    @Test
    void without_events_a_worker_holds_what_was_booked_until_the_time_is_over() {
        try (PrefixIndex index = new ReferencePrefixIndex(1 << 10, LIMITS)) {
            List<Candidate> fleet = fleet(new ApproximateSlots(index), 2);
            Overlaps overlaps = IndexOverlaps.ofDecisions(index, nanos::get);
            int[] tokens = prompt(1, 8);
            overlaps.askedOnly(0)
                    .booked(MODEL, PrefixSpace.NONE, fleet.get(1), PromptContent.of(tokens));
            assertEquals(0, depth(overlaps, fleet, fleet.get(1), tokens), "asked only");
            overlaps.booked(MODEL, PrefixSpace.NONE, fleet.get(1), PromptContent.of(tokens));
            pass(4_999); // the clock becomes positive
            overlaps.tidy();
            assertEquals(8, depth(overlaps, fleet, fleet.get(1), tokens));
            assertEquals(0, depth(overlaps, fleet, fleet.get(0), tokens));
            pass(1);
            overlaps.tidy();
            assertEquals(0, depth(overlaps, fleet, fleet.get(1), tokens));
            assertEquals(0, index.stats().decisions());
        }
    }

    @Test
    void beside_events_the_larger_of_both_counts_for_each_worker() {
        try (PrefixIndex index = new ReferencePrefixIndex();
                PrefixIndex decisions = new ReferencePrefixIndex(1 << 10, LIMITS)) {
            SideIndex side = new SideIndex(index, decisions);
            List<Candidate> fleet = fleet(side, 3);
            Overlaps overlaps = IndexOverlaps.ofBoth(index, side, nanos::get);
            int[] tokens = prompt(1, 8);
            stored(index, fleet.get(0), tokens, 5);
            stored(index, fleet.get(1), tokens, 2);
            int[] start = Arrays.copyOf(tokens, 4 * B);
            overlaps.booked(MODEL, PrefixSpace.NONE, fleet.get(0), PromptContent.of(start));
            overlaps.booked(MODEL, PrefixSpace.NONE, fleet.get(1), PromptContent.of(start));
            overlaps.booked(MODEL, PrefixSpace.NONE, fleet.get(2), PromptContent.of(tokens));
            assertEquals(5, depth(overlaps, fleet, fleet.get(0), tokens));
            assertEquals(4, depth(overlaps, fleet, fleet.get(1), tokens));
            assertEquals(8, depth(overlaps, fleet, fleet.get(2), tokens));
            pass(5_000);
            overlaps.tidy();
            assertEquals(5, depth(overlaps, fleet, fleet.get(0), tokens));
            assertEquals(2, depth(overlaps, fleet, fleet.get(1), tokens), "events alone again");
            assertEquals(0, depth(overlaps, fleet, fleet.get(2), tokens));
            side.close(fleet.get(2).slot());
            overlaps.booked(MODEL, PrefixSpace.NONE, fleet.get(2), PromptContent.of(tokens));
            assertEquals(0, depth(overlaps, fleet, fleet.get(2), tokens), "it has left");
        }
    }

    @Test
    void workers_whose_keys_are_pairs_of_tokens_are_asked_by_pairs() {
        try (PrefixIndex index = new NativePrefixIndex(Optional.empty(), 0);
                PrefixIndex decisions = new NativePrefixIndex(Optional.empty(), 0)) {
            SideIndex side = new SideIndex(index, decisions);
            List<Candidate> fleet = new ArrayList<>(fleet(side, 2));
            Candidate plain = fleet.get(0);
            Candidate eagle = withPairs(fleet.get(1));
            fleet.set(1, eagle);
            IndexOverlaps overlaps = IndexOverlaps.ofBoth(index, side, nanos::get);
            int[] tokens = prompt(1, 8);
            stored(index, plain, tokens, 5);
            index.apply(
                    List.of(
                            new PrefixEvent.Stored(
                                    eagle.slot(),
                                    Tier.GPU,
                                    false,
                                    0,
                                    new long[] {1, 2, 3},
                                    Bigrams.blocks(tokens, 3, B),
                                    Bigrams.blockSize(B),
                                    PrefixSpace.NONE)));
            assertEquals(5, depth(overlaps, fleet, plain, tokens));
            assertEquals(3, depth(overlaps, fleet, eagle, tokens));
            int[] threeBlocks = Arrays.copyOf(tokens, 3 * B + 1);
            assertEquals(3, depth(overlaps, fleet, plain, threeBlocks));
            assertEquals(2, depth(overlaps, fleet, eagle, threeBlocks), "the last pair is new");
            PrefixMatch hot = overlaps.holders(new PrefixQuery(tokens, 3 * B, B, PrefixSpace.NONE));
            assertEquals(3, hot.depth(plain.slot(), Tier.GPU));
            assertEquals(2, hot.depth(eagle.slot(), Tier.GPU));
            overlaps.booked(MODEL, PrefixSpace.NONE, eagle, PromptContent.of(tokens));
            assertEquals(7, depth(overlaps, fleet, eagle, tokens), "of 8 blocks and a token");
            int[] longer = Arrays.copyOf(tokens, 9 * B);
            assertEquals(8, depth(overlaps, fleet, eagle, longer));
            longer[8 * B]++;
            assertEquals(7, depth(overlaps, fleet, eagle, longer), "another last pair");
        }
    }

    private static Candidate withPairs(Candidate c) {
        return new Candidate(
                c.worker().toBuilder().cache(new CacheTraits(true, false, false)).build(),
                c.dpRank(),
                c.slot());
    }

    @Test
    void a_text_is_answered_from_its_own_call_and_later_from_its_hashes() throws Exception {
        LoadedModel model =
                new HuggingFaceModelLoader(parts -> new NativeBpeTokenizer(Optional.empty(), parts))
                        .load(DemoModel.directory());
        try (NativePrefixIndex index = new NativePrefixIndex(Optional.empty(), 0);
                NativePrefixIndex decisions = new NativePrefixIndex(Optional.empty(), 0);
                TextTokenizer tokenizer = model.tokenizer()) {
            SideIndex side = new SideIndex(index, decisions);
            List<Candidate> fleet = fleet(side, 2);
            Overlaps overlaps =
                    IndexOverlaps.ofBoth(index, side, nanos::get).askedWith(index.prompts(1 << 20));
            PromptIndex texts = Objects.requireNonNull(overlaps.prompts());
            String text = "What a prompt holds is told in blocks of tokens. ".repeat(20);
            int[] ids = tokenizer.encode(text, false);
            stored(index, fleet.get(0), ids, 3);
            LookUp lookUp = new LookUp(texts, List.of(B), PrefixSpace.NONE);
            PromptContent byText =
                    PromptContent.of(
                            Objects.requireNonNull(
                                    lookUp.match(tokenizer, text, false, Integer.MAX_VALUE)));
            PromptContent byIds = PromptContent.of(lookUp.match(ids));
            assertTrue(byText.isLike(byIds));
            assertEquals(ids.length, byText.length());
            stored(index, fleet.get(0), ids, 5);
            assertEquals(3, depth(overlaps, fleet, fleet.get(0), byText), "as it was hashed");
            assertEquals(5, depth(overlaps, fleet, fleet.get(0), byText), "as it is now");
            overlaps.booked(MODEL, PrefixSpace.NONE, fleet.get(1), byText);
            int blocks = ids.length / B;
            assertEquals(blocks, depth(overlaps, fleet, fleet.get(1), byIds));
            assertEquals(blocks, depth(overlaps, fleet, fleet.get(1), PromptContent.of(ids)));
            LoadTracker load = new LoadTracker();
            assertArrayEquals(
                    byText.named(load, MODEL, "", B).chain(),
                    byIds.named(load, MODEL, "", B).chain());
            assertEquals(blocks, byText.named(load, MODEL, "", B).chain().length);
            assertEquals(0, byText.named(load, MODEL, "", 2 * B).chain().length, "not known");
            List<Candidate> other = List.of(candidate(9, 2 * B, side.open(1)));
            assertEquals(List.of(), overlaps.matches(MODEL, PrefixSpace.NONE, other, byText));
        }
    }

    private static void stored(PrefixIndex index, Candidate to, int[] tokens, int blocks) {
        index.apply(
                List.of(
                        new PrefixEvent.Stored(
                                to.slot(),
                                Tier.GPU,
                                false,
                                0,
                                IntStream.range(0, blocks).mapToLong(i -> i + 1).toArray(),
                                Arrays.copyOf(tokens, blocks * B),
                                B,
                                PrefixSpace.NONE)));
    }

    /** What 40 equal prompts cost on 4 workers before any event comes or any answer begins. */
    private record Burst(long tokensToPrefill, int[] requests) {}

    private static Burst burst(Overlaps overlaps, List<Candidate> fleet) {
        LoadTracker loads = new LoadTracker();
        SplittableRandom random = new SplittableRandom(17);
        RouterOptions blocks = RouterOptions.of(RouterMode.KV).with(CostKind.BLOCKS);
        Router router = Routers.create(blocks, loads, () -> random);
        int[] tokens = prompt(3, 64);
        for (int i = 0; i < 40; i++) {
            RoutingDecision d =
                    router.decide(
                            RoutingRequest.builder(
                                            fleet,
                                            tokens.length,
                                            overlaps.matches(
                                                    MODEL,
                                                    PrefixSpace.NONE,
                                                    fleet,
                                                    PromptContent.of(tokens)))
                                    .build());
            Candidate to = d.chosen().candidate();
            loads.book(to.slot(), d.chosen().prefillTokens(), d.blocks());
            overlaps.booked(MODEL, PrefixSpace.NONE, to, PromptContent.of(tokens));
        }
        long prefill = 0;
        int[] requests = new int[fleet.size()];
        for (int i = 0; i < requests.length; i++) {
            prefill += loads.load(fleet.get(i).slot()).prefillTokens();
            requests[i] = loads.load(fleet.get(i).slot()).requests();
        }
        return new Burst(prefill, requests);
    }

    @Test
    void a_burst_of_equal_prompts_neither_scatters_nor_piles_up_before_the_first_event() {
        try (PrefixIndex index = new ReferencePrefixIndex();
                PrefixIndex decisions = new ReferencePrefixIndex(1 << 10, LIMITS)) {
            SideIndex side = new SideIndex(index, decisions);
            List<Candidate> fleet = fleet(side, 4);
            int prompt = prompt(3, 64).length;
            Burst blind = burst(IndexOverlaps.ofEvents(index), fleet);
            assertEquals(40L * prompt, blind.tokensToPrefill(), "every prompt looks new");
            Burst predicted = burst(IndexOverlaps.ofBoth(index, side, nanos::get), fleet);
            // Each worker computes the prompt at most once, and one token of it every other time.
            assertTrue(
                    predicted.tokensToPrefill() <= 4L * prompt + 36,
                    predicted.tokensToPrefill() + " tokens to prefill");
            for (int requests : predicted.requests()) {
                assertTrue(requests >= 8 && requests <= 12, Arrays.toString(predicted.requests()));
            }
        }
    }

    @Test
    void trackers_are_kept_per_model_and_block_size_and_forget_workers_that_leave() {
        List<String> made = new ArrayList<>();
        try (TrackerOverlaps overlaps =
                new TrackerOverlaps(
                        (model, size) -> {
                            made.add(model + "/" + size);
                            return tracker(size);
                        },
                        model -> model.equals("fixed") ? 8 : 0)) {
            Candidate a = candidate(0, B, overlaps.open(1));
            Candidate b = candidate(1, 2 * B, overlaps.open(1));
            List<Candidate> fleet = List.of(a, b);
            int[] tokens = prompt(1, 8);
            overlaps.booked(MODEL, PrefixSpace.NONE, a, PromptContent.of(tokens));
            overlaps.booked(MODEL, PrefixSpace.NONE, b, PromptContent.of(tokens));
            overlaps.booked("fixed", PrefixSpace.NONE, a, PromptContent.of(tokens));
            assertEquals(List.of("m/16", "m/32", "fixed/8"), made);
            List<PrefixMatch> matches =
                    overlaps.matches(MODEL, PrefixSpace.NONE, fleet, PromptContent.of(tokens));
            assertEquals(2, matches.size());
            assertEquals(8, matches.get(0).depth(a.slot(), Tier.GPU));
            assertEquals(4, matches.get(1).depth(b.slot(), Tier.GPU));
            PrefixMatch fixed =
                    overlaps.matches("fixed", PrefixSpace.NONE, fleet, PromptContent.of(tokens))
                            .getFirst();
            assertEquals(8, fixed.blockSize());
            assertEquals(16, fixed.depth(a.slot(), Tier.GPU));
            assertEquals(0, depth(overlaps, List.of(a), a, prompt(2, 8)));
            assertEquals(
                    0,
                    overlaps.matches(
                                    "never seen", PrefixSpace.NONE, fleet, PromptContent.of(tokens))
                            .getFirst()
                            .size());
            assertEquals(3, overlaps.stats().backends());
            overlaps.close(a.slot());
            assertEquals(1, overlaps.stats().backends());
            overlaps.booked(MODEL, PrefixSpace.NONE, a, PromptContent.of(tokens));
            assertEquals(1, overlaps.stats().backends(), "a late booking brings nobody back");
            WorkerSlot next = overlaps.open(1);
            assertEquals(a.slot().index(), next.index());
            assertEquals(0, depth(overlaps, List.of(candidate(0, B, next)), a, tokens));
        }
    }

    @Test
    void trackers_evict_when_they_are_tidied() {
        try (TrackerOverlaps overlaps =
                new TrackerOverlaps((model, size) -> tracker(size), model -> 0)) {
            Candidate a = candidate(0, B, overlaps.open(1));
            overlaps.booked(MODEL, PrefixSpace.NONE, a, PromptContent.of(prompt(1, 150)));
            assertEquals(150, overlaps.stats().blocks());
            overlaps.tidy();
            assertEquals(100, overlaps.stats().blocks());
            assertEquals(50, overlaps.stats().evicted());
            assertEquals(100, depth(overlaps, List.of(a), a, prompt(1, 150)), "its start stays");
        }
    }

    private static BlockTracker tracker(int blockSize) {
        return new NativeBlockTracker(
                Optional.empty(),
                new BlockTracker.Options(blockSize, BlockTracker.Hashing.POSITION, 100));
    }
}
