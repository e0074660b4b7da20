package io.warmpath.bench;

import io.warmpath.tokens.jinja.Template;
import io.warmpath.tokens.profile.EngineProfile;
import io.warmpath.tokens.profile.EnginePrompt;
import io.warmpath.tokens.profile.ModelFacts;
import io.warmpath.tokens.template.ChatTemplate;
import io.warmpath.tokens.template.JinjaChatTemplate;
import io.warmpath.tokens.template.PromptInput.Chat;
import io.warmpath.tokens.template.PromptInput.Message;
import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.time.Clock;
import java.time.Instant;
import java.time.ZoneOffset;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;
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
import org.openjdk.jmh.annotations.Warmup;

/**
 * A conversation of 20 messages, 1,600 characters each (about 8,000 tokens in all), rendered as a
 * request's messages are.
 */
@State(Scope.Benchmark)
@BenchmarkMode(Mode.AverageTime)
@OutputTimeUnit(TimeUnit.MICROSECONDS)
@Warmup(iterations = 5, time = 1)
@Measurement(iterations = 5, time = 1)
public class TemplateBench {
    @Param({"chatml-plain", "qwen3-thinking", "llama31-tools", "glm45"})
    public String family;

    private ChatTemplate template;
    private Chat chat;

    @Setup
    public void load() throws IOException {
        String path = "/templates/families/" + family + ".jinja";
        try (InputStream in = TemplateBench.class.getResourceAsStream(path)) {
            byte[] source = Objects.requireNonNull(in, path).readAllBytes();
            template =
                    new JinjaChatTemplate(
                            Template.compile(new String(source, StandardCharsets.UTF_8)),
                            null,
                            Map.of("bos_token", "<s>"),
                            ModelFacts.UNKNOWN,
                            Clock.fixed(Instant.EPOCH, ZoneOffset.UTC),
                            null);
        }
        List<Message> messages = new ArrayList<>();
        messages.add(new Message("system", "You are helpful. ".repeat(94)));
        for (int i = 1; i < 20; i++) {
            String role = i % 2 == 1 ? "user" : "assistant";
            messages.add(new Message(role, ("turn " + i + " of this talk, ").repeat(72)));
        }
        chat = new Chat(messages, true);
        if (!(render() instanceof EnginePrompt.Text)) {
            throw new IllegalStateException(render().toString());
        }
    }

    @Benchmark
    public EnginePrompt render() {
        return template.render(chat, EngineProfile.VLLM);
    }
}
