package io.warmpath.fleet.probe;

import io.warmpath.fleet.probe.WorkerProbe.Health;
import io.warmpath.fleet.probe.WorkerProbe.Verdict;
import java.util.regex.Pattern;

/** What an answer to a health check means. Pure. */
public final class HealthAnswers {
    private static final Pattern DRAINING =
            Pattern.compile("\\bdrain(?:ing|ed)\\b", Pattern.CASE_INSENSITIVE);

    private static final int LONGEST_BODY = 4096;

    private HealthAnswers() {}

    /** By the status; and by the body, where an engine or what is before it says it drains. */
    public static Health read(String path, EngineHttp.Answer answer) {
        String text = "GET " + path + " answered " + answer.status();
        if (answer.ok()) {
            return saysDraining(answer.body())
                    ? new Health(Verdict.DRAINING, "it says that it is draining")
                    : new Health(Verdict.OK, "");
        }
        if (answer.status() != 503) {
            return new Health(Verdict.FAILING, text);
        }
        return saysDraining(answer.body())
                ? new Health(Verdict.DRAINING, text + ", draining")
                : new Health(Verdict.UNAVAILABLE, text);
    }

    /** As {@code {"status": "draining"}}, in whatever form. */
    private static boolean saysDraining(String body) {
        return body.length() < LONGEST_BODY && DRAINING.matcher(body).find();
    }
}
