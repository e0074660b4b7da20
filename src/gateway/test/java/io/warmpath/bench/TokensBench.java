package io.warmpath.bench;

import io.warmpath.adapter.nativeindex.NativeBpeTokenizer;
import io.warmpath.adapter.nativeindex.NativePrefixIndex;
import io.warmpath.adapter.tokenizer.DemoModel;
import io.warmpath.adapter.tokenizer.HuggingFaceModelLoader;
import io.warmpath.prefix.PrefixEvent;
import io.warmpath.prefix.PrefixQuery;
import io.warmpath.prefix.PrefixSpace;
import io.warmpath.prefix.Tier;
import io.warmpath.tokens.LookUp;
import io.warmpath.tokens.ModelTokens;
import io.warmpath.tokens.TokensOptions;
import io.warmpath.tokens.model.LoadedModel;
import io.warmpath.tokens.model.ModelSources;
import io.warmpath.tokens.model.TokenizerLoadException;
import io.warmpath.tokens.profile.EngineProfile;
import io.warmpath.tokens.template.PromptInput.Chat;
import io.warmpath.tokens.template.PromptInput.Message;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import java.util.stream.LongStream;
import java.util.stream.Stream;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.BenchmarkMode;
import org.openjdk.jmh.annotations.Measurement;
import org.openjdk.jmh.annotations.Mode;
import org.openjdk.jmh.annotations.OutputTimeUnit;
import org.openjdk.jmh.annotations.Param;
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.Setup;
import org.openjdk.jmh.annotations.State;
import org.openjdk.jmh.annotations.TearDown;
import org.openjdk.jmh.annotations.Warmup;

/**
 * Chats of 20 messages of this project's own documents, rendered and tokenised: cold, with every
 * message known, with two new ones (a tenth of the text), and with a new question at the end. By
 * ids and by text: all the way to who holds how much, eight workers holding all of it.
 *
 * <p>{@code -p tokenizer=FILE}: a real tokenizer.json, whose tokens are longer than the demo's; the
 * chat has the given number of tokens then, about.
 */
@State(Scope.Benchmark)
@BenchmarkMode(Mode.AverageTime)
@OutputTimeUnit(TimeUnit.MICROSECONDS)
@Warmup(iterations = 5, time = 1)
@Measurement(iterations = 5, time = 1)
public class TokensBench {
    private static final int MESSAGES = 20;
    private static final int BLOCK = 16;

    @Param({"1000", "8000", "100000"})
    public int tokens;

    @Param({"demo"})
    public String tokenizer;

    private NativePrefixIndex index;
    private LookUp lookUp;
    private LoadedModel model;
    private ModelTokens cached;
    private ModelTokens uncached;
    private Chat chat;
    private String text;
    private int turn;

    @Setup
    public void build() throws TokenizerLoadException, IOException {
        cached = modelTokens(TokensOptions.DEFAULT);
        TokensOptions d = TokensOptions.DEFAULT;
        uncached =
                modelTokens(
                        new TokensOptions(0, d.maxPromptChars(), d.inlineNanos(), d.inlineChars()));
        model = loader().load(file());
        String docs = documents();
        int all = model.tokenizer().encode(docs, false).length;
        long chars = (long) tokens * docs.length() / all;
        while (docs.length() < chars) {
            docs += docs;
        }
        int each = (int) (chars / MESSAGES);
        List<Message> messages = new ArrayList<>();
        for (int i = 0; i < MESSAGES - 1; i++) {
            String part = docs.substring(i * each, (i + 1) * each);
            messages.add(new Message(i % 2 == 0 ? "user" : "assistant", part));
        }
        text = docs.substring((MESSAGES - 1) * each, MESSAGES * each);
        messages.add(new Message("user", text));
        chat = new Chat(messages, true);
        int[] ids = cached.tokens("demo", chat, EngineProfile.ANY).orElseThrow();
        index = new NativePrefixIndex(Optional.empty(), NativePrefixIndex.DEFAULT_ORPHAN_LIMIT);
        int blocks = ids.length / BLOCK;
        for (int worker = 0; worker < 8; worker++) {
            index.apply(
                    List.of(
                            new PrefixEvent.Stored(
                                    index.open(0),
                                    Tier.GPU,
                                    false,
                                    0,
                                    LongStream.rangeClosed(1, blocks).toArray(),
                                    Arrays.copyOf(ids, blocks * BLOCK),
                                    BLOCK,
                                    PrefixSpace.NONE)));
        }
        lookUp = new LookUp(index.prompts(32 << 20), List.of(BLOCK), PrefixSpace.NONE);
        cached.matched("demo", chat, EngineProfile.ANY, lookUp);
    }

    @TearDown
    public void close() {
        index.close();
        cached.close();
        uncached.close();
        model.tokenizer().close();
    }

    @Benchmark
    public Object cold() {
        return uncached.tokens("demo", chat, EngineProfile.ANY);
    }

    @Benchmark
    public Object known() {
        return cached.tokens("demo", chat, EngineProfile.ANY);
    }

    /** The last two messages are new. */
    @Benchmark
    public Object tenthNew() {
        return cached.tokens("demo", grown(), EngineProfile.ANY);
    }

    private Chat grown() {
        List<Message> grown = new ArrayList<>(chat.messages());
        turn++;
        grown.set(MESSAGES - 2, new Message("assistant", turn + text));
        grown.set(MESSAGES - 1, new Message("user", text + turn));
        return new Chat(grown, true);
    }

    @Benchmark
    public Object newQuestion() {
        List<Message> grown = new ArrayList<>(chat.messages());
        String question = "And what of turn " + ++turn + ", which ends in fewer tokens than most?";
        grown.set(MESSAGES - 1, new Message("user", question));
        return cached.tokens("demo", new Chat(grown, true), EngineProfile.ANY);
    }

    /** From the known chat to depths, by way of its ids. */
    @Benchmark
    public Object knownByIds() {
        int[] ids = cached.tokens("demo", chat, EngineProfile.ANY).orElseThrow();
        return index.match(new PrefixQuery(ids, ids.length, BLOCK, PrefixSpace.NONE));
    }

    /** The same in one call. */
    @Benchmark
    public Object knownByText() {
        return cached.matched("demo", chat, EngineProfile.ANY, lookUp);
    }

    @Benchmark
    public Object tenthNewByIds() {
        int[] ids = cached.tokens("demo", grown(), EngineProfile.ANY).orElseThrow();
        return index.match(new PrefixQuery(ids, ids.length, BLOCK, PrefixSpace.NONE));
    }

    @Benchmark
    public Object tenthNewByText() {
        return cached.matched("demo", grown(), EngineProfile.ANY, lookUp);
    }

    /** What the event loop pays: the ids of a known prompt, or to learn that it is too long. */
    @Benchmark
    public Object atOnce() {
        return cached.atOnce("demo", chat, EngineProfile.ANY);
    }

    private ModelTokens modelTokens(TokensOptions options) throws TokenizerLoadException {
        return new ModelTokens(
                ModelSources.of(Map.of("demo", file()), null), loader(), options, System::nanoTime);
    }

    /** A real tokenizer may have no template beside it; then it is taken for ChatML, as Qwen is. */
    private Path file() {
        return tokenizer.equals("demo") ? DemoModel.directory() : Path.of(tokenizer);
    }

    private static HuggingFaceModelLoader loader() {
        return new HuggingFaceModelLoader(parts -> new NativeBpeTokenizer(Optional.empty(), parts));
    }

    private static String documents() throws IOException {
        StringBuilder all = new StringBuilder();
        try (Stream<Path> files = Files.walk(Path.of("src/docs"))) {
            for (Path file : files.filter(f -> f.toString().endsWith(".md")).sorted().toList()) {
                all.append(Files.readString(file));
            }
        }
        return all.toString();
    }
}
