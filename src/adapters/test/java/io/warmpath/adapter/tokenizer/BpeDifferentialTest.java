package io.warmpath.adapter.tokenizer;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.fasterxml.jackson.databind.ObjectMapper;
import io.warmpath.adapter.nativeindex.NativeBpeTokenizer;
import io.warmpath.tokens.text.TextTokenizer;
import io.warmpath.tokens.text.UnencodableTextException;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Random;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.Stream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * The native tokenizer against the tokenizers library: the same ids for every text.
 *
 * <p>{@code -Dtest.bpe.chars=N} compares over N characters for each tokenizer; {@code
 * -Dtest.bpe.models=DIR} adds every tokenizer.json below DIR, which {@code fetch_tokenizers.sh}
 * fills.
 */
class BpeDifferentialTest {
    private static final long CHARS = Long.getLong("test.bpe.chars", 60_000);
    private static final boolean LONG = CHARS > 1_000_000;

    /** One of so many texts with all code points is compared; each family's own. */
    private static final int STEP = Integer.getInteger("test.bpe.step", 16);

    private static final String MODELS = System.getProperty("test.bpe.models", "");

    static Stream<String> families() {
        return BpeFamilies.all().keySet().stream();
    }

    static Stream<Path> models() throws IOException {
        if (MODELS.isEmpty()) {
            return Stream.of(DemoModel.directory().resolve("tokenizer.json"));
        }
        try (Stream<Path> files = Files.walk(Path.of(MODELS))) {
            List<Path> found = files.filter(f -> f.endsWith("tokenizer.json")).sorted().toList();
            assertFalse(found.isEmpty(), "no tokenizer.json below " + MODELS);
            return found.stream();
        }
    }

    @ParameterizedTest
    @MethodSource("families")
    void random_texts_have_the_same_ids(String family) throws Exception {
        compareRandom(family, BpeFamilies.all().get(family));
    }

    @ParameterizedTest
    @MethodSource("models")
    void real_models_give_the_same_ids(Path file) throws Exception {
        compareRandom(file.toString(), Files.readString(file));
    }

    /** Those without added tokens of other letters, which have no way back. */
    static Stream<String> reversible() {
        return families().filter(family -> !family.contains("flags"));
    }

    /** Random ids: cut characters, bytes that are none, special tokens, ids that are no token. */
    @ParameterizedTest
    @MethodSource("reversible")
    void any_ids_have_the_same_text(String family) throws Exception {
        compareDecoded(BpeFamilies.all().get(family), 4000);
    }

    @ParameterizedTest
    @MethodSource("models")
    void real_models_give_the_same_text(Path file) throws Exception {
        compareDecoded(Files.readString(file), 300_000);
    }

    private static void compareDecoded(String json, int ids) throws Exception {
        long seed = Long.getLong("test.seed", new Random().nextLong());
        Random random = new Random(seed);
        try (TextTokenizer ours = ours(json);
                TextTokenizer reference = new HuggingFaceTokenizerAdapter(json)) {
            assertEquals(Optional.of(""), ours.decode(new int[0]));
            for (int round = 0; round < 400; round++) {
                int most = random.nextBoolean() ? ids : 300; // single bytes lie at the beginning
                int[] some = random.ints(random.nextInt(60), 0, most).toArray();
                assertEquals(
                        reference.decode(some),
                        ours.decode(some),
                        () -> "-Dtest.seed=" + seed + " " + Arrays.toString(some));
            }
        }
    }

    /** Whose decoder is another one, and those with added tokens that it reads otherwise. */
    @Test
    void a_text_that_is_not_the_tokens_bytes_is_not_made() throws Exception {
        String json = DemoModel.json();
        for (String[] change :
                new String[][] {
                    {"\"decoder\":{\"type\":\"ByteLevel\"", "\"decoder\":{\"type\":\"Fuse\""},
                    {"<|im_end|>", "end\u00e9"},
                }) {
            assertTrue(json.contains(change[0]), change[0]);
            try (TextTokenizer ours = ours(json.replace(change[0], change[1]))) {
                assertEquals(Optional.empty(), ours.decode(new int[] {1}));
            }
        }
    }

    @Tag("slow")
    @ParameterizedTest
    @MethodSource("families")
    void every_code_point_has_the_same_ids(String family) throws Exception {
        String json = BpeFamilies.all().get(family);
        try (TextTokenizer ours = ours(json);
                TextTokenizer reference = new HuggingFaceTokenizerAdapter(json)) {
            // The second: what is joined to the one before, or changes places with a mark.
            for (String[] around : new String[][] {{" a", "'"}, {"e\u0334", "\u0301"}}) {
                AtomicInteger number = new AtomicInteger(family.hashCode());
                BpeTexts.everyCodePoint(around[0], around[1], LONG)
                        .filter(text -> Math.floorMod(number.getAndIncrement(), STEP) == 0)
                        .forEach(text -> same(ours, reference, text, false));
            }
        }
    }

    @Test
    void a_million_times_the_same_character_is_one_piece_and_not_slow() throws Exception {
        String json = DemoModel.json();
        try (TextTokenizer ours = ours(json);
                TextTokenizer reference = new HuggingFaceTokenizerAdapter(json)) {
            for (String one : List.of("a", " ", "\n", "=", "\u65e5", "ab")) {
                same(ours, reference, one.repeat(20_000), false);
                assertTrue(ours.encode(one.repeat(1_000_000), false).length > 1000);
            }
        }
    }

    @Test
    void many_threads_get_the_same_ids_as_one() throws Exception {
        List<String> texts = new ArrayList<>();
        BpeTexts random = new BpeTexts(7, List.of("<|im_end|>"));
        try (TextTokenizer ours = ours(DemoModel.json());
                ExecutorService pool = Executors.newFixedThreadPool(8)) {
            List<int[]> expected = new ArrayList<>();
            for (int i = 0; i < 40; i++) {
                texts.add(random.next());
                expected.add(ours.encode(texts.getLast(), false));
            }
            List<Future<?>> runs = new ArrayList<>();
            for (int thread = 0; thread < 8; thread++) {
                int offset = thread * 5;
                runs.add(
                        pool.submit(
                                () -> {
                                    for (int i = 0; i < texts.size(); i++) {
                                        int at = (i + offset) % texts.size();
                                        assertArrayEquals(
                                                expected.get(at),
                                                ours.encode(texts.get(at), false));
                                    }
                                }));
            }
            for (Future<?> run : runs) {
                run.get();
            }
        }
    }

    @Test
    void a_lone_surrogate_is_refused_with_its_place() throws Exception {
        try (TextTokenizer ours = ours(DemoModel.json())) {
            for (String text : List.of("ab\ud800", "ab\udc00c", "ab\ud800\ud800\udc00")) {
                assertEquals(
                        "the text has an unpaired surrogate at character 2",
                        assertThrows(UnencodableTextException.class, () -> ours.encode(text, false))
                                .getMessage());
            }
        }
    }

    @Test
    void after_close_it_throws_and_a_second_close_does_nothing() throws Exception {
        TextTokenizer ours = ours(DemoModel.json());
        ours.close();
        ours.close();
        assertThrows(IllegalStateException.class, () -> ours.encode("a", false));
    }

    @ParameterizedTest
    @MethodSource("refusals")
    void what_is_not_understood_is_left_to_the_library_with_the_reason(
            Map.Entry<String, String> refusal) throws Exception {
        Exception refused = assertThrows(Exception.class, () -> ours(refusal.getValue()));
        assertTrue(
                refused.getMessage().contains(refusal.getKey()),
                refusal.getKey() + ": " + refused.getMessage());
    }

    static Stream<Map.Entry<String, String>> refusals() {
        return BpeFamilies.refused().entrySet().stream();
    }

    private static void compareRandom(String name, String json) throws Exception {
        long seed = Long.getLong("test.seed", new Random().nextLong());
        BpeTexts texts = new BpeTexts(seed, BpeFamilies.addedTokens(json));
        try (TextTokenizer ours = ours(json);
                TextTokenizer reference = new HuggingFaceTokenizerAdapter(json)) {
            for (long done = 0; done < CHARS; ) {
                String text = texts.next();
                try {
                    same(ours, reference, text, done % 2 == 0);
                } catch (AssertionError e) {
                    throw new AssertionError(name + ", -Dtest.seed=" + seed, e);
                }
                done += text.length();
            }
        }
    }

    private static void same(
            TextTokenizer ours, TextTokenizer reference, String text, boolean special) {
        assertArrayEquals(
                reference.encode(text, special),
                ours.encode(text, special),
                () ->
                        text.codePoints()
                                .limit(300)
                                .mapToObj(Integer::toHexString)
                                .toList()
                                .toString());
    }

    private static TextTokenizer ours(String json) throws Exception {
        ObjectMapper mapper = new ObjectMapper();
        return new NativeBpeTokenizer(
                Optional.empty(),
                ByteLevelBpe.read(
                        TokenizerJson.parse(json, mapper).head(), BpeModel.read(json, mapper)));
    }
}
