package io.warmpath.capture;

import io.warmpath.adapter.zmq.EventMessages;
import io.warmpath.adapter.zmq.KvEventDecoder;
import io.warmpath.capture.Conversation.Exchange;
import io.warmpath.events.BatchDecoder;
import io.warmpath.events.EventCounters;
import io.warmpath.events.EventSource;
import io.warmpath.events.MalformedBatchException;
import io.warmpath.events.SourceSession;
import io.warmpath.prefix.Bigrams;
import io.warmpath.prefix.PrefixIndex;
import io.warmpath.prefix.PrefixMatch;
import io.warmpath.prefix.PrefixQuery;
import io.warmpath.prefix.Tier;
import io.warmpath.prefix.WorkerSlot;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.OptionalLong;
import org.jspecify.annotations.Nullable;

/**
 * Replays a capture in time order through the product's own decoder, session, applier and index,
 * and asks the index before each request what the engine then said. One thread, one capture per
 * instance. The clock is that of the recording.
 */
public final class CaptureReplay {
    private static final SourceSession.Timing NEVER =
            new SourceSession.Timing(Long.MAX_VALUE / 4, Long.MAX_VALUE / 4, Long.MAX_VALUE / 4);

    private final Capture capture;
    private final PrefixIndex index;
    private final EventCounters counters = new EventCounters();
    private final BatchDecoder decoder = new KvEventDecoder();
    private final Profile profile;
    private final History history;
    private final BlockTrace trace;
    private final List<WorkerSlot> slots = new ArrayList<>();
    private final List<SourceSession> sessions = new ArrayList<>();
    private final List<History.Link> links = new ArrayList<>();

    /** Per request id: cumulative depths by rank and tier when it began. */
    private final Map<String, int[][]> depths = new HashMap<>();

    /** Per request id: what is reported of several prompts or answers. */
    private final Map<String, SeveralReport> several = new HashMap<>();

    private double now;

    private CaptureReplay(Capture capture, PrefixIndex index) {
        this.capture = capture;
        this.index = index;
        this.profile = Profile.of(capture.kind());
        this.history = new History(capture);
        this.trace = new BlockTrace(capture.blockSize());
    }

    /** The report, and what the write path counted on the way. */
    public record Outcome(CaptureReport report, EventCounters counters) {}

    /**
     * @param index empty; is filled but not closed
     * @throws CaptureException when the file is missing or not a capture
     */
    public static Outcome run(Path file, PrefixIndex index) throws CaptureException {
        CaptureReplay replay = new CaptureReplay(CaptureReader.read(file), index);
        return new Outcome(replay.run(), replay.counters);
    }

    private CaptureReport run() {
        openSources();
        for (Capture.Line line : capture.lines()) {
            now = line.time();
            switch (line) {
                case Capture.Event e -> event(e);
                case Capture.Request r -> ask(r);
                case Capture.Response r -> {}
                case Capture.History h -> {}
            }
        }
        Conversation conversation = new Conversation(capture);
        Causes causes = new Causes(conversation, trace, profile, capture.blockSize());
        List<CaptureRow> rows = new ArrayList<>();
        for (Exchange e : conversation.exchanges()) {
            rows.add(row(e, conversation, causes));
        }
        return new CaptureReport(capture.name(), capture.engine(), rows);
    }

    private void openSources() {
        int sources =
                capture.lines().stream()
                                .mapToInt(
                                        l ->
                                                switch (l) {
                                                    case Capture.Event e -> e.source();
                                                    case Capture.History h -> h.source();
                                                    default -> 0;
                                                })
                                .max()
                                .orElse(0)
                        + 1;
        for (int i = 0; i < sources; i++) {
            slots.add(index.open(0));
        }
        for (int i = 0; i < sources; i++) {
            EventSource source =
                    new EventSource(
                            capture.name(),
                            i,
                            slots,
                            "capture",
                            false,
                            null,
                            "",
                            capture.blockSize());
            History.Link link = new History.Link();
            links.add(link);
            sessions.add(
                    new SourceSession(
                            source,
                            index,
                            decoder,
                            counters,
                            history.has(i) ? link : null,
                            (trust, why) -> {},
                            NEVER,
                            () -> (long) (now * 1e9)));
        }
        for (int i = 0; i < sources; i++) {
            sessions.get(i).start();
            answerReplays(i);
        }
    }

    private void answerReplays(int source) {
        for (OptionalLong from = links.get(source).take();
                from.isPresent();
                from = links.get(source).take()) {
            history.answer(source, from.getAsLong(), sessions.get(source));
        }
    }

    private void event(Capture.Event e) {
        Optional<EventMessages.Message> message = EventMessages.live(e.frames());
        if (message.isEmpty()) {
            counters.badFrame();
            return;
        }
        EventMessages.Message m = message.get();
        history.published(e.source(), m.sequence());
        sessions.get(e.source()).live(m.sequence(), m.payload());
        answerReplays(e.source());
        try {
            trace.add(e.time(), e.source(), decoder.decode(m.payload()));
        } catch (MalformedBatchException broken) {
            // The session has met and counted the same bytes; here they only explain nothing.
            return;
        }
    }

    private void ask(Capture.Request r) {
        if (r.several() != null) {
            // On the first rank: of several ranks each prompt would have its own.
            several.put(
                    r.id(),
                    SeveralReport.of(capture, r.several(), slots.getFirst(), this::match, r));
            return;
        }
        int[] prompt = r.prompt();
        if (prompt == null) {
            return;
        }
        PrefixMatch match = match(r, prompt);
        int[][] byRank = new int[slots.size()][Tier.COUNT];
        for (int rank = 0; rank < byRank.length; rank++) {
            for (Tier tier : Tier.values()) {
                byRank[rank][tier.number()] = match.depth(slots.get(rank), tier);
            }
        }
        depths.put(r.id(), byRank);
    }

    private PrefixMatch match(Capture.Request r, int[] prompt) {
        int size = capture.blockSize();
        return index.match(
                capture.bigrams()
                        ? Bigrams.lookUp(prompt, prompt.length, size, profile.space(r))
                        : new PrefixQuery(prompt, prompt.length, size, profile.space(r)));
    }

    private CaptureRow row(Exchange e, Conversation conversation, Causes causes) {
        Capture.Request request = e.request();
        SeveralReport report = several.get(request.id());
        if (report != null) {
            return report.row(e).orElseGet(() -> skipped(e, report.why()));
        }
        int[] prompt = request.prompt();
        Capture.Response response = e.response();
        int[][] byRank = depths.get(request.id());
        if (response == null || response.status() != 200) {
            return skipped(e, "not answered with 200");
        }
        if (prompt == null || byRank == null) {
            return skipped(e, "the recording has no token ids");
        }
        if (response.completionTokens().orElse(0) == 0) {
            return skipped(e, "the engine did not run it");
        }
        if (response.cached().isEmpty() && !conversation.besides(e).isEmpty()) {
            return skipped(e, "no cached tokens reported, and others were running");
        }
        boolean derived = response.cached().isEmpty();
        int reported = response.cached().orElseGet(() -> prompt.length - uncached(e, prompt));
        int rank = rank(e, prompt);
        int compared = rank >= 0 ? rank : bestRank(byRank, prompt.length, reported);
        int[] tiers = new int[Tier.COUNT];
        for (int t = 0; t < tiers.length; t++) {
            tiers[t] =
                    profile.cachedTokens(byRank[compared][t], prompt.length, capture.blockSize());
        }
        int predicted = tiers[Tier.COUNT - 1];
        return new CaptureRow(
                request.id(),
                request.step(),
                rank,
                prompt.length,
                predicted,
                tiers,
                reported,
                derived,
                tiersAgree(response, tiers),
                predicted == reported ? null : causes.of(e, prompt, rank, predicted, reported),
                Optional.empty());
    }

    private static CaptureRow skipped(Exchange e, String why) {
        int[] prompt = e.request().prompt();
        int n = prompt == null ? 0 : prompt.length;
        Capture.@Nullable Response r = e.response();
        return new CaptureRow(
                e.request().id(),
                e.request().step(),
                -1,
                r == null ? n : r.promptTokens().orElse(n),
                0,
                new int[Tier.COUNT],
                0,
                false,
                true,
                null,
                Optional.of(why));
    }

    /** Prompt tokens that the engine had to compute, by the blocks it stored for the request. */
    private int uncached(Exchange e, int[] prompt) {
        int blocks = prompt.length / capture.blockSize();
        int stored = 0;
        for (int i = 0; i < blocks; i++) {
            var block = trace.block(prompt, i);
            stored +=
                    trace.changes().stream()
                                    .anyMatch(
                                            c ->
                                                    c.came()
                                                            && c.time() >= e.request().time()
                                                            && c.time() < e.until()
                                                            && c.blocks().contains(block))
                            ? 1
                            : 0;
        }
        return prompt.length - (blocks - stored) * capture.blockSize();
    }

    /**
     * The rank that served the request: the one asked for, the only one, or the one that stored the
     * deepest block of the prompt while the request ran; -1 when nothing tells.
     */
    private int rank(Exchange e, int[] prompt) {
        OptionalInt asked = e.request().rank();
        if (asked.isPresent() || slots.size() == 1) {
            return asked.orElse(0);
        }
        for (int i = prompt.length / capture.blockSize() - 1; i >= 0; i--) {
            var block = trace.block(prompt, i);
            for (BlockTrace.Change c : trace.changes()) {
                if (c.came()
                        && c.time() >= e.request().time()
                        && c.time() < e.until()
                        && c.blocks().contains(block)) {
                    return c.rank();
                }
            }
        }
        return -1;
    }

    /** The rank whose prediction is the reported one, else the one with the longest prefix. */
    private int bestRank(int[][] byRank, int promptTokens, int reported) {
        int best = 0;
        for (int rank = 0; rank < byRank.length; rank++) {
            int cached = cached(byRank[rank], promptTokens);
            if (cached == reported) {
                return rank;
            }
            best = cached > cached(byRank[best], promptTokens) ? rank : best;
        }
        return best;
    }

    private int cached(int[] tiers, int promptTokens) {
        return profile.cachedTokens(tiers[Tier.COUNT - 1], promptTokens, capture.blockSize());
    }

    private static boolean tiersAgree(Capture.Response r, int[] tiers) {
        int device = tiers[Tier.GPU.number()];
        int host = tiers[Tier.HOST.number()] - device;
        return r.device().orElse(device) == device && r.host().orElse(host) == host;
    }
}
