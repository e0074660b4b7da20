package io.warmpath.bench;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.warmpath.adapter.nats.NatsServer;
import java.util.Collection;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.openjdk.jmh.results.RunResult;
import org.openjdk.jmh.runner.Runner;
import org.openjdk.jmh.runner.RunnerException;
import org.openjdk.jmh.runner.options.Options;
import org.openjdk.jmh.runner.options.OptionsBuilder;
import org.openjdk.jmh.runner.options.TimeValue;
import org.openjdk.jmh.runner.options.VerboseMode;

/** Runs each benchmark for a moment: they build, run and return; the figures mean nothing here. */
@Tag("slow")
class BenchSmokeTest {
    @ParameterizedTest
    @CsvSource({
        "MatchBench, 4",
        "PromptBench, 2",
        "PagesBench, 6",
        "DecideBench, 24",
        "KeptDecisionBench, 6",
        "LoadBench, 6",
        "KeyBench, 2",
        "ReplicaBench, 3",
        "TokensBench, 27",
        "LargeBodyBench, 5",
        "AnswerBench, 2",
        "TemplateBench, 4",
        "EventBench, 4",
        "RequestBench, 12",
        "HeadBench, 3",
        "EngineFieldsBench, 2",
        "UsageBench, 1"
    })
    void every_benchmark_runs(String name, int runs) throws RunnerException {
        runs(name, runs);
    }

    @Test
    void the_benchmark_of_the_stream_runs_where_its_server_is() throws RunnerException {
        assumeTrue(NatsServer.installed(), "SKIPPED: no nats-server; ./warmpath test installs it");
        runs("NatsBench", 2);
    }

    private static void runs(String name, int runs) throws RunnerException {
        Options options =
                new OptionsBuilder()
                        .include("\\." + name + "\\.")
                        .forks(0)
                        .warmupIterations(0)
                        .measurementIterations(1)
                        .measurementTime(TimeValue.milliseconds(20))
                        .shouldFailOnError(true)
                        .verbosity(VerboseMode.SILENT)
                        .build();
        Collection<RunResult> results = new Runner(options).run();
        assertEquals(runs, results.size());
        for (RunResult result : results) {
            assertTrue(result.getPrimaryResult().getScore() > 0, result.toString());
        }
    }
}
