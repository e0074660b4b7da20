package io.warmpath.adapter.zmq;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.warmpath.events.EventCounters;
import io.warmpath.events.EventSource;
import io.warmpath.events.SourceSession;
import io.warmpath.prefix.MediaIds;
import io.warmpath.prefix.PrefixQuery;
import io.warmpath.prefix.PrefixSpace;
import io.warmpath.prefix.ReferencePrefixIndex;
import io.warmpath.prefix.Tier;
import io.warmpath.prefix.WorkerSlot;
import java.io.IOException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.Set;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.msgpack.core.MessageBufferPacker;
import org.msgpack.core.MessagePack;

/**
 * Salts, adapters and images may have one name. A model of vLLM's cache, which names blocks by
 * tokens and keys alone, says what a request finds there: the index never shows more.
 */
class SharedNamesTest {
    private static final int SIZE = 4;

    /** What stands in prompts in the place of images. */
    private static final int PLACEHOLDER = 9;

    private static final String TAGGED = "dynamo-cache-salt:";
    private static final List<String> EQUAL = List.of("a", "b", TAGGED + "a", TAGGED, " ");

    private record Image(String name, int start, int length) {
        boolean reaches(int block) {
            return start < (block + 1) * SIZE && start + length > block * SIZE;
        }
    }

    private record Request(String lora, String salt, int[] tokens, List<Image> images) {
        int blocks() {
            return tokens.length / SIZE;
        }

        PrefixQuery query() {
            int[] ids = tokens.clone();
            for (Image i : images) {
                MediaIds.of(i.name).put(ids, i.start, i.start, i.start + i.length);
            }
            return new PrefixQuery(ids, ids.length, SIZE, new PrefixSpace(lora, salt));
        }
    }

    /** What an engine mixes into a block beside its tokens; an image's key is a list. */
    private record Block(long parent, List<Integer> tokens, List<Object> keys) {}

    private final long seed = Long.getLong("warmpath.test.seed", System.nanoTime());
    private final Random random = new Random(seed);
    private final ReferencePrefixIndex index = new ReferencePrefixIndex();
    private final WorkerSlot slot = index.open(0);
    private SourceSession session = session();
    private long sequence;

    // The engine.
    private final Map<Block, Long> names = new HashMap<>();
    private final Set<Long> cached = new HashSet<>();
    private boolean placesOfImages;

    @AfterEach
    void close() {
        index.close();
    }

    @Test
    void one_name_for_all_never_shows_a_block_that_the_engine_does_not_have() throws Exception {
        int shown = 0;
        for (int round = 0; round < 400; round++) {
            begin(round % 2 == 0);
            for (int i = 0; i < 40; i++) {
                serve(request(EQUAL, EQUAL, EQUAL, true));
                evict();
                Request asked = request(EQUAL, EQUAL, EQUAL, true);
                int depth = depth(asked);
                shown += depth;
                assertTrue(depth <= found(asked), () -> asked + ", " + seed());
            }
        }
        assertTrue(shown > 1_000, "hardly anything was shown: " + shown);
    }

    /** Its control: where names differ all is shown that is there. */
    @Test
    void names_of_their_own_show_all_that_the_engine_has() throws Exception {
        List<String> loras = List.of("l", "m");
        List<String> salts = List.of("s", TAGGED + "s");
        for (int round = 0; round < 200; round++) {
            begin(true);
            for (int i = 0; i < 40; i++) {
                serve(request(loras, salts, List.of("p", "q"), false));
                evict();
                Request asked = request(loras, salts, List.of("p", "q"), false);
                assertEquals(found(asked), depth(asked), () -> asked + ", " + seed());
            }
        }
    }

    @Test
    void a_salt_named_as_the_adapter_is_a_salt() throws Exception {
        int[] prompt = {1, 2, 3, 4, 5, 6, 7, 8};
        serve(new Request("a", "a", prompt, List.of()));
        assertEquals(0, depth(new Request("a", "", prompt, List.of())));
        assertEquals(0, depth(new Request("", "a", prompt, List.of())));
        assertEquals(2, depth(new Request("a", "a", prompt, List.of())));
    }

    @Test
    void a_salt_that_looks_like_another_routers_is_what_it_is() throws Exception {
        int[] prompt = {1, 2, 3, 4};
        serve(new Request("", TAGGED + "a", prompt, List.of()));
        assertEquals(0, depth(new Request("", "a", prompt, List.of())));
        assertEquals(1, depth(new Request("", TAGGED + "a", prompt, List.of())));
    }

    /** The engine takes its first block for the adapter's, and goes on without the adapter. */
    @Test
    void the_next_block_of_a_salted_prompt_is_not_the_adapters() throws Exception {
        int[] prompt = {1, 2, 3, 4, 5, 6, 7, 8};
        serve(new Request("a", "", Arrays.copyOf(prompt, SIZE), List.of()));
        Request salted = new Request("", "a", prompt, List.of());
        assertEquals(1, found(salted), "as vLLM has it");
        serve(salted);
        assertEquals(1, depth(new Request("a", "", prompt, List.of())));
    }

    private String seed() {
        return "-Dwarmpath.test.seed=" + seed;
    }

    /** An empty engine of another process. */
    private void begin(boolean placesOfImages) {
        this.placesOfImages = placesOfImages;
        names.clear();
        cached.clear();
        session.anotherProcess();
        session = session();
        sequence = 0;
    }

    private SourceSession session() {
        return new SourceSession(
                new EventSource("w", 0, List.of(slot), "inproc://x", false, null, "", SIZE),
                index,
                new KvEventDecoder(),
                new EventCounters(),
                null,
                (before, now) -> {},
                new SourceSession.Timing(1, Long.MAX_VALUE / 4, Long.MAX_VALUE / 4),
                () -> 0);
    }

    /**
     * @param typed placeholders may stand in the text, where no image is
     */
    private Request request(
            List<String> loras, List<String> salts, List<String> pictures, boolean typed) {
        Random text = new Random(random.nextInt(2));
        int[] tokens = new int[SIZE * (1 + random.nextInt(4)) + random.nextInt(2)];
        for (int i = 0; i < tokens.length; i++) {
            tokens[i] = typed && text.nextInt(3) == 0 ? PLACEHOLDER : 1 + text.nextInt(2);
        }
        List<Image> images = new ArrayList<>();
        for (int at = random.nextInt(2 * SIZE); random.nextInt(3) == 0; ) {
            int which = random.nextInt(pictures.size());
            int length = 1 + which * 2;
            if (at + length > tokens.length) {
                break;
            }
            images.add(new Image(pictures.get(which), at, length));
            Arrays.fill(tokens, at, at + length, PLACEHOLDER);
            at += length + random.nextInt(2);
        }
        return new Request(some(loras), some(salts), tokens, images);
    }

    private String some(List<String> names) {
        return random.nextBoolean() ? "" : names.get(random.nextInt(names.size()));
    }

    private List<Object> keys(Request r, int block) {
        List<Object> keys = new ArrayList<>();
        if (!r.lora.isEmpty()) {
            keys.add(r.lora);
        }
        for (Image i : r.images) {
            if (i.reaches(block)) {
                keys.add(placesOfImages ? List.of(i.name, i.start - block * SIZE) : i.name);
            }
        }
        if (block == 0 && !r.salt.isEmpty()) {
            keys.add(r.salt);
        }
        return keys;
    }

    private List<Long> chain(Request r) {
        List<Long> chain = new ArrayList<>();
        long parent = 0;
        for (int b = 0; b < r.blocks(); b++) {
            List<Integer> tokens =
                    Arrays.stream(r.tokens, b * SIZE, (b + 1) * SIZE).boxed().toList();
            parent =
                    names.computeIfAbsent(
                            new Block(parent, tokens, keys(r, b)), k -> names.size() + 100L);
            chain.add(parent);
        }
        return chain;
    }

    /** Blocks that the engine finds of a request. */
    private int found(Request r) {
        int n = 0;
        for (long name : chain(r)) {
            if (!cached.contains(name)) {
                break;
            }
            n++;
        }
        return n;
    }

    private int depth(Request r) {
        return index.match(r.query()).depth(slot, Tier.GPU);
    }

    /** Computes what is not there, tells it in one event or in several. */
    private void serve(Request r) throws IOException {
        List<Long> chain = chain(r);
        for (int b = 0; b < chain.size(); ) {
            int end = b;
            while (end < chain.size()
                    && !cached.contains(chain.get(end))
                    && (end == b || random.nextInt(3) > 0)) {
                end++;
            }
            if (end > b) {
                store(r, chain, b, end);
                cached.addAll(chain.subList(b, end));
            }
            b = Math.max(end, b + 1);
        }
    }

    private void evict() throws IOException {
        if (random.nextInt(4) == 0 && !cached.isEmpty()) {
            List<Long> all = cached.stream().sorted().toList();
            long gone = all.get(random.nextInt(all.size()));
            cached.remove(gone);
            try (MessageBufferPacker out = batch()) {
                out.packArrayHeader(3).packString("BlockRemoved");
                out.packArrayHeader(1).packLong(gone).packString("GPU");
                say(out);
            }
        }
    }

    private void store(Request r, List<Long> chain, int from, int to) throws IOException {
        try (MessageBufferPacker out = batch()) {
            out.packArrayHeader(9).packString("BlockStored").packArrayHeader(to - from);
            for (long name : chain.subList(from, to)) {
                out.packLong(name);
            }
            if (from == 0) {
                out.packNil();
            } else {
                out.packLong(chain.get(from - 1));
            }
            out.packArrayHeader((to - from) * SIZE);
            for (int i = from * SIZE; i < to * SIZE; i++) {
                out.packInt(r.tokens[i]);
            }
            out.packInt(SIZE);
            if (r.lora.isEmpty()) {
                out.packNil().packString("GPU").packNil();
            } else {
                out.packInt(1).packString("GPU").packString(r.lora);
            }
            out.packArrayHeader(to - from);
            for (int b = from; b < to; b++) {
                keys(out, keys(r, b));
            }
            say(out);
        }
    }

    private static void keys(MessageBufferPacker out, List<Object> keys) throws IOException {
        if (keys.isEmpty()) {
            out.packNil();
            return;
        }
        out.packArrayHeader(keys.size());
        for (Object key : keys) {
            if (key instanceof List<?> image) {
                out.packArrayHeader(2).packString((String) image.get(0));
                out.packInt((Integer) image.get(1));
            } else {
                out.packString((String) key);
            }
        }
    }

    private static MessageBufferPacker batch() throws IOException {
        MessageBufferPacker out = MessagePack.newDefaultBufferPacker();
        out.packArrayHeader(3).packDouble(1.5).packArrayHeader(1);
        return out;
    }

    private void say(MessageBufferPacker out) throws IOException {
        out.packInt(0);
        session.live(sequence++, out.toByteArray());
    }
}
