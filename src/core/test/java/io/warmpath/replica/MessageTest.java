package io.warmpath.replica;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertThrows;

import io.warmpath.load.Booked;
import io.warmpath.load.LoadBook;
import io.warmpath.load.LoadOptions;
import io.warmpath.load.LoadTracker;
import io.warmpath.load.PromptBlocks;
import io.warmpath.prefix.WorkerSlot;
import io.warmpath.session.SessionName;
import java.io.IOException;
import java.io.InputStream;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HexFormat;
import java.util.List;
import java.util.Properties;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;

/**
 * The bytes between gateways are those of the vectors, which src/docs/how-to/replicas.md explains.
 */
class MessageTest {
    private static final Properties VECTORS = new Properties();

    private final MessageWriter out = new MessageWriter(1 << 10);

    @BeforeAll
    static void load() throws IOException {
        try (InputStream in = MessageTest.class.getResourceAsStream("/replica/messages.txt")) {
            assertNotNull(in);
            VECTORS.load(in);
        }
    }

    private byte[] sealed() {
        out.seal(0x1122334455667788L, 0x0102030405060708L, 5);
        return Arrays.copyOf(out.bytes(), out.length());
    }

    private static byte[] vector(String name) {
        return HexFormat.of().parseHex(VECTORS.getProperty(name).replace(" ", ""));
    }

    private void is(String name) {
        assertEquals(
                HexFormat.of().formatHex(vector(name)), HexFormat.of().formatHex(sealed()), name);
    }

    private static AnnouncedBooking told() {
        List<Booked> changed = new ArrayList<>();
        LoadTracker load =
                new LoadTracker(
                        () -> 0,
                        new LoadOptions(java.time.Duration.ofMinutes(1), true, true, true),
                        0,
                        changed::add);
        LoadBook.Booking booking =
                load.book(
                        new WorkerSlot(3),
                        20,
                        new PromptBlocks(16, 40, new long[] {0xa1, 0xb2}, true),
                        100);
        booking.firstToken();
        booking.progress(25, 0.75);
        return new AnnouncedBooking(
                changed.getFirst(),
                new Ranks.Place(new PeerRank(0xfedcba9876543210L, 2), new WorkerSlot(3), 7),
                9);
    }

    private static List<String> read(String name) throws MessageReader.Malformed {
        List<String> seen = new ArrayList<>();
        MessageReader.Changes to =
                new MessageReader.Changes() {
                    @Override
                    public void add(Heard h) {
                        seen.add(
                                "add "
                                        + h.number
                                        + " "
                                        + Long.toHexString(h.rank.worker())
                                        + "/"
                                        + h.rank.dpRank()
                                        + "."
                                        + h.incarnation
                                        + " "
                                        + h.prefillTokens
                                        + " of "
                                        + h.prompt.tokens()
                                        + " by "
                                        + h.prompt.blockSize()
                                        + " "
                                        + Arrays.toString(h.prompt.chain())
                                        + (h.prompt.shared() ? " shared" : "")
                                        + (h.prefilled ? " prefilled " : " ")
                                        + h.outputTokens
                                        + " of "
                                        + h.expectedOutput
                                        + " at "
                                        + h.weight);
                    }

                    @Override
                    public void prefilled(long number) {
                        seen.add("prefilled " + number);
                    }

                    @Override
                    public void free(long number) {
                        seen.add("free " + number);
                    }

                    @Override
                    public void grown(long number, int outputTokens, int weight) {
                        seen.add("grown " + number + " " + outputTokens + " " + weight);
                    }
                };
        MessageReader in = new MessageReader(vector(name));
        assertEquals(0x1122334455667788L, in.router());
        assertEquals(0x0102030405060708L, in.epoch());
        assertEquals(5, in.sequence());
        if (in.kind() == Wire.STATE) {
            seen.add("flags " + in.stateFlags());
            in.state(to);
        } else {
            in.changes(to);
        }
        return seen;
    }

    @Test
    void changes() throws Exception {
        out.begin(Wire.CHANGES);
        out.add(told());
        out.prefilled(10);
        out.free(11);
        out.grown(12, 99, 1 << 15);
        is("changes");
        assertEquals(
                List.of(
                        "add 9 fedcba9876543210/2.7 20 of 40 by 16 [161, 178] shared prefilled 25 of"
                                + " 100 at 49152",
                        "prefilled 10",
                        "free 11",
                        "grown 12 99 32768"),
                read("changes"));
    }

    @Test
    void state() throws Exception {
        out.begin(Wire.STATE);
        out.stateFlags(0);
        out.add(told());
        out.stateFlags(Wire.FLAG_FIRST | Wire.FLAG_LAST);
        is("state");
        assertEquals(2, read("state").size());
        assertEquals("flags 3", read("state").getFirst());
    }

    @Test
    void heartbeat() throws Exception {
        out.begin(Wire.HEARTBEAT);
        out.heartbeat(2, Wire.digest(9, true) + Wire.digest(10, false), "gw-1");
        out.heard(0x99, 0x77, 1234);
        out.heard(0x98, 0x76, 5);
        is("heartbeat");
        assertEquals(
                new MessageReader.Heartbeat(
                        2, Wire.digest(9, true) + Wire.digest(10, false), "gw-1", 1234),
                new MessageReader(vector("heartbeat")).heartbeat(0x99, 0x77));
        assertEquals(
                0, new MessageReader(vector("heartbeat")).heartbeat(0x99, 0x76).heard(), "epochs");
    }

    @Test
    void ask_and_leave() throws Exception {
        out.begin(Wire.ASK);
        out.ask(0x99, 0x77);
        is("ask");
        assertEquals(new MessageReader.Ask(0x99, 0x77), new MessageReader(vector("ask")).ask());
        out.begin(Wire.LEAVE);
        is("leave");
    }

    @Test
    void a_prompt_longer_than_a_message_is_named_as_far_as_it_fits() {
        PromptBlocks prompt = new PromptBlocks(1, 1 << 20, new long[1 << 20], true);
        assertEquals((1024 - Wire.HEADER - 1 - Wire.ADD_BYTES) / 8, out.names(prompt));
        assertEquals(Wire.MAX_NAMES, new MessageWriter(1 << 20).names(prompt));
    }

    @Test
    void sessions() throws Exception {
        SessionName one = new SessionName(0xa1a2a3a4a5a6a7a8L, 0xb1b2b3b4b5b6b7b8L);
        out.begin(Wire.SESSIONS);
        out.session(new SessionViews.News(one, Wire.SESSION_BOUND, 0xfedcba9876543210L, 2));
        out.session(new SessionViews.News(new SessionName(1, 2), Wire.SESSION_MOVED, 3, 0));
        out.session(new SessionViews.News(one, Wire.SESSION_ENDED, 0, 0));
        is("sessions");
        List<String> seen = new ArrayList<>();
        new MessageReader(vector("sessions"))
                .sessions(
                        (what, name, worker, rank) ->
                                seen.add(what + " " + name + " " + worker + " " + rank));
        assertEquals(
                List.of(
                        "1 " + one + " " + 0xfedcba9876543210L + " 2",
                        "2 " + new SessionName(1, 2) + " 3 0",
                        "3 " + one + " 0 0"),
                seen);
        byte[] cut = Arrays.copyOf(vector("sessions"), 60);
        assertThrows(
                MessageReader.Malformed.class,
                () -> new MessageReader(cut).sessions((what, name, worker, rank) -> {}));
        byte[] wrong = vector("sessions");
        wrong[32] = 9;
        assertThrows(
                MessageReader.Malformed.class,
                () -> new MessageReader(wrong).sessions((what, name, worker, rank) -> {}));
    }
}
