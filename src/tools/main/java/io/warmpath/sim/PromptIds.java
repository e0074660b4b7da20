package io.warmpath.sim;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.warmpath.sim.CompletionRequest.Malformed;
import io.warmpath.sim.CompletionRequest.Prompt;
import io.warmpath.sim.http.SimExchange;
import io.warmpath.sim.model.SimTokenizer;
import java.io.IOException;
import java.util.concurrent.Executor;
import java.util.concurrent.RejectedExecutionException;
import java.util.function.Consumer;

/**
 * Bodies to JSON and prompts to token ids. Tokenizing runs on its executor, the rest on the loop.
 */
record PromptIds(SimTokenizer tokenizer, Executor tokenizing) {
    private static final ObjectMapper JSON = new ObjectMapper();

    /** Calls {@code then} on the exchange's thread, unless the client has left meanwhile. */
    void resolve(SimExchange exchange, Prompt prompt, Consumer<int[]> then) {
        switch (prompt) {
            case Prompt.Ids given -> then.accept(given.tokens());
            case Prompt.Text given -> {
                try {
                    tokenizing.execute(
                            () -> {
                                int[] ids = tokenizer.encode(given.text());
                                exchange.loop()
                                        .execute(
                                                () -> {
                                                    if (exchange.open()) {
                                                        then.accept(ids);
                                                    }
                                                });
                            });
                } catch (RejectedExecutionException e) {
                    // The engine is dying; so is this connection.
                    exchange.reset();
                }
            }
        }
    }

    static JsonNode read(SimExchange exchange) throws Malformed {
        try {
            JsonNode body = JSON.readTree(exchange.body());
            if (body == null || body.isMissingNode()) {
                throw new Malformed("The request has no body.");
            }
            return body;
        } catch (JsonProcessingException e) {
            throw new Malformed("JSON decode error: " + e.getOriginalMessage());
        } catch (IOException e) {
            throw new Malformed("The request body cannot be read: " + e.getMessage());
        }
    }
}
