package io.warmpath.tokens;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.warmpath.adapter.nativeindex.NativeBpeTokenizer;
import io.warmpath.adapter.nativeindex.NativePrefixIndex;
import io.warmpath.adapter.tokenizer.DemoModel;
import io.warmpath.adapter.tokenizer.HuggingFaceModelLoader;
import io.warmpath.adapter.tokenizer.HuggingFaceTokenizerAdapter;
import io.warmpath.adapter.tokenizer.TokenizerVariants;
import io.warmpath.prefix.HashedPrompt;
import io.warmpath.prefix.PrefixSpace;
import io.warmpath.tokens.PromptTokens.Later;
import io.warmpath.tokens.model.LoadedModel;
import io.warmpath.tokens.model.ModelLoader;
import io.warmpath.tokens.model.ModelSource;
import io.warmpath.tokens.model.ModelSources;
import io.warmpath.tokens.model.ReloadedModel;
import io.warmpath.tokens.profile.EngineProfile;
import io.warmpath.tokens.template.Continuation;
import io.warmpath.tokens.template.PromptInput;
import io.warmpath.tokens.template.PromptInput.Chat;
import io.warmpath.tokens.template.PromptInput.Message;
import io.warmpath.tokens.text.TextTokenizer;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class ModelTokensTest {
    private static final Chat HELLO = new Chat(List.of(new Message("user", "Hello")), true);
    @TempDir Path dir;
    private final AtomicLong clock = new AtomicLong();

    @Test
    void a_chat_is_rendered_and_tokenised_without_the_tokens_around_a_raw_prompt()
            throws Exception {
        try (ModelTokens tokens = demoWithBeginOfText();
                TextTokenizer plain = new HuggingFaceTokenizerAdapter(DemoModel.json())) {
            int[] expected =
                    plain.encode(
                            "<|im_start|>user\nHello<|im_end|>\n<|im_start|>assistant\n", false);
            assertArrayEquals(
                    expected, tokens.tokens("any", HELLO, EngineProfile.ANY).orElseThrow());
        }
    }

    @Test
    void a_raw_prompt_is_tokenised_with_them() throws Exception {
        try (ModelTokens tokens = demoWithBeginOfText();
                TextTokenizer plain = new HuggingFaceTokenizerAdapter(DemoModel.json())) {
            int[] bare = plain.encode("Hello", false);
            int[] ids =
                    tokens.tokens("any", new PromptInput.Text("Hello"), EngineProfile.ANY)
                            .orElseThrow();
            assertEquals(3069, ids[0]);
            assertEquals(bare.length + 1, ids.length);
        }
    }

    @Test
    void files_that_came_later_are_asked_apart_too() throws Exception {
        try (ModelTokens tokens = demo(Map.of(), null)) {
            assertEquals(
                    Optional.empty(),
                    tokens.apart(1 << 20).tokens("demo", HELLO, EngineProfile.ANY));
            assertEquals(
                    "",
                    tokens.offer(
                            Set.of("demo"), ModelSource.of(DemoModel.directory()), trial -> ""));
            int[] apart =
                    tokens.apart(1 << 20).tokens("demo", HELLO, EngineProfile.ANY).orElseThrow();
            assertEquals(0, tokens.counters().prompts());
            assertArrayEquals(apart, tokens.tokens("demo", HELLO, EngineProfile.ANY).orElseThrow());
        }
    }

    @Test
    void what_is_asked_apart_gives_the_same_ids_and_leaves_no_trace() throws Exception {
        try (ModelTokens tokens = demo(Map.of("demo", DemoModel.directory()), null)) {
            int[] apart =
                    tokens.apart(1 << 20).tokens("demo", HELLO, EngineProfile.ANY).orElseThrow();
            assertEquals(0, tokens.counters().prompts());
            assertEquals(0, tokens.cacheEntries());
            assertArrayEquals(apart, tokens.tokens("demo", HELLO, EngineProfile.ANY).orElseThrow());
            assertEquals(1, tokens.counters().prompts());
            assertTrue(tokens.cacheEntries() > 0);
        }
    }

    @Test
    void ids_pass_through_whatever_the_model() throws Exception {
        try (ModelTokens tokens = demo(Map.of(), null)) {
            int[] ids = {1, 2, -1};
            assertArrayEquals(
                    ids,
                    tokens.tokens("unheard-of", new PromptInput.Ids(ids), EngineProfile.ANY)
                            .orElseThrow());
            assertTrue(isCheap(tokens, "unheard-of", new PromptInput.Ids(ids)));
        }
    }

    @Test
    void a_model_without_tokenizer_and_an_opaque_prompt_have_no_tokens_and_are_counted()
            throws Exception {
        try (ModelTokens tokens = demo(Map.of("demo", DemoModel.directory()), null)) {
            assertTrue(tokens.tokens("demo", HELLO, EngineProfile.ANY).isPresent());
            assertEquals(Optional.empty(), tokens.tokens("other", HELLO, EngineProfile.ANY));
            assertEquals(
                    Optional.empty(),
                    tokens.tokens("demo", new PromptInput.Opaque("tools"), EngineProfile.ANY));
            assertTrue(isCheap(tokens, "other", HELLO));
            assertEquals(2, tokens.counters().unknownModel());
            assertEquals(1, tokens.counters().opaque());
            assertEquals(1, tokens.counters().prompts());
        }
    }

    @Test
    void a_model_with_an_unknown_template_has_tokens_for_completions_only() throws Exception {
        Files.writeString(dir.resolve("tokenizer.json"), DemoModel.json());
        Files.writeString(
                dir.resolve("tokenizer_config.json"), "{\"chat_template\": \"{% include x %}\"}");
        try (ModelTokens tokens = demo(Map.of(), dir)) {
            assertEquals(Optional.empty(), tokens.tokens("m", HELLO, EngineProfile.ANY));
            assertTrue(
                    tokens.tokens("m", new PromptInput.Text("Hello"), EngineProfile.ANY)
                            .isPresent());
            assertEquals(1, tokens.counters().noTemplate());
        }
    }

    @Test
    void a_chat_that_engines_render_differently_has_no_tokens() throws Exception {
        Chat open =
                new Chat(List.of(new Message("user", "Hi"), new Message("assistant", "He")), true);
        try (ModelTokens tokens = demo(Map.of(), DemoModel.directory())) {
            assertEquals(Optional.empty(), tokens.tokens("m", open, EngineProfile.ANY));
            assertEquals(1, tokens.counters().refused());
        }
    }

    @Test
    void how_an_answer_is_gone_on_with_is_the_models_templates_say() throws Exception {
        Files.writeString(dir.resolve("tokenizer.json"), DemoModel.json());
        Files.writeString(
                dir.resolve("tokenizer_config.json"),
                "{\"chat_template\": \"{% for m in messages %}[{{ m.role }}]{{ m.content | trim"
                        + " }}{% endfor %}{% if add_generation_prompt %}[assistant]{% endif %}\"}");
        PromptInput later = new PromptInput.Conversation(9, HELLO::request);
        PromptInput wrong =
                new PromptInput.Conversation(
                        9,
                        () -> {
                            throw new IllegalArgumentException("messages[0].role");
                        });
        try (ModelTokens verbatim = demo(Map.of("demo", DemoModel.directory()), null);
                ModelTokens trimming = demo(Map.of(), dir)) {
            for (PromptInput asked : List.of(HELLO, later)) {
                assertEquals(Continuation.EXACT, onVllm(verbatim, "demo", asked, "a\n"));
                assertEquals(Continuation.EXACT, onVllm(trimming, "m", asked, "a\nb"));
                assertEquals(Continuation.CHANGED, onVllm(trimming, "m", asked, "a\n"));
                assertEquals(
                        Continuation.EXACT,
                        trimming.continuation("m", asked, "a\n", EngineProfile.SGLANG));
            }
            assertEquals(Continuation.UNKNOWN, onVllm(verbatim, "other", HELLO, "a"));
            assertEquals(Continuation.UNKNOWN, onVllm(verbatim, "demo", wrong, "a"));
            assertEquals(
                    Continuation.UNKNOWN,
                    onVllm(verbatim, "demo", new PromptInput.Ids(new int[] {1}), "a"));
        }
    }

    private static Continuation onVllm(
            ModelTokens tokens, String model, PromptInput asked, String said) {
        return tokens.continuation(model, asked, said, EngineProfile.VLLM);
    }

    @Test
    void text_that_is_not_unicode_and_text_that_is_too_long_have_no_tokens() throws Exception {
        TokensOptions options = new TokensOptions(1 << 20, 1000, 40_000, 500);
        try (ModelTokens tokens =
                new ModelTokens(
                        ModelSources.of(Map.of(), DemoModel.directory()),
                        new HuggingFaceModelLoader(),
                        options,
                        clock::get)) {
            assertEquals(
                    Optional.empty(),
                    tokens.tokens("m", new PromptInput.Text("a\ud83d b"), EngineProfile.ANY));
            assertEquals(1, tokens.counters().failed());
            PromptInput tooLong = new PromptInput.Text("a".repeat(1001));
            assertEquals(Optional.empty(), tokens.tokens("m", tooLong, EngineProfile.ANY));
            assertEquals(1, tokens.counters().tooLong());
            assertTrue(isCheap(tokens, "m", tooLong));
        }
    }

    @Test
    void a_prompt_is_cheap_when_it_is_short_or_mostly_known() throws Exception {
        String essay = "a long message ".repeat(100);
        Chat first = new Chat(List.of(new Message("user", essay)), true);
        Chat second =
                new Chat(
                        List.of(
                                new Message("user", essay),
                                new Message("assistant", "Yes."),
                                new Message("user", "Why?")),
                        true);
        Chat huge = new Chat(List.of(new Message("user", "x".repeat(40_000))), true);
        try (ModelTokens tokens = demo(Map.of(), DemoModel.directory())) {
            assertTrue(isCheap(tokens, "m", HELLO));
            assertFalse(isCheap(tokens, "m", first));
            tokens.tokens("m", first, EngineProfile.ANY);
            assertTrue(isCheap(tokens, "m", first));
            assertTrue(isCheap(tokens, "m", second));
            tokens.tokens("m", huge, EngineProfile.ANY);
            assertFalse(isCheap(tokens, "m", huge), "known, but long to look up");
        }
    }

    @Test
    void how_much_is_cheap_and_what_is_lengthy_follow_from_the_tokenizers_speed() throws Exception {
        try (ModelTokens slow = demo(Map.of(), DemoModel.directory());
                ModelTokens fast =
                        new ModelTokens(
                                ModelSources.of(Map.of(), DemoModel.directory()),
                                new HuggingFaceModelLoader(
                                        parts -> new NativeBpeTokenizer(Optional.empty(), parts)),
                                TokensOptions.DEFAULT,
                                clock::get)) {
            assertEquals(Later.BRIEF, atOnce(slow, 350));
            assertEquals(slow.tokens("m", text(350), EngineProfile.ANY).orElseThrow().length, 350);
            assertTrue(atOnce(fast, 350) instanceof PromptTokens.Made);
            assertEquals(Later.BRIEF, atOnce(fast, 450));
            assertEquals(Later.LENGTHY, atOnce(slow, 35_000));
            assertEquals(Later.BRIEF, atOnce(fast, 35_000));
            assertEquals(Later.LENGTHY, atOnce(fast, 2_000_000));
            PromptInput unread = new PromptInput.Conversation(2_000_000, () -> null);
            assertEquals(Later.LENGTHY, fast.atOnce("m", unread, EngineProfile.ANY));
        }
    }

    @Test
    void an_index_that_runs_the_tokenizer_gets_the_text_and_nobody_the_ids() throws Exception {
        try (ModelTokens tokens =
                        new ModelTokens(
                                ModelSources.of(Map.of(), DemoModel.directory()),
                                new HuggingFaceModelLoader(
                                        parts -> new NativeBpeTokenizer(Optional.empty(), parts)),
                                TokensOptions.DEFAULT,
                                clock::get);
                ModelTokens library = demo(Map.of(), DemoModel.directory());
                NativePrefixIndex index = new NativePrefixIndex(Optional.empty(), 0)) {
            LookUp lookUp = new LookUp(index.prompts(1 << 20), List.of(16, 32), PrefixSpace.NONE);
            List<Message> messages = new ArrayList<>();
            for (int i = 0; i < 39; i++) {
                messages.add(new Message(i % 2 == 0 ? "user" : "assistant", "1 2 3 4 ".repeat(40)));
            }
            Chat chat = new Chat(messages, true);
            EngineProfile any = EngineProfile.ANY;
            assertEquals(Later.BRIEF, tokens.atOnce("m", chat, any, lookUp), "all of it is new");
            List<HashedPrompt> found = found(tokens.matched("m", chat, any, lookUp));
            int[] ids = library.tokens("m", chat, any).orElseThrow();
            for (int i = 0; i < 2; i++) {
                HashedPrompt one = found.get(i);
                assertEquals(16 << i, one.blockSize());
                assertEquals(ids.length, one.tokens());
                assertArrayEquals(lookUp.match(ids).get(i).hashes(), one.hashes());
            }
            found = found(tokens.atOnce("m", chat, any, lookUp));
            assertTrue(found.getFirst().knownTokens() > ids.length * 9 / 10);
            messages.set(38, new Message("user", "And now?"));
            found = found(tokens.atOnce("m", new Chat(messages, true), any, lookUp));
            assertTrue(found.getFirst().knownTokens() > ids.length * 9 / 10);
            assertEquals(3, tokens.counters().prompts());
            assertEquals(0, tokens.cacheEntries());
            assertTrue(tokens.counters().encodedTokens() < ids.length * 12L / 10);
            // The library's ids are asked for, and hashed by whoever wants that.
            assertTrue(library.matched("m", chat, any, lookUp) instanceof PromptTokens.Made);
            assertEquals(
                    Later.BRIEF,
                    tokens.atOnce("m", new PromptInput.Ids(new int[100_000]), any, lookUp));
        }
    }

    private static List<HashedPrompt> found(PromptTokens.AtOnce answer) {
        return assertInstanceOf(PromptTokens.Matched.class, answer).found();
    }

    private static PromptTokens.AtOnce atOnce(ModelTokens tokens, int chars) {
        return tokens.atOnce("m", text(chars), EngineProfile.ANY);
    }

    private static PromptInput text(int chars) {
        return new PromptInput.Text("1".repeat(chars)); // a token each
    }

    private static boolean isCheap(ModelTokens tokens, String model, PromptInput prompt) {
        return tokens.atOnce(model, prompt, EngineProfile.ANY) instanceof PromptTokens.Made;
    }

    @Test
    void without_a_cache_only_short_prompts_are_cheap_and_ids_are_the_same() throws Exception {
        PromptInput essay = new PromptInput.Text("a long message ".repeat(100));
        TokensOptions none = new TokensOptions(0, 8 << 20, 40_000, 32 << 10);
        try (ModelTokens without =
                        new ModelTokens(
                                ModelSources.of(Map.of(), DemoModel.directory()),
                                new HuggingFaceModelLoader(),
                                none,
                                clock::get);
                ModelTokens with = demo(Map.of(), DemoModel.directory())) {
            int[] ids = without.tokens("m", essay, EngineProfile.ANY).orElseThrow();
            assertArrayEquals(with.tokens("m", essay, EngineProfile.ANY).orElseThrow(), ids);
            assertFalse(isCheap(without, "m", essay));
            assertEquals(0, without.cacheBytes());
            assertEquals(ids.length, without.counters().encodedTokens());
            assertTrue(isCheap(with, "m", essay));
            assertEquals(1, with.cacheEntries());
            assertTrue(with.cacheBytes() > 1500);
        }
    }

    @Test
    void one_file_is_loaded_once_however_many_models_use_it() throws Exception {
        AtomicInteger loads = new AtomicInteger();
        ModelLoader counting =
                path -> {
                    loads.incrementAndGet();
                    return new HuggingFaceModelLoader().load(path);
                };
        Path file = DemoModel.directory();
        new ModelTokens(
                        ModelSources.of(Map.of("a", file, "b", file), file),
                        counting,
                        TokensOptions.DEFAULT,
                        clock::get)
                .close();
        assertEquals(1, loads.get());
    }

    @Test
    void a_model_whose_files_cannot_be_loaded_has_no_tokens_and_never_those_of_the_default() {
        Path broken = dir.resolve("broken");
        Map<String, Path> paths = Map.of("good", DemoModel.directory(), "bad", broken);
        try (ModelTokens tokens = demo(paths, DemoModel.directory())) {
            assertTrue(tokens.tokens("good", HELLO, EngineProfile.ANY).isPresent());
            assertTrue(tokens.tokens("other", HELLO, EngineProfile.ANY).isPresent());
            assertTrue(isCheap(tokens, "bad", HELLO));
            assertEquals(Optional.empty(), tokens.tokens("bad", HELLO, EngineProfile.ANY));
            assertEquals(2, tokens.counters().notLoaded(), "asked twice");
            assertEquals(0, tokens.counters().unknownModel());
            assertEquals(
                    new Tokenizing.NoTokenizer(),
                    tokens.tokenize("bad", HELLO, EngineProfile.ANY, null));
        }
    }

    @Test
    void a_reload_tells_of_each_model_and_loads_only_what_changed_or_was_broken() throws Exception {
        Path mended = Files.createDirectories(dir.resolve("mended"));
        Map<String, Path> paths = Map.of("still", DemoModel.directory(), "late", mended);
        try (ModelTokens tokens = demo(paths, null)) {
            assertEquals(Optional.empty(), tokens.tokens("late", HELLO, EngineProfile.ANY));
            List<ReloadedModel> told = tokens.reload();
            assertEquals(
                    List.of(ReloadedModel.Outcome.UNCHANGED, ReloadedModel.Outcome.WITHOUT_TOKENS),
                    List.of(of("still", told).outcome(), of("late", told).outcome()));
            String missing = mended.resolve("tokenizer.json") + " does not exist";
            assertTrue(of("late", told).problem().contains(missing), told::toString);

            Files.writeString(mended.resolve("tokenizer.json"), DemoModel.json());
            told = tokens.reload();
            assertEquals(
                    new ReloadedModel(
                            List.of("late"), mended.toString(), ReloadedModel.Outcome.LOADED, ""),
                    of("late", told));
            assertTrue(tokens.tokens("late", HELLO, EngineProfile.ANY).isPresent());
        }
    }

    @Test
    void new_files_that_are_broken_leave_the_old_model_in_service() throws Exception {
        demoWithTemplate("{% for m in messages %}{{ m.content }}{% endfor %}");
        try (ModelTokens tokens = demo(Map.of("m", dir), null)) {
            int[] before = tokens.tokens("m", HELLO, EngineProfile.ANY).orElseThrow();
            Files.writeString(dir.resolve("tokenizer.json"), "{\"model\": ");
            ReloadedModel told = of("m", tokens.reload());
            assertEquals(ReloadedModel.Outcome.KEPT, told.outcome());
            assertTrue(told.problem().contains("is not valid JSON"), told::problem);
            assertArrayEquals(before, tokens.tokens("m", HELLO, EngineProfile.ANY).orElseThrow());

            demoWithTemplate("{% for m in messages %}!{{ m.content }}{% endfor %}");
            assertEquals(ReloadedModel.Outcome.LOADED, of("m", tokens.reload()).outcome());
            int[] after = tokens.tokens("m", HELLO, EngineProfile.ANY).orElseThrow();
            assertEquals(before.length + 1, after.length);
        }
    }

    @Test
    void files_are_loaded_by_themselves_once_they_have_stopped_changing() throws Exception {
        AtomicInteger loads = new AtomicInteger();
        ModelLoader counting =
                source -> {
                    loads.incrementAndGet();
                    return new HuggingFaceModelLoader().load(source);
                };
        demoWithTemplate("a");
        ModelSources here = ModelSources.of(Map.of("m", dir), null);
        try (ModelTokens tokens =
                new ModelTokens(here, counting, TokensOptions.DEFAULT, clock::get)) {
            tokens.reloadChanged();
            assertEquals(1, loads.get(), "nothing has changed");
            demoWithTemplate("ab");
            tokens.reloadChanged();
            assertEquals(1, loads.get(), "it may still be written");
            demoWithTemplate("abc");
            tokens.reloadChanged();
            assertEquals(1, loads.get(), "and it was");
            tokens.reloadChanged();
            assertEquals(2, loads.get());
            tokens.reloadChanged();
            assertEquals(2, loads.get());
        }
    }

    @Test
    void a_tokenizer_that_is_exchanged_under_a_running_prompt_is_closed_after_it()
            throws Exception {
        demoWithTemplate("a");
        List<FakeTokenizer> made = new ArrayList<>();
        ModelLoader loader =
                source -> {
                    made.add(new FakeTokenizer());
                    return loaded(made.getLast());
                };
        PromptInput text = new PromptInput.Text("a");
        ModelSources here = ModelSources.of(Map.of("m", dir), null);
        try (ModelTokens tokens =
                new ModelTokens(here, loader, TokensOptions.DEFAULT, clock::get)) {
            FakeTokenizer first = made.getFirst();
            first.meanwhile =
                    () -> {
                        demoWithTemplate("ab");
                        tokens.reload();
                        assertFalse(first.closed, "it is in use");
                    };
            assertTrue(tokens.tokens("m", text, EngineProfile.ANY).isPresent());
            assertTrue(first.closed);
            assertTrue(tokens.tokens("m", text, EngineProfile.ANY).isPresent());
            assertFalse(made.getLast().closed);
        }
        assertEquals(2, made.size());
        assertTrue(made.getLast().closed);
    }

    @Test
    void prompts_have_tokens_all_the_time_while_models_are_exchanged_and_each_is_closed_once()
            throws Exception {
        demoWithTemplate("a");
        List<CountedTokenizer> made = new ArrayList<>();
        ModelLoader loader =
                source -> {
                    made.add(new CountedTokenizer());
                    return loaded(made.getLast());
                };
        PromptInput text = new PromptInput.Text("a");
        ModelSources here = ModelSources.of(Map.of("m", dir), null);
        AtomicInteger without = new AtomicInteger();
        AtomicBoolean over = new AtomicBoolean();
        try (ModelTokens tokens = new ModelTokens(here, loader, TokensOptions.DEFAULT, () -> 0);
                ExecutorService threads = Executors.newFixedThreadPool(3)) {
            Runnable ask =
                    () -> {
                        while (!over.get()) {
                            if (tokens.tokens("m", text, EngineProfile.ANY).isEmpty()) {
                                without.incrementAndGet();
                            }
                        }
                    };
            for (int i = 0; i < 3; i++) {
                threads.execute(ask);
            }
            for (int i = 1; i <= 200; i++) {
                demoWithTemplate("a".repeat(1 + i));
                assertEquals(ReloadedModel.Outcome.LOADED, of("m", tokens.reload()).outcome());
            }
            over.set(true);
        }
        assertEquals(0, without.get());
        assertEquals(201, made.size());
        for (CountedTokenizer tokenizer : made) {
            assertEquals(1, tokenizer.closed.get());
            assertEquals(0, tokenizer.usedClosed.get());
        }
    }

    private static final class CountedTokenizer implements TextTokenizer {
        final AtomicInteger closed = new AtomicInteger();
        final AtomicInteger usedClosed = new AtomicInteger();

        @Override
        public int[] encode(String text, boolean addSpecialTokens) {
            usedClosed.addAndGet(closed.get());
            Thread.onSpinWait();
            usedClosed.addAndGet(closed.get());
            return new int[] {42};
        }

        @Override
        public void close() {
            closed.incrementAndGet();
        }
    }

    private static ReloadedModel of(String model, List<ReloadedModel> told) {
        return told.stream().filter(t -> t.models().contains(model)).findFirst().orElseThrow();
    }

    private void demoWithTemplate(String template) {
        try {
            Files.writeString(dir.resolve("tokenizer.json"), DemoModel.json());
            Files.writeString(dir.resolve("chat_template.jinja"), template);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private static LoadedModel loaded(TextTokenizer tokenizer) {
        return new LoadedModel(tokenizer, Optional.empty(), Optional.empty(), Map.of(), List.of());
    }

    @Test
    void a_failing_tokenizer_costs_the_tokens_and_not_the_request() throws Exception {
        FakeTokenizer tokenizer = new FakeTokenizer();
        ModelLoader loader = path -> loaded(tokenizer);
        PromptInput text = new PromptInput.Text("a");
        try (ModelTokens tokens =
                new ModelTokens(
                        ModelSources.of(Map.of(), Path.of("x")),
                        loader,
                        TokensOptions.DEFAULT,
                        clock::get)) {
            tokenizer.broken = true;
            assertEquals(Optional.empty(), tokens.tokens("m", text, EngineProfile.ANY));
            assertEquals(Optional.empty(), tokens.tokens("m", text, EngineProfile.ANY));
            assertEquals(2, tokens.counters().failed());
            tokenizer.broken = false;
            assertArrayEquals(
                    new int[] {42}, tokens.tokens("m", text, EngineProfile.ANY).orElseThrow());
            assertEquals(250, tokens.counters().encodeNanos());
        }
        assertTrue(tokenizer.closed);
    }

    @Test
    void after_close_there_are_no_tokens() throws Exception {
        ModelTokens tokens = demo(Map.of(), DemoModel.directory());
        tokens.close();
        assertEquals(Optional.empty(), tokens.tokens("m", HELLO, EngineProfile.ANY));
        assertEquals(0, tokens.counters().failed());
    }

    private ModelTokens demo(Map<String, Path> paths, Path fallback) {
        return new ModelTokens(
                ModelSources.of(paths, fallback),
                new HuggingFaceModelLoader(),
                TokensOptions.DEFAULT,
                clock::get);
    }

    private ModelTokens demoWithBeginOfText() throws Exception {
        String json = TokenizerVariants.splittable().get("begin of text");
        Files.writeString(dir.resolve("tokenizer.json"), json);
        Files.copy(
                DemoModel.directory().resolve("tokenizer_config.json"),
                dir.resolve("tokenizer_config.json"));
        return demo(Map.of(), dir);
    }

    private final class FakeTokenizer implements TextTokenizer {
        boolean broken;
        boolean closed;
        Runnable meanwhile = () -> {};

        @Override
        public int[] encode(String text, boolean addSpecialTokens) {
            clock.addAndGet(250);
            meanwhile.run();
            if (broken) {
                throw new IllegalStateException("out of order");
            }
            return new int[] {42};
        }

        @Override
        public void close() {
            closed = true;
        }
    }
}
