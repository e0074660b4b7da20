package io.warmpath.cli;

import com.fasterxml.jackson.core.JacksonException;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Set;

/** Where a prompt would go now, and what each worker has of it. */
final class AskCommand implements Command {
    private static final String MESSAGES = "--messages";
    private static final String ALL = "--all";

    @Override
    public String help() {
        return """
        Usage: ./warmpath ask [MODEL] [--messages] [--all] [--json] < PROMPT

        Reads a prompt from standard input and prints where a request with it would go now, and why:
        the candidates with what they have of it and the terms of their costs. Nothing is sent to an
        engine, booked or counted. MODEL may be left out where one model is served.

          --messages         the input is JSON: a list of chat messages, or a chat request of which
                             the messages are taken
          --all              every candidate and every term, however many

        Exit code: 0 answered; 1 the gateway says no, for example as it does not serve the model;
        2 the gateway cannot be asked, or wrong use.
        """;
    }

    @Override
    public Set<String> switches() {
        return Set.of(MESSAGES, ALL);
    }

    @Override
    public int mostWords() {
        return 1;
    }

    @Override
    public int run(Call call) throws Trouble {
        ObjectNode question = JsonNodeFactory.instance.objectNode();
        call.arguments().words().forEach(model -> question.put("model", model));
        if (call.around().terminal() && !call.arguments().has(MESSAGES)) {
            call.around().err().println("The prompt, then Ctrl-D at the start of a line:");
        }
        byte[] input = input(call);
        if (call.arguments().has(MESSAGES)) {
            question.set("messages", messages(input));
        } else {
            question.put("prompt", new String(input, StandardCharsets.UTF_8));
        }
        JsonNode answer = call.gateway().post("/router/ask", question);
        if (call.json()) {
            call.print(answer);
            return 0;
        }
        Page page = call.page();
        JsonNode decision = answer.path("decision");
        page.spans(
                List.of(
                        new Span("model " + Words.text(answer.path("model")), Tone.STRONG),
                        Span.of(
                                answer.path("tokens_known").asBoolean()
                                        ? Words.count(decision.path("prompt_tokens"))
                                                + " tokens, "
                                                + Words.count(
                                                        decision.path("chosen")
                                                                .path("cached_tokens"))
                                                + " of them cached on the chosen worker"
                                        : "its tokens are not known here"),
                        Span.of(
                                "would go to "
                                        + Words.text(decision.path("chosen").path("worker"))
                                        + " rank "
                                        + decision.path("chosen").path("dp_rank").asInt())));
        DecisionView.print(page, decision, call.arguments().has(ALL));
        call.print(page);
        return 0;
    }

    private static byte[] input(Call call) throws Trouble {
        try {
            byte[] input = call.around().in().readAllBytes();
            if (input.length == 0) {
                throw Trouble.usage("there is no prompt on standard input");
            }
            return input;
        } catch (IOException e) {
            throw Trouble.usage("standard input cannot be read: " + e.getMessage());
        }
    }

    private static JsonNode messages(byte[] input) throws Trouble {
        JsonNode json;
        try {
            json = new ObjectMapper().readTree(input);
        } catch (JacksonException e) {
            throw Trouble.usage("the input is no JSON: " + e.getOriginalMessage());
        } catch (IOException e) {
            throw new IllegalStateException("reading from memory", e);
        }
        JsonNode messages = json.isArray() ? json : json.path("messages");
        if (!messages.isArray()) {
            throw Trouble.usage("the input is no list of messages, and no object with `messages`");
        }
        return messages;
    }
}
