package io.warmpath.sim.demo;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.time.Duration;
import java.util.Iterator;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalDouble;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;

/** Talks to a gateway as any client would. Any thread; calls block. */
final class GatewayClient implements AutoCloseable {
    private static final ObjectMapper JSON = new ObjectMapper();
    private static final Duration TIMEOUT = Duration.ofSeconds(60);
    private static final Pattern TIERS = Pattern.compile("gpu=(\\d+);host=(\\d+);.*");

    /** What a request has beside its messages. {@code nvext}: left out when it is empty. */
    record Extras(ObjectNode nvext, Map<String, String> headers) {
        static Extras none() {
            return new Extras(JSON.createObjectNode(), Map.of());
        }
    }

    /** One message of a conversation. */
    record Message(String role, String content) {}

    /** What came back for one turn. */
    record Answer(String text, Played played) {}

    private final HttpClient http =
            HttpClient.newBuilder()
                    .version(HttpClient.Version.HTTP_1_1)
                    .connectTimeout(Duration.ofSeconds(5))
                    .build();
    private final URI gateway;

    GatewayClient(URI gateway) {
        this.gateway = gateway;
    }

    /** Asks for a streamed answer and reads it to its end. */
    Answer ask(DemoWorkload.Turn turn, String model, List<Message> messages)
            throws DemoFailure, InterruptedException {
        return ask(turn, model, messages, Extras.none());
    }

    /** The same with more than messages. */
    Answer ask(DemoWorkload.Turn turn, String model, List<Message> messages, Extras extras)
            throws DemoFailure, InterruptedException {
        String where =
                "conversation " + (turn.conversation() + 1) + ", turn " + (turn.number() + 1);
        HttpRequest.Builder request =
                HttpRequest.newBuilder(gateway.resolve("/v1/chat/completions"))
                        .timeout(TIMEOUT)
                        .header("content-type", "application/json")
                        .header("x-warmpath-explain", "1")
                        .POST(
                                HttpRequest.BodyPublishers.ofString(
                                        body(model, messages, turn.maxTokens(), extras.nvext())));
        extras.headers().forEach(request::header);
        long sent = System.nanoTime();
        try {
            HttpResponse<Stream<String>> response =
                    http.send(request.build(), HttpResponse.BodyHandlers.ofLines());
            try (Stream<String> lines = response.body()) {
                if (response.statusCode() != 200) {
                    throw new DemoFailure(
                            where
                                    + " was answered with "
                                    + response.statusCode()
                                    + ": "
                                    + String.join(" ", lines.toList()));
                }
                Reading reading = new Reading(sent);
                reading.all(lines.iterator());
                if (reading.cachedTokens < 0) {
                    throw new DemoFailure(where + " ended without the engine's usage report");
                }
                return new Answer(reading.text.toString(), played(turn, response, reading));
            }
        } catch (IOException e) {
            throw new DemoFailure(where + " broke off: " + e.getMessage(), e);
        }
    }

    /** Sum of a metric over its label values; empty when the gateway cannot be asked. */
    OptionalDouble metric(String name, String labels) throws InterruptedException {
        Optional<String> metrics = page("/metrics");
        return metrics.isEmpty()
                ? OptionalDouble.empty()
                : OptionalDouble.of(
                        metrics.get()
                                .lines()
                                .filter(l -> l.startsWith(name + " ") || l.startsWith(name + "{"))
                                .filter(l -> l.contains(labels))
                                .mapToDouble(
                                        l ->
                                                Double.parseDouble(
                                                        l.substring(l.lastIndexOf(' ') + 1)))
                                .sum());
    }

    /** It has warmed up and takes requests. */
    boolean ready() throws InterruptedException {
        return page("/ready").isPresent();
    }

    /** Empty when there is no good answer. */
    private Optional<String> page(String path) throws InterruptedException {
        HttpRequest request =
                HttpRequest.newBuilder(gateway.resolve(path))
                        .timeout(Duration.ofSeconds(5))
                        .build();
        try {
            HttpResponse<String> response =
                    http.send(request, HttpResponse.BodyHandlers.ofString());
            return response.statusCode() == 200 ? Optional.of(response.body()) : Optional.empty();
        } catch (IOException e) {
            return Optional.empty();
        }
    }

    @Override
    public void close() {
        http.shutdownNow();
    }

    private static String body(
            String model, List<Message> messages, int maxTokens, ObjectNode nvext) {
        ObjectNode body = JSON.createObjectNode().put("model", model);
        ArrayNode list = body.putArray("messages");
        messages.forEach(m -> list.addObject().put("role", m.role()).put("content", m.content()));
        body.put("max_tokens", maxTokens).put("stream", true);
        body.putObject("stream_options").put("include_usage", true);
        if (!nvext.isEmpty()) {
            body.set("nvext", nvext);
        }
        return body.toString();
    }

    private static Played played(
            DemoWorkload.Turn turn, HttpResponse<?> response, Reading reading) {
        Matcher tiers =
                TIERS.matcher(
                        response.headers().firstValue("x-warmpath-matched-blocks").orElse(""));
        boolean matched = tiers.matches();
        int gpu = matched ? Integer.parseInt(tiers.group(1)) : 0;
        int host = matched ? Integer.parseInt(tiers.group(2)) : 0;
        long predicted =
                response.headers()
                        .firstValueAsLong("x-warmpath-predicted-cached-tokens")
                        .orElse(-1);
        long pooled = response.headers().firstValueAsLong("x-warmpath-shared-blocks").orElse(0);
        return new Played(
                turn,
                response.headers().firstValue("x-warmpath-worker").orElse("?"),
                reading.promptTokens,
                gpu,
                host,
                (int) pooled,
                (int) predicted,
                reading.cachedTokens,
                reading.sent,
                reading.toFirstToken,
                Duration.ofNanos(System.nanoTime() - reading.sent));
    }

    /** The stream of one answer. */
    private static final class Reading {
        private final long sent;
        private final StringBuilder text = new StringBuilder();
        private Duration toFirstToken = Duration.ZERO;
        private boolean begun;
        private int promptTokens;
        private int cachedTokens = -1;

        Reading(long sent) {
            this.sent = sent;
        }

        void all(Iterator<String> lines) throws IOException, DemoFailure {
            while (lines.hasNext()) {
                String line = lines.next();
                if (line.startsWith("data: ") && !line.equals("data: [DONE]")) {
                    event(JSON.readTree(line.substring("data: ".length())));
                }
            }
        }

        private void event(JsonNode event) throws DemoFailure {
            if (event.has("error")) {
                throw new DemoFailure("the answer ended in an error: " + event.path("error"));
            }
            String piece = event.at("/choices/0/delta/content").asText("");
            if (!piece.isEmpty()) {
                if (!begun) {
                    begun = true;
                    toFirstToken = Duration.ofNanos(System.nanoTime() - sent);
                }
                text.append(piece);
            }
            JsonNode usage = event.path("usage");
            if (usage.isObject()) {
                promptTokens = usage.path("prompt_tokens").asInt();
                cachedTokens = usage.at("/prompt_tokens_details/cached_tokens").asInt(-1);
            }
        }
    }
}
