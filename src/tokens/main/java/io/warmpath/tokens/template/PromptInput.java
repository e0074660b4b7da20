package io.warmpath.tokens.template;

import io.warmpath.tokens.profile.ChatRequest;
import io.warmpath.tokens.profile.EngineProfile;
import io.warmpath.tokens.profile.Medium;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.BiConsumer;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/** The prompt of one request, before it is tokens. */
public sealed interface PromptInput {
    /** Token ids given by the client ({@code prompt: [1,2]}, {@code nvext.token_data}). */
    record Ids(int[] tokens) implements PromptInput {}

    /** Raw text of {@code /v1/completions}. */
    record Text(String text) implements PromptInput {}

    /**
     * More than one text or list of ids, each of them a prompt: completions and embeddings of a
     * list.
     */
    record Several(List<PromptInput> prompts) implements PromptInput {
        public Several {
            prompts = List.copyOf(prompts);
        }
    }

    /** A chat of roles and texts alone. */
    record Chat(List<Message> messages, boolean addGenerationPrompt) implements PromptInput {
        /** The same, as a template takes it. */
        public ChatRequest request() {
            List<Map<String, Object>> maps = new ArrayList<>(messages.size());
            for (Message message : messages) {
                // In the order in which engines have them; a template can print it.
                Map<String, Object> map = new LinkedHashMap<>(4);
                map.put("role", message.role());
                map.put("content", message.content());
                maps.add(map);
            }
            return ChatRequest.of(maps, addGenerationPrompt);
        }
    }

    /**
     * A chat with anything else that a template may look at: tools, tool calls, parts, arguments.
     *
     * @param chars length of the request it comes from; reading it costs accordingly
     * @param source reads it, on any thread; throws IllegalArgumentException when some member is
     *     not what it has to be
     * @param extent says afterwards how much of it the ids stand for
     */
    record Conversation(int chars, Supplier<ChatRequest> source, Extent extent)
            implements PromptInput {
        public Conversation(int chars, Supplier<ChatRequest> source) {
            this(chars, source, new Extent());
        }
    }

    /**
     * How much of a chat its ids stand for, on each kind of engine, and what its media are called.
     * Written before the ids are handed on, by whoever makes them; read after.
     */
    final class Extent {
        private static final int[] NOWHERE = {};

        private final Supplier<int[]> places;
        private volatile Map<EngineProfile, String> beginnings = Map.of();
        private volatile Map<EngineProfile, LearntMedia.Lesson> lessons = Map.of();
        private volatile int[] writable = NOWHERE;
        private volatile List<Medium> media = List.of();

        /** Of a chat that is not sent as it is. */
        public Extent() {
            this(() -> NOWHERE);
        }

        /**
         * @param places where its body takes a further member of each medium, in their order; empty
         *     where it does not
         */
        public Extent(Supplier<int[]> places) {
            this.places = places;
        }

        /** They end before a medium whose name or length only the engine knows. */
        public void beginningOnly(EngineProfile engine, String why) {
            beginnings = with(beginnings, engine, why);
        }

        public boolean isBeginning(EngineProfile engine) {
            return beginnings.containsKey(engine);
        }

        /** Why they are not of the whole prompt; empty: they are. */
        public String whyBeginning(EngineProfile engine) {
            return beginnings.getOrDefault(engine, "");
        }

        /** The chat has these. */
        public void media(List<Medium> all) {
            int[] found = places.get();
            if (found.length == all.size()) {
                writable = found;
                media = all;
            }
        }

        /** The engine will know it by its name. */
        public boolean tells(Medium medium) {
            return medium.name() != null && writable.length > 0;
        }

        /** What is to be learnt from the answer. */
        public void lesson(EngineProfile engine, LearntMedia.Lesson lesson) {
            lessons = with(lessons, engine, lesson);
        }

        private static <T> Map<EngineProfile, T> with(
                Map<EngineProfile, T> known, EngineProfile engine, T value) {
            Map<EngineProfile, T> all = new EnumMap<>(EngineProfile.class);
            all.putAll(known);
            all.put(engine, value);
            return all;
        }

        /** Null: nothing. */
        public LearntMedia.@Nullable Lesson lesson(EngineProfile engine) {
            return lessons.get(engine);
        }

        /**
         * What an engine that takes names has to find in the body.
         *
         * @param to gets the place and the member with its comma, in order
         */
        public void names(BiConsumer<Integer, String> to) {
            for (int i = 0; i < media.size(); i++) {
                Medium medium = media.get(i);
                if (!medium.given() && medium.name() != null) {
                    to.accept(writable[i], "\"uuid\":\"" + medium.name() + "\",");
                }
            }
        }
    }

    /** Something whose tokens this gateway cannot know; routed by load alone. */
    record Opaque(String why) implements PromptInput {}

    /** One message; {@code content} is its plain text. */
    record Message(String role, String content) {}
}
