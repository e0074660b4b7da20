package io.warmpath.capture;

import io.warmpath.capture.Conversation.Exchange;
import io.warmpath.fleet.EngineKind;
import io.warmpath.prefix.PrefixMatch;
import io.warmpath.prefix.Tier;
import io.warmpath.prefix.WorkerSlot;
import io.warmpath.routing.NotExact;
import io.warmpath.routing.ReportedCache;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import java.util.function.BiFunction;

/**
 * What an engine should report of a request with several prompts or answers, as the gateway
 * predicts it. Immutable.
 */
record SeveralReport(ReportedCache.Report report) {
    /**
     * @param slot of the rank that gets it
     * @param ask who holds how much of one prompt now
     */
    static SeveralReport of(
            Capture capture,
            Capture.Several several,
            WorkerSlot slot,
            BiFunction<Capture.Request, int[], PrefixMatch> ask,
            Capture.Request request) {
        int blockSize = capture.blockSize();
        List<ReportedCache.Prompt> prompts = new ArrayList<>();
        for (int[] ids : several.prompts()) {
            int common = 0;
            for (int[] earlier : several.prompts().subList(0, prompts.size())) {
                int same = Arrays.mismatch(ids, earlier);
                common = Math.max(common, (same < 0 ? ids.length : same) / blockSize);
            }
            int depth = ask.apply(request, ids).depth(slot, Tier.EXTERNAL);
            prompts.add(new ReportedCache.Prompt(ids.length, depth, common));
        }
        EngineKind kind =
                switch (capture.kind()) {
                    case "vllm" -> EngineKind.VLLM;
                    case "sglang" -> EngineKind.SGLANG;
                    default -> EngineKind.OPENAI;
                };
        return new SeveralReport(
                ReportedCache.of(kind, several.stream(), several.answers(), blockSize, prompts));
    }

    /** Why it cannot be compared. */
    String why() {
        NotExact why = report.reason();
        return why == null ? "not answered with 200 and a count" : why.words();
    }

    /** Empty: it cannot be compared. */
    Optional<CaptureRow> row(Exchange e) {
        Capture.Response response = e.response();
        if (report.reason() != null
                || response == null
                || response.status() != 200
                || response.cached().isEmpty()) {
            return Optional.empty();
        }
        int predicted = report.cachedTokens();
        int reported = response.cached().getAsInt();
        return Optional.of(
                new CaptureRow(
                        e.request().id(),
                        e.request().step(),
                        0,
                        response.promptTokens().orElse(0),
                        predicted,
                        new int[Tier.COUNT],
                        reported,
                        false,
                        true,
                        predicted == reported ? null : Cause.UNEXPLAINED,
                        Optional.empty()));
    }
}
