package io.warmpath.tokens.profile;

import io.warmpath.tokens.jinja.HuggingFaceChat;
import io.warmpath.tokens.jinja.RenderLimits;
import io.warmpath.tokens.jinja.Template;
import io.warmpath.tokens.jinja.TemplateException;
import java.time.Clock;
import java.util.LinkedHashMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * How one kind of engine turns a chat request into what its template gets. The same messages give
 * different texts on different engines, so each profile is written for one version of its engine.
 * Pure; any thread.
 */
public enum EngineProfile {
    VLLM("0.33") {
        @Override
        TemplateInput normalised(ChatRequest chat, Template template) {
            return new VllmProfile(chat, template.facts()).normalised();
        }
    },
    SGLANG("0.5.23") {
        @Override
        TemplateInput normalised(ChatRequest chat, Template template) {
            return new SglangProfile(chat, template.facts()).normalised();
        }
    },
    /** No engine: the template gets the request as it is. */
    NONE("") {
        @Override
        TemplateInput normalised(ChatRequest chat, Template template) {
            Map<String, @Nullable Object> arguments = new LinkedHashMap<>(chat.arguments());
            if (chat.reasoningEffort() != null) {
                arguments.putIfAbsent("reasoning_effort", chat.reasoningEffort());
            }
            return new TemplateInput(
                    new HuggingFaceChat(
                            chat.messages(),
                            chat.tools(),
                            chat.documents(),
                            Boolean.TRUE.equals(chat.addGenerationPrompt()),
                            chat.continueFinalMessage(),
                            arguments),
                    "",
                    null);
        }
    },
    /** An engine of unknown kind: a prompt only where all kinds agree on it. */
    ANY("") {
        @Override
        TemplateInput normalised(ChatRequest chat, Template template) {
            throw new UnsupportedOperationException("several inputs");
        }

        @Override
        public EnginePrompt render(
                ChatRequest chat,
                Template template,
                Map<String, String> specialTokens,
                RenderLimits limits,
                Clock clock) {
            if (isSameInput(chat, template)) {
                return VLLM.render(chat, template, specialTokens, limits, clock);
            }
            EnginePrompt one = VLLM.render(chat, template, specialTokens, limits, clock);
            EnginePrompt other = SGLANG.render(chat, template, specialTokens, limits, clock);
            return one.equals(other)
                    ? one
                    : new EnginePrompt.Unpredictable("engines differ on this chat");
        }

        /** Mostly so, and much cheaper to see than to render twice. */
        private static boolean isSameInput(ChatRequest chat, Template template) {
            try {
                return SameTrees.same(
                        VLLM.normalised(chat, template), SGLANG.normalised(chat, template));
            } catch (NotRendered e) {
                return false; // what each says of it is compared
            }
        }
    };

    private final String version;

    EngineProfile(String version) {
        this.version = version;
    }

    /** Of the engine that it was written for; empty when it is none's. */
    public String version() {
        return version;
    }

    /**
     * It was written for this version, patches and builds of it included. Engines of other
     * versions, or whose version is not known, get the nearest profile of their kind, of which
     * there is one.
     *
     * @param engine as engines write it: {@code 0.33.1.dev5+g1a2b3c}, {@code v0.5.23.post1}
     */
    public boolean isWrittenFor(String engine) {
        String said = engine.startsWith("v") ? engine.substring(1) : engine;
        return said.startsWith(version)
                && (said.length() == version.length()
                        || !Character.isDigit(said.charAt(version.length())));
    }

    /** Throws {@link NotRendered} with the answer, when there is no input. */
    abstract TemplateInput normalised(ChatRequest chat, Template template);

    /**
     * The prompt of a chat on this engine.
     *
     * @param specialTokens {@code bos_token} and so on, as far as the tokenizer has them
     * @param clock for templates that print the date, in the engine's time zone
     * @throws TemplateException when the template refuses the chat, or fails on it; the engine
     *     answers with 400 when it is the template's doing
     */
    public EnginePrompt render(
            ChatRequest chat,
            Template template,
            Map<String, String> specialTokens,
            RenderLimits limits,
            Clock clock) {
        TemplateInput input;
        try {
            input = normalised(chat, template);
        } catch (NotRendered e) {
            return e.answer();
        }
        try {
            return new EnginePrompt.Text(
                    input.chat().render(template, specialTokens, limits, clock), input.continued());
        } catch (TemplateException e) {
            if (!e.isItsOwn() || input.bareTools() == null) {
                throw e;
            }
        }
        return new EnginePrompt.Text(
                input.secondTry().render(template, specialTokens, limits, clock),
                input.continued());
    }
}
