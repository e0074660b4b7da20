package io.warmpath.tokens;

import io.warmpath.tokens.template.PromptInput.Message;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;

/** Conversations of everything that has ever broken a tokenizer's borders. */
public final class RandomChats {
    private static final String[] BITS = {
        " ",
        "\n",
        "\n\n",
        "  \n ",
        "\r\n",
        "\t",
        "a",
        "The user",
        "the user",
        " cached prefix",
        "I'm",
        "don't'",
        "1234567",
        "3.14",
        "é",
        "e\u0301",
        "ﬁ",
        "Å",
        "日本語",
        "🙂",
        "👩‍👩‍👧‍👦",
        "\u00a0",
        "\u200b",
        "\u2028",
        "\u0000",
        "<",
        "<|",
        "|>",
        "<|im_start|>",
        "<|im_end|>",
        "<|endoftext|>",
        "<|im_",
        "end|>",
        "<|im_start|",
        " <|im_end|> ",
        "\n<|im_start|>user\n",
        "im_start",
        "IM_START",
        "def f(x):\n    return x\n",
        "{\"a\": [1, 2]}",
        "...",
        "!?",
        "_x_",
        "\u2581",
        "x y z"
    };

    private final Random random;

    public RandomChats(long seed) {
        random = new Random(seed);
    }

    /** A conversation's turns: each list is the one before and two messages more. */
    public List<List<Message>> conversation(int turns) {
        List<Message> messages = new ArrayList<>();
        if (random.nextBoolean()) {
            messages.add(new Message("system", text()));
        }
        List<List<Message>> all = new ArrayList<>();
        for (int i = 0; i < turns; i++) {
            messages.add(new Message("user", text()));
            all.add(List.copyOf(messages));
            messages.add(new Message("assistant", text()));
        }
        return all;
    }

    public String text() {
        StringBuilder out = new StringBuilder();
        int bits = random.nextInt(14);
        for (int i = 0; i < bits; i++) {
            out.append(BITS[random.nextInt(BITS.length)]);
        }
        return out.toString();
    }
}
