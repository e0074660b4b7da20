package io.warmpath.admission;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import org.junit.jupiter.api.Test;
import org.yaml.snakeyaml.Yaml;

class PolicyFileTest {
    private static final String GOOD =
            """
            default_policy_family: chat
            uncached_isl_buckets:
              - {min_tokens: 0, bucket: short}
              - {min_tokens: 4096, bucket: long}
            policy_classes:
              - name: chat-short
                policy_family: chat
                cache_bucket: short
                queue_policy: wspt
                quantum: 16384
                prefill_busy_threshold_frac: 0.5
                request_queue_limit_per_worker: 32
              - {name: chat-long, policy_family: chat, cache_bucket: long, prefill_busy_threshold: 100}
              - {name: batch, raw_isl_token_queue_limit_per_worker: 1000000}
            models:
              other:
                policy_classes:
                  - {name: all, prefill_busy_threshold_frac: 1}
            """;

    private static PolicyFile.Content read(String yaml) {
        return PolicyFile.read(new Yaml().<Object>load(yaml));
    }

    @Test
    void classes_are_chosen_by_family_and_tokens_to_compute() {
        Policies p = read(GOOD).policies();
        assertEquals(0, p.classOf("chat", 0));
        assertEquals(0, p.classOf("chat", 4095));
        assertEquals(1, p.classOf("chat", 4096));
        assertEquals(2, p.classOf("batch", 10_000));
        assertEquals(1, p.classOf("", 10_000));
        assertEquals(0, p.classOf("unheard-of", 1));
        PolicyClass first = p.classes().getFirst();
        assertEquals(QueuePolicy.WSPT, first.policy());
        assertEquals(new PolicyClass.Threshold(0.5, true), first.threshold());
        assertEquals(32, first.requestLimit());
        assertEquals(PolicyClass.NO_LIMIT, first.rawTokenLimit());
        assertEquals(PolicyClass.Threshold.NEVER, p.classes().get(2).threshold());
    }

    @Test
    void a_models_own_profile_takes_the_place_of_the_common_one() {
        PolicyFile.Content content = read(GOOD);
        assertEquals("all", content.perModel().get("other").classes().getFirst().name());
        assertNull(read("models: {m: {policy_classes: [{name: a}]}}").policies());
    }

    @Test
    void what_is_wrong_is_named_with_its_place() {
        wrong("polcy_classes: []", "polcy_classes is not a known key");
        wrong("policy_classes: [{name: a, quantun: 3}]", "policy_classes[0]: quantun");
        wrong("policy_classes: [{name: a, quantum: 0}]", "policy_classes[0].quantum");
        wrong("policy_classes: [{quantum: 1}]", "policy_classes[0].name is missing");
        wrong("policy_classes: [{name: a, queue_policy: lifo}]", "fcfs or wspt");
        wrong("policy_classes: [{name: a}, {name: a}]", "two policy classes are named a");
        wrong("policy_classes: []", "at least one class");
        wrong("", "the file must be");
        wrong("{default_policy_family: x, policy_classes: [{name: a}]}", "x has no class");
        wrong("policy_classes: [{name: a, cache_bucket: b}]", "cache_bucket b is not among");
        wrong(
                "{uncached_isl_buckets: [{min_tokens: 1, bucket: b}], policy_classes: [{name: a}]}",
                "must begin with min_tokens 0");
        wrong(
                "{uncached_isl_buckets: [{bucket: s}, {min_tokens: 9, bucket: l}],"
                        + " policy_classes: [{name: a, cache_bucket: s}]}",
                "a has no class for bucket l");
        wrong(
                "policy_classes: [{name: a, prefill_busy_threshold: 1,"
                        + " prefill_busy_threshold_frac: 1}]",
                "not both");
        wrong("models: {m: {router: {}}}", "models.m: router");
    }

    private static void wrong(String yaml, String part) {
        IllegalArgumentException e =
                assertThrows(IllegalArgumentException.class, () -> read(yaml), yaml);
        assertTrue(e.getMessage().contains(part), e.getMessage());
    }
}
