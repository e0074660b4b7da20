package io.warmpath.sim.demo;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.warmpath.tokens.JinjaChatTemplate;
import io.warmpath.tokens.PromptInput;
import io.warmpath.tokens.PromptInput.Message;
import io.warmpath.tokens.jinja.Template;
import io.warmpath.tokens.profile.EngineProfile;
import io.warmpath.tokens.profile.EnginePrompt;
import io.warmpath.tokens.profile.ModelFacts;
import java.time.Clock;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** The demo's script and its arithmetic; the demo itself is played by {@code ./warmpath test}. */
class DemoPartsTest {
    private static final Workload.Turn TURN = new Workload.Turn(0, 0, "?", 8);

    @Test
    void the_same_seed_gives_the_same_script() {
        Workload one = new Workload(6, 4, 3);
        assertEquals(one.rounds(), new Workload(6, 4, 3).rounds());
        assertEquals(one.systemPrompt(), new Workload(6, 4, 3).systemPrompt());
        assertNotEquals(one.rounds(), new Workload(6, 4, 4).rounds());
    }

    @Test
    void every_conversation_has_one_turn_in_every_round() {
        List<List<Workload.Turn>> rounds = new Workload(7, 3, 1).rounds();
        assertEquals(3, rounds.size());
        for (int r = 0; r < rounds.size(); r++) {
            int number = r;
            assertTrue(rounds.get(r).stream().allMatch(t -> t.number() == number));
            assertEquals(
                    7,
                    rounds.get(r).stream()
                            .mapToInt(Workload.Turn::conversation)
                            .distinct()
                            .count());
        }
    }

    @Test
    void the_score_counts_what_was_reported_and_what_was_right() {
        List<Played> run = new ArrayList<>();
        for (int i = 1; i <= 20; i++) {
            run.add(new Played(TURN, "w", 100, 0, 0, i, i == 7 ? 0 : i, Duration.ofMillis(i)));
        }
        Score score = Score.of(run);
        assertEquals(Duration.ofNanos(10_500_000), score.meanTtft());
        assertEquals(Duration.ofMillis(19), score.p95Ttft());
        assertEquals((210 - 7) / 2000.0, score.hitRate());
        assertEquals(19, score.asPredicted());
        assertEquals(20, score.turns());
    }

    @Test
    void a_prediction_that_was_not_made_is_not_right() {
        assertTrue(!new Played(TURN, "w", 10, 0, 0, -1, 0, Duration.ZERO).asPredicted());
    }

    @Test
    void an_agents_script_has_a_sub_agent_between_any_two_turns_of_its_lead() {
        AgentScript script = new AgentScript(2, 4, 3, 1);
        assertEquals(2, script.teams().size());
        for (AgentScript.Team team : script.teams()) {
            assertEquals(4, team.lead().questions().size());
            assertEquals(3, team.subs().size());
            team.subs().forEach(sub -> assertEquals(3, sub.questions().size()));
        }
        assertEquals(script.teams(), new AgentScript(2, 4, 3, 1).teams());
        assertNotEquals(script.teams(), new AgentScript(2, 4, 3, 2).teams());
        assertEquals(script.background().size(), script.background().stream().distinct().count());
    }

    @Test
    void the_agents_score_is_that_of_their_later_turns() {
        List<AgentPlay.Turn> turns = new ArrayList<>();
        turns.add(agent(AgentPlay.Who.LEAD, 0, 0, 900));
        turns.add(agent(AgentPlay.Who.LEAD, 1, 80, 30));
        turns.add(agent(AgentPlay.Who.SUB, 1, 40, 10));
        turns.add(agent(AgentPlay.Who.SUB, 2, 60, 20));
        turns.add(agent(AgentPlay.Who.BACKGROUND, 7, 0, 500));
        AgentScore score = AgentScore.of(turns, 2);
        assertEquals(Duration.ofMillis(20), score.median());
        assertEquals(Duration.ofMillis(30), score.p90());
        assertEquals(0.6, score.cached());
        assertEquals(List.of(Duration.ofMillis(900), Duration.ofMillis(30)), score.lead());
        assertEquals(Duration.ofMillis(500), score.background());
        assertEquals(3, score.turns());
    }

    private static AgentPlay.Turn agent(AgentPlay.Who who, int number, int cached, int millis) {
        Workload.Turn turn = new Workload.Turn(0, number, "?", 8);
        return new AgentPlay.Turn(
                who, "a", new Played(turn, "w", 100, 0, 0, 0, cached, Duration.ofMillis(millis)));
    }

    @Test
    void each_run_of_the_agents_has_its_own_features_in_requests_gateway_and_engines() {
        List<Set<AgentFeature>> runs = AgentFeature.runs(false);
        assertEquals(AgentFeature.values().length + 2, runs.size());
        assertEquals(2, AgentFeature.runs(true).size());
        Set<AgentFeature> none = runs.getFirst();
        assertTrue(AgentFeature.turn(none, "a", true, 0, false).nvext().isEmpty());
        assertTrue(AgentFeature.gateway(none).isEmpty());
        Set<AgentFeature> all = runs.getLast();
        assertEquals(
                "{\"agent_hints\":{\"speculative_prefill\":true,\"priority\":10},"
                        + "\"session_control\":{\"session_id\":\"a\"}}",
                AgentFeature.turn(all, "a", false, 1, false).nvext().toString());
        assertEquals("open", action(AgentFeature.turn(all, "a", false, 0, false)));
        assertEquals("close", action(AgentFeature.turn(all, "a", false, 3, true)));
        assertEquals(
                "a",
                AgentFeature.turn(all, "a", false, 0, false).headers().get("X-Dynamo-Session-ID"));
        assertEquals(
                "5m",
                AgentFeature.turn(all, "a", true, 0, false)
                        .nvext()
                        .at("/cache_control/ttl")
                        .textValue());
        assertTrue(AgentFeature.engines(all).priorityEviction());
    }

    private static String action(GatewayClient.Extras said) {
        return said.nvext().at("/session_control/action").textValue();
    }

    /** Or nothing that the gateway predicts would be cached. */
    @Test
    void gateway_and_engines_write_the_agents_chats_alike() throws Exception {
        JinjaChatTemplate gateway =
                new JinjaChatTemplate(
                        Template.compile(AgentTemplate.JINJA),
                        null,
                        Map.of(),
                        ModelFacts.UNKNOWN,
                        Clock.systemUTC(),
                        null);
        JsonNode request =
                new ObjectMapper()
                        .readTree(
                                "{\"messages\":[{\"role\":\"system\",\"content\":\"Be kind.\"},"
                                        + "{\"role\":\"user\",\"content\":\"Hi\"},"
                                        + "{\"role\":\"assistant\",\"content\":\"Hello\"},"
                                        + "{\"role\":\"user\",\"content\":\"And?\"}]}");
        List<Message> messages =
                request.path("messages")
                        .valueStream()
                        .map(m -> new Message(m.path("role").asText(), m.path("content").asText()))
                        .toList();
        assertEquals(
                new EnginePrompt.Text(AgentTemplate.text(request)),
                gateway.render(new PromptInput.Chat(messages, true), EngineProfile.SGLANG));
    }

    @ParameterizedTest
    @CsvSource({
        "--nope, unknown flag --nope",
        "--port, --port needs a value",
        "--port 0, must be a number from 1 to 65535",
        "--engines x, must be a number",
        "--wire json, use one of sglang-array",
        "--pool --wire vllm-map, --pool needs one of SGLang's wire formats"
    })
    void a_wrong_flag_is_named(String line, String expected) {
        IllegalArgumentException e =
                assertThrows(
                        IllegalArgumentException.class, () -> DemoFlags.parse(line.split(" ", -1)));
        assertTrue(String.valueOf(e.getMessage()).contains(expected), e.getMessage());
    }

    @Test
    void with_a_pool_there_is_more_to_keep_than_engines_can_unless_told_otherwise() {
        DemoFlags flags = DemoFlags.parse("--pool");
        assertEquals(List.of(18, 600), List.of(flags.conversations, flags.hostBlocks));
        DemoFlags told = DemoFlags.parse("--conversations", "4", "--pool", "--host-blocks=500");
        assertEquals(List.of(4, 500), List.of(told.conversations, told.hostBlocks));
    }
}
