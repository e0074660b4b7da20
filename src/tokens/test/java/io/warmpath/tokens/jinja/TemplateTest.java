package io.warmpath.tokens.jinja;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.warmpath.tokens.jinja.TemplateException.Kind;
import java.time.Clock;
import java.time.Instant;
import java.time.ZoneId;
import java.time.ZoneOffset;
import java.util.List;
import java.util.Map;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class TemplateTest {
    private static final Clock NOON =
            Clock.fixed(Instant.parse("2026-12-31T23:30:00Z"), ZoneOffset.UTC);

    private static String render(String source, Map<String, Object> variables) {
        return Template.compile(source).render(variables, RenderLimits.DEFAULT, NOON);
    }

    @Test
    void a_template_raises_its_own_words() {
        TemplateException e =
                assertThrows(
                        TemplateException.class,
                        () -> render("{{ raise_exception('Roles must ' ~ x) }}", Map.of("x", 1)));
        assertEquals(Kind.RAISED, e.kind());
        assertEquals("Roles must 1", e.getMessage());
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = ';',
            value = {
                "{% include 'a' %}; line 1: the tag 'include' is not supported",
                "{% block a %}{% endblock %}; line 1: the tag 'block' is not supported",
                "{% for a in b recursive %}{% endfor %}; line 1: a recursive loop is not supported",
                "{{ a | groupby('b') }}; line 1: the filter groupby is not supported",
                "{{ a | map('pprint') }}; line 1: the filter pprint is not supported",
                "{{ a.encode() }}; line 1: the method encode is not supported",
                "{{ cycler('a') }}; line 1: the name cycler is not supported",
                "{{ '\\N{DASH}' }}; line 1: \\N{...} in a string is not supported",
            })
    void what_is_not_known_is_refused_at_load_with_line_and_name(String source, String message) {
        TemplateException e = assertThrows(TemplateException.class, () -> Template.compile(source));
        assertEquals(Kind.UNSUPPORTED, e.kind());
        assertEquals(message, e.getMessage());
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "{{ a | from_json }}",
                "{{ a is nosuch }}",
                "{% if a %}",
                "{{ a",
                "{{ (a }}",
                "{% endfor %}",
                "{% break %}",
                "{% for loop in a %}{% endfor %}",
                "{% generation %}{% break %}{% endgeneration %}",
                "{% set 1 = 2 %}",
                "{# open",
                "{% do x %}",
                "{% raw %}",
                "{{ 'a }}",
                "{{ f(a=1, a=2) }}"
            })
    void what_jinja_cannot_load_is_not_loaded(String source) {
        TemplateException e =
                assertThrows(TemplateException.class, () -> Template.compile("a\n" + source));
        assertEquals(Kind.SYNTAX, e.kind());
        assertTrue(String.valueOf(e.getMessage()).startsWith("line 2: "), e.getMessage());
    }

    @Test
    void lines_are_counted_through_everything_that_is_trimmed() {
        String source =
                "\n{#- c\n -#}\n\n{% set a = 'x\ny' -%}\n\n{% raw %}\n{{\n{% endraw %}\n{% nosuch %}";
        TemplateException e = assertThrows(TemplateException.class, () -> Template.compile(source));
        assertEquals("line 11: unknown tag 'nosuch'", e.getMessage());
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "{% for a in range(100000) %}{% for b in range(100000) %}{% endfor %}{% endfor %}",
                "{{ 'abcdefghij' * 1000000000 }}",
                "{{ [1] * 1000000000000000000000 }}",
                "{% macro f() %}{{ f() }}{% endmacro %}{{ f() }}",
                "{% set ns = namespace(x='ab') %}{% for i in range(100) %}"
                        + "{% set ns.x = ns.x + ns.x %}{% endfor %}",
                "{% set ns = namespace(x=[1, 2]) %}{% for i in range(100) %}"
                        + "{% set ns.x = [ns.x, ns.x] %}{% endfor %}{{ ns.x }}",
                "{% set ns = namespace(x='ab') %}{% for i in range(100000) %}"
                        + "{% set ns.x = ns.x.replace('', 'abcdefgh') %}{% endfor %}",
                "{% set ns = namespace(x=[1, 2], y=[1, 2]) %}{% for i in range(60) %}"
                        + "{% set ns.x = [ns.x, ns.x] %}{% set ns.y = [ns.y, ns.y] %}{% endfor %}"
                        + "{{ ns.x == ns.y }}",
                "{{ 'a'.ljust(100000000000) }}",
                "{% for i in range(100000) %}{{ 'abc'.center(100000) }}{% endfor %}",
                "{{ range(100000) | map('string') | join('x' * 10000) }}"
            })
    void no_template_runs_for_ever_or_eats_memory(String source) {
        TemplateException e = assertThrows(TemplateException.class, () -> render(source, Map.of()));
        assertEquals(Kind.BUDGET, e.kind(), e.getMessage());
    }

    @Test
    void large_powers_are_refused() {
        TemplateException e =
                assertThrows(TemplateException.class, () -> render("{{ 9 ** 9999999 }}", Map.of()));
        assertEquals(Kind.UNSUPPORTED, e.kind());
    }

    /** Threads of the gateway have small stacks; the deepest that is allowed must fit. */
    @Test
    void the_deepest_template_fits_into_half_a_megabyte_of_stack() throws InterruptedException {
        String deep =
                "{% macro f(n) %}{% if n %}{% for i in [n] %}{% if true %}{% set x %}"
                        + "{{ '(' ~ ((([f(n - 1)])[0]) | trim) ~ ')' }}"
                        + "{% endset %}{{ x }}{% endif %}{% endfor %}{% endif %}{% endmacro %}"
                        + "{{ f(60) | length }}"
                        + "{{ "
                        + "(".repeat(50)
                        + "1"
                        + ")".repeat(50)
                        + " }}";
        AtomicReference<Object> result = new AtomicReference<>("nothing");
        Thread small =
                new Thread(
                        null,
                        () -> {
                            try {
                                result.set(render(deep, Map.of()));
                            } catch (RuntimeException | StackOverflowError e) {
                                result.set(e);
                            }
                        },
                        "small stack",
                        512 * 1024);
        small.start();
        small.join();
        assertEquals("1201", result.get());
    }

    @Test
    void the_clock_is_the_one_that_was_handed_in() {
        String source = "{{ strftime_now('%d %b %Y') }}";
        assertEquals("31 Dec 2026", render(source, Map.of()));
        Clock east = NOON.withZone(ZoneId.of("Asia/Tokyo"));
        assertEquals(
                "01 Jan 2027",
                Template.compile(source).render(Map.of(), RenderLimits.DEFAULT, east));
    }

    /** Found by the fuzz: a limited split leaves the blanks at the far end alone. */
    @Test
    void what_a_limited_split_does_not_reach_keeps_its_blanks() {
        assertEquals(
                "['a', 'b  c ']|[' a  b', 'c']",
                render(
                        "{{ ' a b  c '.split(none, 1) }}|{{ ' a  b c '.rsplit(none, 1) }}",
                        Map.of()));
    }

    /** Found by looking at every character: a letter of title case is its own title. */
    @Test
    void letters_of_title_case_stay() {
        assertEquals(
                "\u1f88|Fi|Ss",
                render(
                        "{{ x.title() }}|{{ 'ﬁ'.title() }}|{{ 'ß'.title() }}",
                        Map.of("x", "\u1f88")));
    }

    @Test
    void a_variable_that_is_not_there_is_not_none() {
        assertEquals(
                "|False|True", render("{{ x }}|{{ x is none }}|{{ x is undefined }}", Map.of()));
    }

    @Test
    void deep_inputs_are_refused_and_not_overflowing() {
        Object value = List.of();
        for (int i = 0; i < 10_000; i++) {
            value = List.of(value);
        }
        Object deep = value;
        TemplateException e =
                assertThrows(TemplateException.class, () -> render("{{ x }}", Map.of("x", deep)));
        assertEquals("an input is nested over 200 levels", e.getMessage());
    }
}
