package io.warmpath.tokens.template;

import io.warmpath.tokens.jinja.RenderLimits;
import io.warmpath.tokens.jinja.Template;
import io.warmpath.tokens.jinja.TemplateException;
import io.warmpath.tokens.profile.ChatRequest;
import io.warmpath.tokens.profile.EngineProfile;
import io.warmpath.tokens.profile.EnginePrompt;
import io.warmpath.tokens.profile.ModelFacts;
import io.warmpath.tokens.profile.Placeholders;
import java.time.Clock;
import java.util.Map;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * Any chat template that {@link Template} can load, with what engines do to chats before it. Models
 * whose prompts an engine makes by code are refused for that engine.
 */
public final class JinjaChatTemplate implements ChatTemplate {
    /** Rendered on an event loop up to here; some microseconds each. */
    private static final int QUICK_MESSAGES = 64;

    private final Template template;
    private final @Nullable Template forTools;
    private final Map<String, String> specialTokens;
    private final ModelFacts model;
    private final Clock clock;
    private final @Nullable ChatMlTemplate quick;

    /**
     * @param forTools another template for chats with tools; null: there is none
     * @param specialTokens {@code bos_token} and so on, as far as the model has them
     * @param clock for templates that print the date, in the engines' time zone
     * @param quick says the same of plain chats in fewer steps; null: there is none
     */
    public JinjaChatTemplate(
            Template template,
            @Nullable Template forTools,
            Map<String, String> specialTokens,
            ModelFacts model,
            Clock clock,
            @Nullable ChatMlTemplate quick) {
        this.template = template;
        this.forTools = forTools;
        this.specialTokens = Map.copyOf(specialTokens);
        this.model = model;
        this.clock = clock;
        this.quick = quick;
    }

    /** The same at another time. */
    public JinjaChatTemplate at(Clock other) {
        return new JinjaChatTemplate(template, forTools, specialTokens, model, other, quick);
    }

    @Override
    public boolean isQuick(int messages) {
        return quick != null || messages <= QUICK_MESSAGES;
    }

    @Override
    public Placeholders placeholders() {
        return model.placeholders();
    }

    @Override
    public EnginePrompt render(PromptInput.Chat chat, EngineProfile engine) {
        if (quick != null
                && model.renderedByCode(engine).isEmpty()
                && quick.render(chat, engine) instanceof EnginePrompt.Text text) {
            return text;
        }
        return render(chat.request(), engine);
    }

    @Override
    public EnginePrompt render(ChatRequest chat, EngineProfile engine) {
        try {
            return prompt(chat, engine);
        } catch (TemplateException e) {
            return e.isItsOwn()
                    ? new EnginePrompt.Invalid("messages", String.valueOf(e.getMessage()))
                    : new EnginePrompt.Unpredictable("the template: " + e.getMessage());
        }
    }

    /**
     * As {@link #render(ChatRequest, EngineProfile)}, with the template's failures as they are.
     *
     * @throws TemplateException when the template refuses the chat, or fails on it
     */
    public EnginePrompt prompt(ChatRequest chat, EngineProfile engine) {
        Optional<String> code = model.renderedByCode(engine);
        if (code.isPresent()) {
            return new EnginePrompt.Unpredictable(
                    "the engine makes this model's prompts by code: " + code.get());
        }
        boolean tools = forTools != null && chat.tools() != null;
        if (tools && (engine == EngineProfile.SGLANG || engine == EngineProfile.ANY)) {
            return new EnginePrompt.Unpredictable("tools of a model with several templates");
        }
        Template used = tools && forTools != null ? forTools : template;
        return engine.render(chat, used, specialTokens, RenderLimits.DEFAULT, clock);
    }
}
