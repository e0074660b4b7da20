package io.warmpath.tokens.text;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.warmpath.adapter.tokenizer.DemoModel;
import io.warmpath.adapter.tokenizer.HuggingFaceModelLoader;
import io.warmpath.adapter.tokenizer.TokenizerVariants;
import io.warmpath.tokens.RandomChats;
import io.warmpath.tokens.model.LoadedModel;
import io.warmpath.tokens.profile.EnginePrompt;
import io.warmpath.tokens.template.ChatMlTemplate;
import io.warmpath.tokens.template.PromptInput;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

class SegmentedTokenizerTest {
    @TempDir static Path dir;
    private final TokensCounters counters = new TokensCounters();

    static Stream<Arguments> splittable() {
        return TokenizerVariants.splittable().entrySet().stream()
                .map(e -> Arguments.of(e.getKey(), e.getValue()));
    }

    @ParameterizedTest(name = "{0}")
    @MethodSource("splittable")
    void pieces_give_the_ids_of_the_whole(String name, String json) throws Exception {
        LoadedModel model = load(json);
        // Small, so that pieces are pushed out and come back.
        SegmentCache cache = new SegmentCache(16 << 10);
        AddedTokens splitOn = model.splitOn().orElseThrow();
        try (TextTokenizer whole = model.tokenizer();
                SegmentedTokenizer pieces =
                        new SegmentedTokenizer(whole, splitOn, cache, counters)) {
            for (long seed = 0; seed < 150; seed++) {
                RandomChats chats = new RandomChats(seed);
                for (List<PromptInput.Message> turn : chats.conversation(4)) {
                    assertSame(whole, pieces, rendered(turn), seed);
                }
                assertSame(whole, pieces, chats.text() + chats.text(), seed);
            }
        }
        assertTrue(counters.cacheHits() > 1000, "hits " + counters.cacheHits());
        assertTrue(cache.evictions() > 0, "no piece was ever pushed out");
    }

    /**
     * The control: where the loader forbids cutting, cutting does go wrong, and this test sees it.
     */
    @Test
    void cutting_at_a_token_that_strips_would_change_ids() throws Exception {
        for (String setting : List.of("lstrip", "rstrip")) {
            String json = TokenizerVariants.unsplittable().get(setting);
            AddedTokens splitOn = new AddedTokens(Map.of("<|im_start|>", 3070, "<|im_end|>", 3071));
            try (TextTokenizer whole = load(json).tokenizer();
                    SegmentedTokenizer pieces =
                            new SegmentedTokenizer(
                                    whole, splitOn, new SegmentCache(1 << 20), counters)) {
                String text = rendered(List.of(new PromptInput.Message("user", "Hi")));
                assertTrue(
                        !Arrays.equals(whole.encode(text, false), pieces.encode(text, false)),
                        setting);
            }
        }
    }

    @Test
    void a_growing_conversation_tokenises_only_what_is_new() throws Exception {
        LoadedModel model = load(DemoModel.json());
        SegmentCache cache = new SegmentCache(1 << 20);
        AddedTokens splitOn = model.splitOn().orElseThrow();
        try (SegmentedTokenizer pieces =
                new SegmentedTokenizer(model.tokenizer(), splitOn, cache, counters)) {
            String first = rendered(List.of(new PromptInput.Message("user", "word ".repeat(500))));
            int[] ids = pieces.encode(first, false);
            assertArrayEquals(ids, pieces.encodeIfKnown(first, false, 0));
            assertNull(pieces.encodeIfKnown(first + "Yes.", false, 0));
            long before = counters.encodedTokens();
            int[] longer = pieces.encode(first + "Yes.<|im_end|>\n<|im_start|>user\n", false);
            assertArrayEquals(ids, Arrays.copyOf(longer, ids.length));
            // "assistant\n" has grown to "assistant\nYes.", and "user\n" is new
            assertTrue(counters.encodedTokens() - before < 16, "new " + counters.encodedTokens());
        }
    }

    private static void assertSame(
            TextTokenizer whole, SegmentedTokenizer pieces, String text, long seed) {
        String where = "seed " + seed + ": " + text;
        int most = (int) (seed % 40);
        int[] known = pieces.encodeIfKnown(text, seed % 2 == 0, most);
        if (known != null) {
            assertArrayEquals(whole.encode(text, seed % 2 == 0), known, where);
        }
        assertArrayEquals(whole.encode(text, false), pieces.encode(text, false), where);
        assertArrayEquals(whole.encode(text, true), pieces.encode(text, true), where);
    }

    private static String rendered(List<PromptInput.Message> messages) {
        return switch (ChatMlTemplate.PLAIN.render(messages, true)) {
            case EnginePrompt.Text text -> text.rendered();
            default -> throw new AssertionError("no text");
        };
    }

    private static LoadedModel load(String json) throws Exception {
        Path file = Files.writeString(dir.resolve("tokenizer.json"), json);
        return new HuggingFaceModelLoader().load(file);
    }
}
