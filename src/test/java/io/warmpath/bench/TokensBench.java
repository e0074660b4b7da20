package io.warmpath.bench;

import io.warmpath.adapter.nativeindex.NativeBpeTokenizer;
import io.warmpath.adapter.tokenizer.DemoModel;
import io.warmpath.adapter.tokenizer.HuggingFaceModelLoader;
import io.warmpath.tokens.ModelTokens;
import io.warmpath.tokens.PromptInput.Chat;
import io.warmpath.tokens.PromptInput.Message;
import io.warmpath.tokens.TokenizerLoadException;
import io.warmpath.tokens.TokensOptions;
import io.warmpath.tokens.profile.EngineProfile;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Random;
import java.util.concurrent.TimeUnit;
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
 * One chat of {@code messages} messages of about 60 words, demo tokenizer: without the cache, with
 * every message known, and with a new last message.
 */
@State(Scope.Benchmark)
@BenchmarkMode(Mode.AverageTime)
@OutputTimeUnit(TimeUnit.MICROSECONDS)
@Warmup(iterations = 5, time = 1)
@Measurement(iterations = 5, time = 1)
public class TokensBench {
    private static final String[] WORDS = {
        "the", "cached", "prefix", "of", "engine", "which", "holds", "most", "a", "prompt", "and",
        "answers", "soonest"
    };

    @Param({"3", "31"})
    public int messages;

    private ModelTokens cached;
    private ModelTokens uncached;
    private Chat chat;
    private List<Message> known;
    private long turn;

    @Setup
    public void build() throws TokenizerLoadException {
        cached = tokens(TokensOptions.DEFAULT);
        uncached = tokens(new TokensOptions(0, 8 << 20, 128, 32 << 10));
        Random random = new Random(7);
        known = new ArrayList<>();
        for (int i = 0; i < messages; i++) {
            StringBuilder text = new StringBuilder();
            for (int w = 0; w < 60; w++) {
                text.append(WORDS[random.nextInt(WORDS.length)]).append(w % 12 == 11 ? ". " : " ");
            }
            known.add(new Message(i % 2 == 0 ? "user" : "assistant", text.toString()));
        }
        chat = new Chat(known, true);
        cached.tokens("demo", chat, EngineProfile.ANY);
    }

    @TearDown
    public void close() {
        cached.close();
        uncached.close();
    }

    @Benchmark
    public Object withoutCache() {
        return uncached.tokens("demo", chat, EngineProfile.ANY);
    }

    @Benchmark
    public Object everyMessageKnown() {
        return cached.tokens("demo", chat, EngineProfile.ANY);
    }

    @Benchmark
    public Object newLastMessage() {
        List<Message> grown = new ArrayList<>(known);
        String text = "And what of turn " + ++turn + "? " + known.getFirst().content();
        grown.set(grown.size() - 1, new Message("user", text));
        return cached.tokens("demo", new Chat(grown, true), EngineProfile.ANY);
    }

    /** What the event loop pays to learn that a prompt may be tokenised there. */
    @Benchmark
    public boolean isCheap() {
        return cached.isCheap("demo", chat, EngineProfile.ANY);
    }

    private static ModelTokens tokens(TokensOptions options) throws TokenizerLoadException {
        return new ModelTokens(
                Map.of("demo", DemoModel.directory()),
                null,
                new HuggingFaceModelLoader(
                        parts -> new NativeBpeTokenizer(Optional.empty(), parts)),
                options,
                System::nanoTime);
    }
}
