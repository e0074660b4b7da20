package io.warmpath.gateway.migration;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;

import io.warmpath.fleet.EngineKind;
import io.warmpath.tokens.template.Continuation;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Who goes on exactly where a stream's text ends. */
class ContinuationPointTest {
    @ParameterizedTest
    @ValueSource(strings = {"Once upon", "Once upon\n", "\n\nOnce", " Once ", "\n"})
    void sglang_puts_any_text_behind_its_own_prompt(String said) {
        for (Continuation onVllm : Continuation.values()) {
            assertNull(new ContinuationPoint(true, said, onVllm).whyNot(EngineKind.SGLANG));
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"Once upon", "Once upon\n", "\n\nOnce", " Once ", "\n"})
    void vllm_goes_on_with_what_its_template_prints_as_it_is(String said) {
        assertNull(new ContinuationPoint(true, said, Continuation.EXACT).whyNot(EngineKind.VLLM));
        assertEquals(
                WhyNot.TEMPLATE,
                new ContinuationPoint(true, said, Continuation.CHANGED).whyNot(EngineKind.VLLM));
    }

    @ParameterizedTest
    @ValueSource(strings = {"Once\n", " Once", "\n", "Once\u3000"})
    void of_a_template_that_is_not_known_white_space_is_feared(String said) {
        assertEquals(
                WhyNot.WHITE_SPACE,
                new ContinuationPoint(true, said, Continuation.UNKNOWN).whyNot(EngineKind.VLLM));
    }

    @Test
    void of_a_template_that_is_not_known_nothing_else_is() {
        assertNull(
                new ContinuationPoint(true, "Once\nupon", Continuation.UNKNOWN)
                        .whyNot(EngineKind.VLLM));
    }

    @ParameterizedTest
    @EnumSource(Continuation.class)
    void no_template_has_a_say_in_completions_and_where_nothing_was_said(Continuation onVllm) {
        assertNull(new ContinuationPoint(false, "Once\n", onVllm).whyNot(EngineKind.VLLM));
        assertNull(new ContinuationPoint(true, "", onVllm).whyNot(EngineKind.VLLM));
    }

    @Test
    void engines_of_unknown_kind_may_not_know_how() {
        assertEquals(
                WhyNot.ENGINE_KIND,
                new ContinuationPoint(true, "Once", Continuation.EXACT).whyNot(EngineKind.OPENAI));
    }
}
