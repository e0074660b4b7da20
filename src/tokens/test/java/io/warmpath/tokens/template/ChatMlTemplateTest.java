package io.warmpath.tokens.template;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;

import io.warmpath.tokens.profile.EnginePrompt;
import io.warmpath.tokens.template.PromptInput.Message;
import java.util.List;
import org.junit.jupiter.api.Test;

class ChatMlTemplateTest {
    @Test
    void plain_chatml_looks_like_this() {
        assertEquals(
                new EnginePrompt.Text(
                        """
                        <|im_start|>system
                        Be brief.<|im_end|>
                        <|im_start|>user
                        Hi<|im_end|>
                        <|im_start|>assistant
                        """),
                ChatMlTemplate.PLAIN.render(
                        List.of(new Message("system", "Be brief."), new Message("user", "Hi")),
                        true));
    }

    @Test
    void what_engines_do_differently_is_refused() {
        refused(new Message("user", "Hi"), new Message("assistant", "Hel"));
        refused(new Message("developer", "Be brief."), new Message("user", "Hi"));
        refused(new Message("function", "3"), new Message("user", "Hi"));
        refused();
    }

    private static void refused(Message... messages) {
        assertInstanceOf(
                EnginePrompt.Unpredictable.class,
                ChatMlTemplate.PLAIN.render(List.of(messages), true));
    }
}
