package io.warmpath.cli;

import com.fasterxml.jackson.databind.JsonNode;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;

/**
 * Whether a gateway and its fleet do what they are for.
 *
 * @param sentences what is not well, the gateway's own first
 */
record Verdict(Level level, List<String> sentences) {
    /** States of workers that are well, or as an operator wants them. */
    private static final Set<String> WELL = Set.of("ready", "full", "draining", "drained");

    private static final Set<String> EVENTS_LOST = Set.of("frozen", "gone");

    /** Its code is what {@code status} ends with. */
    enum Level {
        WELL(0, "all well", Tone.GOOD),
        DEGRADED(1, "degraded", Tone.WARNING),
        DOWN(2, "down", Tone.BAD);

        private final int exitCode;
        private final String word;
        private final Tone tone;

        Level(int exitCode, String word, Tone tone) {
            this.exitCode = exitCode;
            this.word = word;
            this.tone = tone;
        }

        int exitCode() {
            return exitCode;
        }

        Span span() {
            return new Span(word, tone);
        }
    }

    Verdict {
        sentences = List.copyOf(sentences);
    }

    /** {@code fleet}: as {@code GET /fleet} answers. */
    static Verdict of(JsonNode fleet) {
        List<String> sentences = new ArrayList<>();
        fleet.path("gateway").path("degraded").forEach(s -> sentences.add(s.asText()));
        for (JsonNode worker : fleet.path("workers")) {
            if (!isWell(worker)) {
                String problem = worker.path("problem").asText();
                sentences.add(
                        worker.path("name").asText()
                                + " is "
                                + worker.path("state").asText()
                                + (problem.isEmpty() ? "." : ": " + problem));
            }
            for (JsonNode rank : worker.path("ranks")) {
                if (eventsLost(rank)) {
                    sentences.add(
                            "The events of "
                                    + worker.path("name").asText()
                                    + " rank "
                                    + rank.path("dp_rank").asInt()
                                    + ": "
                                    + rank.path("events").path("state").asText()
                                    + (rank.path("events").hasNonNull("why")
                                            ? ", " + rank.path("events").path("why").asText()
                                            : "."));
                }
            }
        }
        return new Verdict(
                !fleet.path("gateway").path("ready").asBoolean()
                        ? Level.DOWN
                        : sentences.isEmpty() ? Level.WELL : Level.DEGRADED,
                sentences);
    }

    static boolean isWell(JsonNode worker) {
        return WELL.contains(worker.path("state").asText()) || isDrained(worker);
    }

    /** By an operator. */
    static boolean isDrained(JsonNode worker) {
        return worker.path("drained").asBoolean()
                || worker.path("state").asText().equals("drained");
    }

    /** A gap whose rest is believed in full is no loss: new events fill it. */
    static boolean eventsLost(JsonNode rank) {
        JsonNode events = rank.path("events");
        return EVENTS_LOST.contains(events.path("state").asText())
                || events.path("trust").asDouble(1) < 1;
    }
}
