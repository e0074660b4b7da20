package io.warmpath.capture;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.warmpath.adapter.nativeindex.NativePrefixIndex;
import io.warmpath.events.DropReason;
import io.warmpath.events.EventCounters;
import io.warmpath.prefix.PrefixIndex;
import io.warmpath.prefix.ReferencePrefixIndex;
import java.net.URISyntaxException;
import java.net.URL;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import java.util.stream.Stream;
import org.junit.jupiter.api.DynamicTest;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestFactory;

/**
 * What real engines reported, request by request, against what the index said before each request.
 *
 * <p>The counts are those of the recordings and exact: a request that moves from equal to
 * different, or from one cause to another, is a change of behaviour.
 */
class CaptureReplayTest {
    private record Expected(String file, int equal, int skipped, Map<Cause, Integer> causes) {}

    private static final List<Expected> CAPTURES =
            List.of(
                    new Expected("dynamo-mocker-1.3.1-b16", 35, 8, Map.of()),
                    new Expected("llmd-sim-array-b16", 36, 4, Map.of(Cause.CONCURRENT, 3)),
                    new Expected(
                            "sglang-0.5.23-hicache-p16",
                            43,
                            0,
                            Map.of(Cause.CONCURRENT, 3, Cause.EXTRA_KEY, 1)),
                    new Expected(
                            "sglang-0.5.23-mooncake-p64",
                            33,
                            1,
                            Map.of(Cause.CONCURRENT, 3, Cause.EXTRA_KEY, 1, Cause.POOL_HIT, 1)),
                    new Expected(
                            "sglang-0.5.23-p16",
                            42,
                            1,
                            Map.of(Cause.CONCURRENT, 3, Cause.EXTRA_KEY, 1)),
                    new Expected("sglang-0.5.23-lora-p16", 15, 0, Map.of()),
                    new Expected("sglang-0.5.23-bigrams-p16", 56, 0, Map.of()),
                    new Expected("sglang-0.5.23-pages-p64", 56, 0, Map.of()),
                    new Expected("sglang-0.5.23-radix-bigrams-p1", 300, 0, Map.of()),
                    new Expected("sglang-0.5.23-radix-bigrams-p4", 300, 0, Map.of()),
                    new Expected("sglang-0.5.23-several-p16", 29, 4, Map.of()),
                    new Expected("sglang-0.5.23-thinking-p16", 14, 0, Map.of()),
                    // Two chats, of whose image the engine alone knows the hash.
                    new Expected("sglang-0.5.23-media-p16", 10, 8, Map.of()),
                    new Expected("sglang-0.5.23-session-dp2-p16", 7, 0, Map.of()),
                    new Expected(
                            "vllm-0.32.0-cbor-b32",
                            39,
                            1,
                            Map.of(Cause.CONCURRENT, 3, Cause.EVENTS_PENDING, 1)),
                    new Expected("vllm-0.32.0-lora-b32", 15, 0, Map.of()),
                    new Expected("vllm-0.32.0-manager-mixed-b4", 50, 0, Map.of()),
                    new Expected("vllm-0.32.0-manager-states-b4", 80, 0, Map.of()),
                    new Expected("vllm-0.32.0-manager-wide-b4", 80, 0, Map.of()),
                    new Expected("vllm-0.32.0-manager-windows-b4", 80, 0, Map.of()),
                    // Of four requests the engine alone knows what it calls their images.
                    new Expected("vllm-0.32.0-media-b32", 20, 4, Map.of()),
                    new Expected("vllm-0.32.0-several-b32", 22, 11, Map.of()),
                    new Expected("vllm-0.32.0-thinking-b32", 14, 0, Map.of()),
                    new Expected("vllm-0.32.0-states-b32", 45, 0, Map.of()),
                    new Expected("vllm-0.32.0-windows-b32", 45, 0, Map.of()),
                    new Expected(
                            "vllm-0.32.0-dp2-bytes-b64",
                            30,
                            1,
                            Map.of(Cause.CONCURRENT, 2, Cause.EVENTS_PENDING, 1)));

    static Path file(String name) {
        URL url = CaptureReplayTest.class.getResource("/captures/" + name + ".jsonl");
        assertNotNull(url, name);
        try {
            return Path.of(url.toURI());
        } catch (URISyntaxException e) {
            throw new IllegalStateException(e);
        }
    }

    @TestFactory
    Stream<DynamicTest> predictions_equal_reports_with_the_reference_index() {
        return CAPTURES.stream()
                .map(
                        c ->
                                DynamicTest.dynamicTest(
                                        c.file, () -> check(c, new ReferencePrefixIndex())));
    }

    @TestFactory
    Stream<DynamicTest> predictions_equal_reports_with_the_native_index() {
        return CAPTURES.stream()
                .map(
                        c ->
                                DynamicTest.dynamicTest(
                                        c.file,
                                        () ->
                                                check(
                                                        c,
                                                        new NativePrefixIndex(
                                                                Optional.empty(),
                                                                NativePrefixIndex
                                                                        .DEFAULT_ORPHAN_LIMIT))));
    }

    private static void check(Expected want, PrefixIndex index) throws CaptureException {
        try (index) {
            CaptureReplay.Outcome outcome = CaptureReplay.run(file(want.file), index);
            CaptureReport report = outcome.report();
            String differences = differences(report);
            assertEquals(new TreeMap<>(want.causes), new TreeMap<>(report.causes()), differences);
            assertEquals(want.equal, report.equal(), differences);
            assertEquals(want.skipped, report.skipped(), differences);
            for (CaptureRow row : report.rows()) {
                assertTrue(row.tiersAgree() || !row.equal(), () -> "tiers of " + row);
            }
            nothingLost(outcome.counters());
        }
    }

    /** Every frame of a real engine is understood, in order and complete. */
    private static void nothingLost(EventCounters c) {
        assertEquals(0, c.badFrames(), "bad frames");
        assertEquals(0, c.rejectedBatches(), "rejected batches");
        assertEquals(0, c.badEvents(), "bad events");
        assertEquals(0, c.unknownTags(), "unknown tags");
        assertEquals(0, c.unknownFields(), "unknown fields");
        assertEquals(0, c.gaps(), "gaps");
        assertEquals(0, c.restarts(), "restarts");
        assertEquals(0, c.ignored(), "ignored");
        for (DropReason reason : DropReason.values()) {
            assertEquals(0, c.dropped(reason), reason.label());
        }
        assertTrue(c.storedBlocks() > 10, "stored blocks: " + c.storedBlocks());
    }

    private static String differences(CaptureReport report) {
        StringBuilder out = new StringBuilder(report.file());
        report.rows().stream()
                .filter(r -> r.comparable() && !r.equal())
                .forEach(r -> out.append('\n').append(r));
        return out.toString();
    }

    /**
     * SGLang tells its hits by tier; the rows that must show a host hit are named by what they try.
     */
    @Test
    void hits_in_host_memory_are_predicted_as_such() throws CaptureException {
        for (String name : List.of("sglang-0.5.23-hicache-p16", "sglang-0.5.23-mooncake-p64")) {
            try (PrefixIndex index = new ReferencePrefixIndex()) {
                CaptureRow row =
                        CaptureReplay.run(file(name), index).report().rows().stream()
                                .filter(r -> r.step().equals("first prompt again after the fill"))
                                .findFirst()
                                .orElseThrow();
                assertTrue(row.equal() && row.tiersAgree());
                assertEquals(0, row.tiers()[0], "nothing of it is left on the GPU");
                assertTrue(row.predicted() > 0);
            }
        }
    }

    /** The control: an index that never hears a removal must be found out. */
    @Test
    void an_index_that_forgets_removals_is_found_out() throws CaptureException {
        try (PrefixIndex index = new DeafIndex()) {
            CaptureReport report = CaptureReplay.run(file("vllm-0.32.0-cbor-b32"), index).report();
            assertTrue(report.equal() < 39, differences(report));
            assertTrue(report.causes().containsKey(Cause.UNEXPLAINED), differences(report));
        }
    }

    @Test
    void history_sent_before_the_recording_began_is_replayed_first() throws CaptureException {
        try (PrefixIndex index = new ReferencePrefixIndex()) {
            EventCounters counters = CaptureReplay.run(file("sglang-0.5.23-p16"), index).counters();
            assertEquals(2, counters.replayedBatches(), "the clear at start and the warm-up");
            assertEquals(2, counters.clearedEvents());
        }
    }
}
