package io.warmpath.cli;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.io.IOException;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

class AskCommandTest {
    private StubGateway gateway;

    @BeforeEach
    void start() throws IOException {
        gateway = new StubGateway().onAll();
    }

    @AfterEach
    void stop() {
        gateway.close();
    }

    @Test
    void a_prompt_is_sent_as_it_is_and_the_decision_shown() {
        gateway.input = "Bär \"x\"\n";
        assertEquals(0, gateway.run("ask", "qwen3"), gateway.err());
        assertEquals(
                List.of("POST /router/ask {\"model\":\"qwen3\",\"prompt\":\"Bär \\\"x\\\"\\n\"}"),
                gateway.asked());
        assertEquals(
                """
                model qwen3   40 tokens, 32 of them cached on the chosen worker
                would go to w1 rank 0
                Reason: lowest cost
                2 candidates, costs in blocks:
                  WORKER     COST  device_credit  prefill_blocks
                * w1 rank 0     1              2               1
                  w2 rank 0     3              0               3
                Next: w2 rank 0, 2 dearer; beside the chosen one it has device_credit -2,
                prefill_blocks +2.
                blocks of the prompt that w1 rank 0 held   2 gpu
                """,
                gateway.out());
    }

    @Test
    void messages_come_as_a_list_or_as_a_request() {
        String messages = "[{\"role\":\"user\",\"content\":\"x\"}]";
        for (String input :
                List.of(messages, "{\"model\":\"other\",\"messages\":" + messages + "}")) {
            gateway.input = input;
            assertEquals(0, gateway.run("ask", "--messages"), gateway.err());
            assertEquals(
                    List.of("POST /router/ask {\"messages\":" + messages + "}"), gateway.asked());
        }
    }

    @Test
    void input_that_is_no_prompt_is_refused_before_anybody_is_asked() {
        assertEquals(2, gateway.run("ask", "qwen3"));
        assertEquals("warmpath ask: there is no prompt on standard input\n", gateway.err());
        gateway.input = "{\"messages\":3}";
        assertEquals(2, gateway.run("ask", "--messages"));
        gateway.input = "not json";
        assertEquals(2, gateway.run("ask", "--messages"));
        assertEquals(List.of(), gateway.asked());
    }
}
