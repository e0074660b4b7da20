package io.warmpath.sim.demo;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.warmpath.tokens.jinja.Template;
import io.warmpath.tokens.profile.EngineProfile;
import io.warmpath.tokens.profile.EnginePrompt;
import io.warmpath.tokens.profile.ModelFacts;
import io.warmpath.tokens.template.JinjaChatTemplate;
import io.warmpath.tokens.template.PromptInput;
import io.warmpath.tokens.template.PromptInput.Message;
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
    @Test
    void the_same_seed_gives_the_same_script() {
        List<DemoWorkload.Conversation> one = new DemoWorkload(6, 4, 2, 10, 3).conversations();
        assertEquals(one, new DemoWorkload(6, 4, 2, 10, 3).conversations());
        assertNotEquals(one, new DemoWorkload(6, 4, 2, 10, 4).conversations());
    }

    @Test
    void conversations_take_the_system_prompts_in_turn_and_have_all_their_turns() {
        DemoWorkload workload = new DemoWorkload(7, 3, 2, 10, 1);
        assertEquals(21, workload.turns());
        List<DemoWorkload.Conversation> all = workload.conversations();
        for (int c = 0; c < 7; c++) {
            assertEquals(all.get(c % 2).systemPrompt(), all.get(c).systemPrompt());
            assertEquals(3, all.get(c).turns().size());
        }
        assertNotEquals(all.get(0).systemPrompt(), all.get(1).systemPrompt());
    }

    /** The law of large numbers, with a seed: 4,000 gaps of an exponential distribution. */
    @Test
    void conversations_begin_by_chance_at_the_rate_that_was_asked_for() {
        List<DemoWorkload.Conversation> all = new DemoWorkload(4000, 2, 1, 20, 5).conversations();
        double last = seconds(all.getLast().at().getFirst());
        assertEquals(200, last, 10, "half of 8,000 turns / 20 a second");
        double mean = last / 4000;
        double squares = 0;
        double before = 0;
        for (DemoWorkload.Conversation c : all) {
            double at = seconds(c.at().getFirst());
            squares += (at - before - mean) * (at - before - mean);
            before = at;
            assertTrue(seconds(c.at().get(1)) >= at + 0.5, "time to read");
        }
        assertEquals(1, Math.sqrt(squares / 4000) / mean, 0.1, "as spread as long");
    }

    private static double seconds(Duration d) {
        return d.toNanos() / 1e9;
    }

    @Test
    void the_score_is_of_what_engines_reported() {
        List<Played> run = new ArrayList<>();
        for (int i = 1; i <= 20; i++) {
            run.add(played(0, "w0", 0, i, i == 7 ? 0 : i, Duration.ofMillis(i)));
        }
        StageScore score = StageScore.of(run);
        assertEquals(Duration.ofNanos(10_500_000), score.meanTtft());
        assertEquals(Duration.ofMillis(10), score.p50Ttft());
        assertEquals(Duration.ofMillis(19), score.p95Ttft());
        assertEquals((210 - 7) / 2000.0, score.hitRate());
    }

    @Test
    void a_prediction_that_was_not_made_is_not_right() {
        assertTrue(!played(0, "w0", 0, -1, 0, Duration.ZERO).asPredicted());
    }

    /** Of a prompt of 100 tokens. */
    private static Played played(
            int conversation,
            String worker,
            int sent,
            int predicted,
            int reported,
            Duration first) {
        return new Played(
                new DemoWorkload.Turn(conversation, 0, "?", 8),
                worker,
                100,
                0,
                0,
                0,
                predicted,
                reported,
                Duration.ofMillis(sent).toNanos(),
                first,
                first.plusMillis(10));
    }

    private static Predictions judge(Played other, Played odd, boolean roomy) {
        return Predictions.of(List.of(other, odd), conversation -> conversation % 2, roomy);
    }

    @Test
    void more_than_predicted_is_explained_by_an_equal_beginning_that_was_being_computed() {
        Duration slow = Duration.ofMillis(100);
        Played odd = played(2, "w0", 50, 0, 48, slow);
        assertEquals(List.of(odd), judge(played(0, "w0", 0, 0, 0, slow), odd, true).overtaken());
        for (Played no :
                List.of(
                        played(0, "w1", 0, 0, 0, slow), // another engine
                        played(1, "w0", 0, 0, 0, slow), // another beginning
                        played(0, "w0", 0, 48, 48, slow), // had it cached itself
                        played(0, "w0", 0, 0, 0, Duration.ofMillis(49)))) { // had ended
            assertEquals(List.of(odd), judge(no, odd, true).wrong(), no.toString());
        }
    }

    @Test
    void less_than_predicted_is_wrong_where_nothing_is_given_up() {
        Played odd = played(2, "w0", 50, 64, 48, Duration.ofMillis(100));
        Played other = played(1, "w0", 0, 0, 0, Duration.ofMillis(100));
        assertEquals(List.of(odd), judge(other, odd, true).wrong());
        assertEquals(List.of(odd), judge(other, odd, false).overtaken());
    }

    private static StageRun run(String name, int cached, int millis, int... turns) {
        List<Played> played = new ArrayList<>();
        for (int n = 0; n < turns.length; n++) {
            for (int t = 0; t < turns[n]; t++) {
                played.add(played(0, "w" + n, 0, cached, cached, Duration.ofMillis(millis)));
            }
        }
        return new StageRun(name, turns.length, played);
    }

    @ParameterizedTest
    @CsvSource({
        "48, 40, 100, 0",
        "44, 40, 100, b: 44.0 % of the prompts",
        "60, 40, 50, b: the first token came after 50 ms on average",
    })
    void a_gain_is_more_from_caches_and_sooner_tokens(
            int cached, int before, int millisBefore, String problem) {
        DemoVerdict verdict = new DemoVerdict(new DemoClock());
        verdict.gains(run("b", cached, 50, 10), run("a", before, millisBefore, 10));
        assertTrue(verdict.remark().isEmpty());
        if (problem.equals("0")) {
            assertEquals(List.of(), verdict.problems());
        } else {
            assertEquals(1, verdict.problems().size());
            assertTrue(verdict.problems().getFirst().startsWith(problem), problem);
        }
    }

    @Test
    void times_of_a_machine_that_is_choked_are_not_judged() throws InterruptedException {
        DemoClock pace = new DemoClock();
        pace.woken(Duration.ofMillis(7));
        DemoVerdict verdict = new DemoVerdict(pace);
        verdict.gains(run("b", 60, 90, 10), run("a", 40, 50, 10));
        assertEquals(List.of(), verdict.problems());
        assertTrue(verdict.remark().contains("woken 7.0 ms late"), verdict.remark());
    }

    @Test
    void an_idle_engine_and_a_wrong_prediction_are_problems() {
        DemoVerdict verdict = new DemoVerdict(new DemoClock());
        verdict.allEnginesWork(run("a", 1, 1, 5, 5, 5, 5));
        assertEquals(List.of(), verdict.problems());
        verdict.allEnginesWork(run("a", 1, 1, 10, 9, 0, 1));
        Played wrong = played(2, "w1", 0, 64, 48, Duration.ZERO);
        verdict.predicted(run("b", 1, 1, 1), new Predictions(9, List.of(), List.of(wrong)));
        verdict.predicted(run("c", 1, 1, 1), new Predictions(8, List.of(wrong, wrong), List.of()));
        assertEquals(
                List.of(
                        "a: engine w2 had 0 of 20 turns",
                        "a: engine w3 had 1 of 20 turns",
                        "b: chat 3, turn 1 on w1: predicted 64 cached tokens, the engine reported"
                                + " 48",
                        "c: only 8 of 10 predictions could be compared"),
                verdict.problems());
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
        AgentScore score = AgentScore.of("all", 2, turns, 2);
        assertEquals(Duration.ofMillis(20), score.later().score().p50Ttft());
        assertEquals(0.6, score.later().score().hitRate());
        assertEquals(List.of(Duration.ofMillis(900), Duration.ofMillis(30)), score.lead());
        assertEquals(Duration.ofMillis(500), score.others());
        assertEquals(3, score.later().turns().size());
        assertEquals(List.of(5, 0), score.all().byEngine());
    }

    private static AgentPlay.Turn agent(AgentPlay.Who who, int number, int cached, int millis) {
        Played played = played(0, "w0", 0, 0, cached, Duration.ofMillis(millis));
        return new AgentPlay.Turn(
                who,
                "a",
                new Played(
                        new DemoWorkload.Turn(0, number, "?", 8),
                        played.worker(),
                        played.promptTokens(),
                        0,
                        0,
                        0,
                        0,
                        cached,
                        0,
                        played.timeToFirstToken(),
                        played.took()));
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
        assertEquals(List.of(320, 700, 8), List.of(flags.gpuBlocks, flags.hostBlocks, flags.load));
        DemoFlags told = DemoFlags.parse("--load", "4", "--pool", "--host-blocks=500");
        assertEquals(List.of(320, 500, 4), List.of(told.gpuBlocks, told.hostBlocks, told.load));
    }
}
