package io.warmpath.tokens;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.warmpath.tokens.ChatTemplate.Refused;
import io.warmpath.tokens.ChatTemplate.Rendered;
import io.warmpath.tokens.PromptInput.Message;
import io.warmpath.tokens.jinja.Template;
import java.time.Clock;
import java.time.Instant;
import java.time.ZoneOffset;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;

class JinjaChatTemplateTest {
    private static final Clock CLOCK =
            Clock.fixed(Instant.parse("2026-05-06T00:00:00Z"), ZoneOffset.UTC);
    private static final List<Message> HI =
            List.of(new Message("system", " s "), new Message("user", " hi "));

    private static JinjaChatTemplate template(String source) {
        return new JinjaChatTemplate(Template.compile(source), Map.of("bos_token", "<s>"), CLOCK);
    }

    private static Refused refused(String why) {
        return new Refused(why);
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
                new Rendered("<s>06 May[system]s[user]hi[assistant]TrueFalse"),
                template.render(HI, true));
        assertEquals(
                new Rendered("<s>06 May[system]s[user]hiTrueFalse"), template.render(HI, false));
    }

    @Test
    void what_engines_do_differently_is_refused() {
        JinjaChatTemplate template = template("{{ messages | length }}");
        Message user = new Message("user", "a");
        Message system = new Message("system", "a");
        assertEquals(refused("no messages"), template.render(List.of(), true));
        assertEquals(
                refused("engines differ on a last message of the assistant"),
                template.render(List.of(user, new Message("assistant", "b")), true));
        assertEquals(
                refused("engines differ on the role developer"),
                template.render(List.of(new Message("developer", "b"), user), true));
        assertEquals(
                refused("engines differ on several system messages"),
                template.render(List.of(system, user, system, user), true));
    }

    /** vLLM hands texts over as a list of one part when the template loops over contents. */
    @Test
    void a_template_that_treats_parts_otherwise_than_texts_is_refused_only_where_it_shows() {
        JinjaChatTemplate template =
                template(
                        "{% for m in messages %}{% if m.content is string %}{{ m.content }}"
                                + "{% else %}{% for c in m.content %}{{ c.text | trim }}"
                                + "{% endfor %}{% endif %}{% endfor %}");
        assertEquals(
                new Rendered("ab"),
                template.render(
                        List.of(new Message("system", "a"), new Message("user", "b")), true));
        assertEquals(refused("the text differs with contents as parts"), template.render(HI, true));
    }

    @Test
    void a_template_that_only_asks_whether_a_content_is_a_text_gets_texts() {
        JinjaChatTemplate template =
                template(
                        "{% for m in messages %}{{ m.content if m.content is string else '?' }}"
                                + "{% endfor %}");
        assertEquals(new Rendered(" s  hi "), template.render(HI, true));
    }

    @Test
    void loops_over_contents_are_seen_through_variables_and_macros() {
        for (String over :
                List.of(
                        "m.content",
                        "m['content']",
                        "m.get('content')",
                        "m.content | list",
                        "m.content[1:]",
                        "x")) {
            assertTrue(
                    Template.compile(
                                    "{% for m in messages %}{% for c in "
                                            + over
                                            + " %}{% endfor %}{% set x = m.content %}{% endfor %}")
                            .loopsOverContent(),
                    over);
        }
        assertTrue(
                Template.compile("{% macro f(c) %}{% for p in c %}{% endfor %}{% endmacro %}")
                        .loopsOverContent());
        assertFalse(
                Template.compile("{% for m in messages[1:] %}{{ m.content }}{% endfor %}")
                        .loopsOverContent());
    }

    @Test
    void the_templates_own_refusal_is_the_reason() {
        assertEquals(
                refused("the template refuses it: No systems!"),
                template("{{ raise_exception('No systems!') }}").render(HI, true));
    }

    @Test
    void many_messages_are_not_rendered_on_an_event_loop() {
        Message user = new Message("user", "a");
        JinjaChatTemplate template = template("x");
        assertTrue(template.isQuick(Collections.nCopies(64, user)));
        assertFalse(template.isQuick(Collections.nCopies(65, user)));
    }
}
