package io.warmpath.adapter.nativeindex;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.warmpath.adapter.tokenizer.BpeTexts;
import io.warmpath.adapter.tokenizer.DemoModel;
import io.warmpath.adapter.tokenizer.HuggingFaceModelLoader;
import io.warmpath.prefix.HashedPrompt;
import io.warmpath.prefix.PrefixEvent;
import io.warmpath.prefix.PrefixMatch;
import io.warmpath.prefix.PrefixQuery;
import io.warmpath.prefix.PrefixSpace;
import io.warmpath.prefix.SideBlocks;
import io.warmpath.prefix.Tier;
import io.warmpath.prefix.WorkerSlot;
import io.warmpath.tokens.PromptIndex;
import io.warmpath.tokens.text.TextTokenizer;
import io.warmpath.tokens.text.UnencodableTextException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import java.util.SplittableRandom;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.stream.LongStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** One call from text to depths, beside ids that are made, hashed and asked about one by one. */
class NativePromptIndexTest {
    private static final int ALL = Integer.MAX_VALUE;

    private NativePrefixIndex index;
    private PromptIndex texts;
    private TextTokenizer tokenizer;

    @BeforeEach
    void open() throws Exception {
        index = new NativePrefixIndex(Optional.empty(), NativePrefixIndex.DEFAULT_ORPHAN_LIMIT);
        texts = index.prompts(4 << 20);
        tokenizer =
                new HuggingFaceModelLoader(parts -> new NativeBpeTokenizer(Optional.empty(), parts))
                        .load(DemoModel.directory())
                        .tokenizer();
        assertTrue(texts.runs(tokenizer));
    }

    @AfterEach
    void close() {
        tokenizer.close();
        index.close();
    }

    private HashedPrompt ask(String text, boolean special, int blockSize, PrefixSpace space) {
        HashedPrompt found = texts.match(tokenizer, text, special, blockSize, space, ALL);
        assertNotNull(found);
        return found;
    }

    private void assertSame(String text, boolean special, int blockSize, PrefixSpace space) {
        int[] ids = tokenizer.encode(text, special);
        HashedPrompt found = ask(text, special, blockSize, space);
        HashedPrompt fromIds = texts.match(ids, blockSize, space);
        assertEquals(ids.length, found.tokens(), text);
        assertArrayEquals(fromIds.hashes(), found.hashes(), text);
        PrefixMatch wanted = index.match(new PrefixQuery(ids, ids.length, blockSize, space));
        for (PrefixMatch match :
                List.of(
                        found.match(),
                        fromIds.match(),
                        index.match(
                                PrefixQuery.hashed(
                                        found.hashes(), found.tokens(), blockSize, space)))) {
            assertEquals(wanted.blocks(), match.blocks());
            assertEquals(wanted.size(), match.size());
            for (int i = 0; i < wanted.size(); i++) {
                assertEquals(wanted.slotAt(i), match.slotAt(i));
                for (Tier tier : Tier.values()) {
                    assertEquals(wanted.depthAt(i, tier), match.depthAt(i, tier));
                }
            }
        }
    }

    private void hold(WorkerSlot slot, String text, int blocks, PrefixSpace space) {
        int[] ids = Arrays.copyOf(tokenizer.encode(text, false), blocks * 16);
        long[] names = LongStream.rangeClosed(1, blocks).toArray();
        index.apply(
                List.of(new PrefixEvent.Stored(slot, Tier.GPU, false, 0, names, ids, 16, space)));
    }

    @Test
    void any_conversation_is_what_its_ids_say_however_much_of_it_is_remembered() {
        long seed = System.nanoTime();
        SplittableRandom random = new SplittableRandom(seed);
        BpeTexts some = new BpeTexts(seed, List.of("<|im_start|>", "<|im_end|>"));
        PrefixSpace salted = new PrefixSpace("adapter", "tenant");
        String begin =
                "<|im_start|>system\nYou are " + "very, very ".repeat(60) + "kind.<|im_end|>\n";
        hold(index.open(0), begin, 8, PrefixSpace.NONE);
        hold(index.open(0), begin, 5, salted);
        List<String> before = new ArrayList<>(List.of(begin));
        for (int i = 0; i < 150; i++) {
            String old = before.get(random.nextInt(before.size()));
            int cut = random.nextInt(old.length() + 1);
            if (cut > 0 && Character.isHighSurrogate(old.charAt(cut - 1))) {
                cut--;
            }
            String text =
                    old.substring(0, cut) + "<|im_start|>user\n" + some.next() + "<|im_end|>\n";
            try {
                assertSame(text, random.nextInt(4) == 0, 16, PrefixSpace.NONE);
                assertSame(text, false, 1 + random.nextInt(80), salted);
            } catch (AssertionError e) {
                throw new AssertionError("seed " + seed + ", round " + i, e);
            }
            before.add(text);
        }
        assertTrue(texts.remembered().found() > 0);
        assertTrue(texts.remembered().pieces() > 50);
    }

    @Test
    void too_much_that_is_new_is_told_until_it_was_asked_for() {
        String text = "<|im_start|>user\n" + "words and more ".repeat(400) + "<|im_end|>\n";
        assertNull(texts.match(tokenizer, text, false, 16, PrefixSpace.NONE, 400));
        assertEquals(0, texts.remembered().pieces());
        ask(text, false, 16, PrefixSpace.NONE);
        HashedPrompt again = texts.match(tokenizer, text, false, 16, PrefixSpace.NONE, 0);
        assertNotNull(again);
        assertTrue(again.knownTokens() > again.tokens() - 8);
    }

    @Test
    void a_memory_apart_knows_nothing_and_tells_nothing() {
        String text = "<|im_start|>user\n" + "words and more ".repeat(40) + "<|im_end|>\n";
        PromptIndex apart = texts.apart(1 << 20);
        assertNotNull(apart.match(tokenizer, text, false, 16, PrefixSpace.NONE, ALL));
        assertEquals(0, texts.remembered().pieces());
        assertTrue(apart.remembered().bytes() > 0);
        assertEquals(0, ask(text, false, 16, PrefixSpace.NONE).knownTokens());
    }

    @Test
    void half_a_character_is_refused_and_a_question_mark_is_not() {
        for (String bad : new String[] {"a\ud83d", "\ude42", "?\ud83d", "é\ude42"}) {
            assertThrows(
                    UnencodableTextException.class, () -> ask(bad, false, 16, PrefixSpace.NONE));
        }
        assertSame("a? \ud83d\ude42 é? \u0000?", false, 1, PrefixSpace.NONE);
        assertSame("", false, 16, PrefixSpace.NONE);
        assertSame("", true, 1, PrefixSpace.NONE);
    }

    @Test
    void an_answer_larger_than_the_buffers_is_asked_for_again() {
        for (int i = 0; i < 200; i++) {
            hold(index.open(0), "12345678901234567890", 1, PrefixSpace.NONE);
        }
        // Signs whose normal form is three times as long, and more ids than half their bytes.
        assertSame("1".repeat(9000), false, 1, PrefixSpace.NONE);
        assertSame("\ufb2c\ud834\udd5e".repeat(500), false, 1, PrefixSpace.NONE);
        HashedPrompt found = ask("12345678901234567890", false, 16, PrefixSpace.NONE);
        assertEquals(200, found.match().size());
    }

    @Test
    void threads_share_it() throws Exception {
        try (ExecutorService pool = Executors.newFixedThreadPool(4)) {
            List<Future<?>> runs = new ArrayList<>();
            for (int t = 0; t < 4; t++) {
                long seed = t % 2;
                runs.add(
                        pool.submit(
                                () -> {
                                    BpeTexts some = new BpeTexts(seed, List.of());
                                    String text = "";
                                    for (int i = 0; i < 30; i++) {
                                        text += "<|im_start|>" + some.next() + "<|im_end|>";
                                        int[] ids = tokenizer.encode(text, false);
                                        assertArrayEquals(
                                                texts.match(ids, 16, PrefixSpace.NONE).hashes(),
                                                ask(text, false, 16, PrefixSpace.NONE).hashes());
                                    }
                                }));
            }
            for (Future<?> run : runs) {
                run.get();
            }
        }
        assertTrue(texts.remembered().found() > 0);
    }

    @Test
    void after_closing_the_index_or_the_tokenizer_every_call_says_so() {
        tokenizer.close();
        assertThrows(IllegalStateException.class, () -> ask("a", false, 16, PrefixSpace.NONE));
        index.close();
        assertThrows(IllegalStateException.class, () -> texts.remembered());
        assertThrows(
                IllegalStateException.class, () -> texts.match(new int[16], 16, PrefixSpace.NONE));
        assertFalse(texts.runs(new NoTokenizer()));
    }

    private static final class NoTokenizer implements TextTokenizer {
        @Override
        public int[] encode(String text, boolean addSpecialTokens) {
            return new int[0];
        }

        @Override
        public void close() {}
    }

    /** Of a model with a window, too, whichever way it is asked. */
    @Test
    void what_is_usable_is_told_alike_by_text_ids_hashes_and_in_a_batch() {
        int[] ids = tokenizer.encode("one two three four five six seven eight nine ten", false);
        int blocks = (ids.length - 1) / 2;
        assertTrue(blocks >= 4, ids.length + " tokens");
        WorkerSlot slot = index.open(0);
        PrefixSpace space = new PrefixSpace("", "team");
        long[] names = LongStream.rangeClosed(1, blocks).toArray();
        int[] tokens = Arrays.copyOf(ids, blocks * 2);
        index.apply(
                List.of(new PrefixEvent.Stored(slot, Tier.GPU, false, 0, names, tokens, 2, space)));
        SideBlocks sides = index.hybrids().open(slot);
        assertNotNull(sides);
        SideBlocks.Group full = new SideBlocks.Group(0, SideBlocks.Group.EVERY, 1);
        SideBlocks.Group window = new SideBlocks.Group(1, 1, 1);
        sides.announce(full);
        sides.announce(window);
        sides.stored(full, null, names, index.hybrids().hashes(tokens, 2, space));
        sides.stored(window, null, new long[] {3}, null);
        PrefixQuery query = new PrefixQuery(ids, ids.length, 2, space);
        HashedPrompt text =
                ask("one two three four five six seven eight nine ten", false, 2, space);
        for (PrefixMatch match :
                List.of(
                        index.match(query),
                        index.matchAll(List.of(query)).getFirst(),
                        index.match(PrefixQuery.hashed(text.hashes(), ids.length, 2, space)),
                        text.match(),
                        texts.match(ids, 2, space).match())) {
            assertEquals(3, match.depth(slot, Tier.GPU));
        }
        index.close(slot);
        assertFalse(index.hybrids().any());
    }
}
