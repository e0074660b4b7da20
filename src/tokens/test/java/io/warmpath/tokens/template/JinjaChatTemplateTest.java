package io.warmpath.tokens.template;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.warmpath.tokens.jinja.Template;
import io.warmpath.tokens.profile.ChatRequest;
import io.warmpath.tokens.profile.EngineProfile;
import io.warmpath.tokens.profile.EnginePrompt;
import io.warmpath.tokens.profile.EnginePrompt.Invalid;
import io.warmpath.tokens.profile.EnginePrompt.Text;
import io.warmpath.tokens.profile.EnginePrompt.Unpredictable;
import io.warmpath.tokens.profile.ModelFacts;
import io.warmpath.tokens.template.PromptInput.Chat;
import io.warmpath.tokens.template.PromptInput.Message;
import java.time.Clock;
import java.time.Instant;
import java.time.ZoneOffset;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;

class JinjaChatTemplateTest {
    private static final Clock CLOCK =
            Clock.fixed(Instant.parse("2026-05-06T00:00:00Z"), ZoneOffset.UTC);
    private static final List<Message> HI =
            List.of(new Message("system", " s "), new Message("user", " hi "));

    private static JinjaChatTemplate template(String source) {
        return template(source, ModelFacts.UNKNOWN);
    }

    private static JinjaChatTemplate template(String source, ModelFacts model) {
        return new JinjaChatTemplate(
                Template.compile(source), null, Map.of("bos_token", "<s>"), model, CLOCK, null);
    }

    private static EnginePrompt render(String template, EngineProfile engine, Message... messages) {
        return template(template).render(new Chat(List.of(messages), true), engine);
    }

    @Test
    void a_chat_is_rendered_with_special_tokens_date_and_prompt() {
        JinjaChatTemplate template =
                template(
                        "{{ bos_token }}{{ strftime_now('%d %b') }}{% for m in messages %}"
                                + "[{{ m.role }}]{{ m.content | trim }}{% endfor %}"
                                + "{% if add_generation_prompt %}[assistant]{% endif %}"
                                + "{{ tools is none }}{{ eos_token is defined }}");
        assertEquals(
                new Text("<s>06 May[system]s[user]hi[assistant]TrueFalse"),
                template.render(new Chat(HI, true), EngineProfile.ANY));
        assertEquals(
                new Text("<s>06 May[system]s[user]hiTrueFalse"),
                template.render(new Chat(HI, false), EngineProfile.VLLM));
        assertEquals(
                new Text("<s>07 Jun[system]s[user]hiTrueFalse"),
                template.at(Clock.fixed(Instant.parse("2026-06-07T00:00:00Z"), ZoneOffset.UTC))
                        .render(new Chat(HI, false), EngineProfile.VLLM));
    }

    @Test
    void what_engines_do_differently_is_exact_for_a_known_one_and_refused_for_others() {
        String roles = "{% for m in messages %}{{ m.role }};{% endfor %}";
        Message user = new Message("user", "a");
        Message assistant = new Message("assistant", "b");
        Message developer = new Message("developer", "c");
        assertEquals(
                new Text("user;assistant;"), render(roles, EngineProfile.VLLM, user, assistant));
        assertEquals(new Text("user;user;"), render(roles, EngineProfile.SGLANG, user, assistant));
        assertInstanceOf(Unpredictable.class, render(roles, EngineProfile.ANY, user, assistant));
        assertEquals(new Text("system;user;"), render(roles, EngineProfile.VLLM, developer, user));
        assertEquals(
                new Text("developer;user;"), render(roles, EngineProfile.SGLANG, developer, user));
        assertInstanceOf(Invalid.class, render(roles, EngineProfile.ANY));
    }

    /** vLLM hands texts over as a list of one part when the template loops over contents. */
    @Test
    void a_template_that_treats_parts_otherwise_than_texts_is_refused_only_where_it_shows() {
        String trims =
                "{% for m in messages %}{% if m.content is string %}{{ m.content }}"
                        + "{% else %}{% for c in m.content %}{{ c.text | trim }}"
                        + "{% endfor %}{% endif %}{% endfor %}";
        assertEquals(
                new Text("ab"),
                render(
                        trims,
                        EngineProfile.ANY,
                        new Message("system", "a"),
                        new Message("user", "b")));
        Message blanks = new Message("user", " b ");
        assertEquals(new Text("b"), render(trims, EngineProfile.VLLM, blanks));
        assertEquals(new Text(" b "), render(trims, EngineProfile.SGLANG, blanks));
        assertInstanceOf(Unpredictable.class, render(trims, EngineProfile.ANY, blanks));
    }

    @Test
    void the_templates_own_refusal_is_the_message() {
        for (EngineProfile engine : List.of(EngineProfile.VLLM, EngineProfile.SGLANG)) {
            assertEquals(
                    new Invalid("messages", "No systems!"),
                    render("{{ raise_exception('No systems!') }}", engine, HI.get(0)));
        }
    }

    @Test
    void a_model_whose_prompts_the_engine_makes_by_code_is_refused_there() {
        JinjaChatTemplate template = template("x", new ModelFacts("gpt_oss", List.of(), false));
        Chat chat = new Chat(HI, true);
        assertInstanceOf(Unpredictable.class, template.render(chat, EngineProfile.VLLM));
        assertInstanceOf(Unpredictable.class, template.render(chat, EngineProfile.ANY));
        assertEquals(new Text("x"), template.render(chat, EngineProfile.SGLANG));
    }

    @Test
    void chats_with_tools_have_a_template_of_their_own_where_there_is_one() {
        JinjaChatTemplate template =
                new JinjaChatTemplate(
                        Template.compile("plain"),
                        Template.compile("tools"),
                        Map.of(),
                        ModelFacts.UNKNOWN,
                        CLOCK,
                        null);
        List<Map<String, String>> user = List.of(Map.of("role", "user", "content", "a"));
        ChatRequest with =
                new ChatRequest(user, List.of(), null, null, null, false, Map.of(), null);
        ChatRequest without = ChatRequest.of(user, null);
        assertEquals(new Text("tools"), template.render(with, EngineProfile.VLLM));
        assertEquals(new Text("plain"), template.render(without, EngineProfile.VLLM));
        assertEquals(new Text("plain"), template.render(without, EngineProfile.SGLANG));
        assertInstanceOf(Unpredictable.class, template.render(with, EngineProfile.SGLANG));
    }

    @Test
    void plain_chats_of_chatml_form_are_as_quick_on_each_engine() {
        JinjaChatTemplate template =
                new JinjaChatTemplate(
                        Template.compile("slow"),
                        null,
                        Map.of(),
                        ModelFacts.UNKNOWN,
                        CLOCK,
                        ChatMlTemplate.PLAIN);
        String text = "<|im_start|>user\na<|im_end|>\n";
        List<Message> user = List.of(new Message("user", "a"));
        for (EngineProfile engine : EngineProfile.values()) {
            assertEquals(
                    new Text(text + "<|im_start|>assistant\n"),
                    template.render(new Chat(user, true), engine));
        }
        assertEquals(new Text(text), template.render(new Chat(user, false), EngineProfile.VLLM));
        assertEquals(
                new Text(text + "<|im_start|>assistant\n"),
                template.render(new Chat(user, false), EngineProfile.SGLANG));
        assertEquals(
                new Text("slow"),
                template.render(
                        new Chat(List.of(new Message("critic", "a")), true), EngineProfile.VLLM));
        assertTrue(template.isQuick(1000));
    }

    @Test
    void many_messages_are_not_rendered_on_an_event_loop() {
        JinjaChatTemplate template = template("x");
        assertTrue(template.isQuick(64));
        assertFalse(template.isQuick(65));
    }
}
