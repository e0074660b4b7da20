package io.warmpath.sim.model;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;

import io.warmpath.sim.model.ChatMl.Message;
import java.io.IOException;
import java.util.Arrays;
import java.util.List;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;

class AnswerWriterTest {
    private static SimTokenizer tokenizer;

    @BeforeAll
    static void loadTokenizer() throws IOException {
        tokenizer = SimTokenizer.demo();
    }

    @AfterAll
    static void closeTokenizer() {
        tokenizer.close();
    }

    /** What makes multi-turn caching work: the answer's text gives the answer's ids again. */
    @Test
    void an_answer_sent_back_as_a_message_has_the_generated_ids() {
        for (int seed = 0; seed < 200; seed++) {
            AnswerWriter writer = new AnswerWriter(tokenizer, seed);
            int[] prompt =
                    tokenizer.encode(
                            ChatMl.render(List.of(new Message("user", "n " + seed)), true));
            int[] answer = writer.write(prompt, 1 + seed, seed % 2 == 0);
            StringBuilder text = new StringBuilder();
            for (int token : answer) {
                text.append(writer.piece(token));
            }
            int[] next =
                    tokenizer.encode(
                            ChatMl.render(
                                    List.of(
                                            new Message("user", "n " + seed),
                                            new Message("assistant", text.toString()),
                                            new Message("user", "go on")),
                                    true));
            int[] generated = Arrays.copyOf(prompt, prompt.length + answer.length);
            System.arraycopy(answer, 0, generated, prompt.length, answer.length);
            assertArrayEquals(
                    generated, Arrays.copyOf(next, generated.length), "seed " + seed + ": " + text);
        }
    }

    @Test
    void the_same_prompt_gets_the_same_answer_and_another_prompt_another() {
        AnswerWriter writer = new AnswerWriter(tokenizer, 7);
        int[] answer = writer.write(new int[] {1, 2, 3}, 40, false);
        assertArrayEquals(answer, writer.write(new int[] {1, 2, 3}, 40, false));
        assertFalse(Arrays.equals(answer, writer.write(new int[] {1, 2, 4}, 40, false)));
        assertEquals(writer.endToken(), writer.write(new int[] {1}, 5, true)[4]);
    }

    @Test
    void an_answer_is_gone_on_with_as_it_would_have_been() {
        AnswerWriter writer = new AnswerWriter(tokenizer, 11);
        int[] prompt = tokenizer.encode(ChatMl.render(List.of(new Message("user", "count")), true));
        int[] answer = writer.write(prompt, 60, false);
        assertEquals(0, writer.begun(prompt));
        for (int cut = 1; cut < answer.length; cut++) {
            StringBuilder said = new StringBuilder();
            for (int i = 0; i < cut; i++) {
                said.append(writer.piece(answer[i]));
            }
            int[] begun =
                    tokenizer.encode(
                            ChatMl.render(List.of(new Message("user", "count")), true) + said);
            assertEquals(cut, writer.begun(begun));
            assertArrayEquals(
                    Arrays.copyOfRange(answer, cut, answer.length),
                    writer.write(begun, answer.length - cut, false),
                    "cut at " + cut);
        }
    }
}
