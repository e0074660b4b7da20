package io.warmpath.routing.scenario;

import io.warmpath.prefix.PrefixEvent;
import io.warmpath.prefix.PrefixSpace;
import io.warmpath.prefix.Tier;
import io.warmpath.prefix.WorkerSlot;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Deque;
import java.util.List;
import java.util.function.Consumer;

/**
 * One engine: a loop of steps, in each of which every running request decodes one token and what is
 * left of the token budget goes to prompts in the order of their arrival. One thread.
 *
 * <p>A step takes {@code a0 + max(aw, sum(al n + q n (context + n / 2))) + b requests + c tokens
 * held}, divided by the speed; constants are those of an 8B model on one 80 GB device. A request is
 * admitted when its prompt and answer find room. Blocks can be used by others, and are told of, at
 * the end of the step that filled them. Answers' blocks stay as well.
 */
final class Engine {
    static final int KV_BLOCKS = 400_000 / Prompt.BLOCK;
    static final int BATCHED_TOKENS = 8192;
    private static final int MOST_RUNNING = 256;
    private static final double A0 = 1.5;
    private static final double AW = 6;
    private static final double B = 0.020;
    private static final double C = 52e-6;
    private static final double AL = 0.032;
    private static final double Q = 1.32e-6;

    private final VirtualTime time;
    private final WorkerSlot slot;
    private final double speed;
    private final Consumer<PrefixEvent> events;
    private final BlockCache cache = new BlockCache(KV_BLOCKS);
    private final Deque<Call> waiting = new ArrayDeque<>();
    private final List<Call> prefilling = new ArrayList<>();
    private final List<Call> decoding = new ArrayList<>();
    private boolean stepping;
    private boolean stuck;

    Engine(VirtualTime time, WorkerSlot slot, double speed, Consumer<PrefixEvent> events) {
        this.time = time;
        this.slot = slot;
        this.speed = speed;
        this.events = events;
    }

    /** From now on nothing moves; requests are still taken. */
    void stick() {
        stuck = true;
    }

    void submit(Prompt prompt, Client client) {
        waiting.add(new Call(prompt, client));
        step();
    }

    /** Blocks that no request has given back; 0 when idle. */
    int blocksInUse() {
        return cache.used();
    }

    /** Cached blocks. */
    int blocksHeld() {
        return cache.held();
    }

    private void step() {
        if (stepping || stuck) {
            return;
        }
        admit();
        if (prefilling.isEmpty() && decoding.isEmpty()) {
            return;
        }
        double held = 0;
        for (Call call : decoding) {
            held += call.done + call.answered;
        }
        int budget = BATCHED_TOKENS - decoding.size();
        double chunks = 0;
        for (Call call : prefilling) {
            call.chunk = Math.min(budget, call.prompt.prompt() - call.done);
            budget -= call.chunk;
            chunks += AL * call.chunk + Q * call.chunk * (call.done + call.chunk / 2.0);
        }
        stepping = true;
        double millis = A0 + Math.max(AW, chunks) + B * decoding.size() + C * held;
        time.after(millis / speed, this::endOfStep);
    }

    private void admit() {
        while (!waiting.isEmpty() && prefilling.size() + decoding.size() < MOST_RUNNING) {
            Call call = waiting.getFirst();
            Prompt p = call.prompt;
            int hits = cache.depth(p.chain(), p.reusable());
            int others = Math.ceilDiv(p.text().length, Prompt.BLOCK) - hits;
            List<Long> evicted = new ArrayList<>();
            if (!cache.take(p.chain(), hits, others, evicted)) {
                if (prefilling.isEmpty() && decoding.isEmpty()) {
                    throw new IllegalStateException("a request is larger than the cache");
                }
                return;
            }
            if (!evicted.isEmpty()) {
                long[] names = evicted.stream().mapToLong(Long::longValue).toArray();
                events.accept(new PrefixEvent.Removed(slot, Tier.GPU, names));
            }
            waiting.removeFirst();
            call.named = hits;
            call.done = hits * Prompt.BLOCK;
            call.cached = call.done;
            prefilling.add(call);
        }
    }

    private void endOfStep() {
        stepping = false;
        if (stuck) {
            return;
        }
        List<Call> first = new ArrayList<>();
        for (Call call : prefilling) {
            call.done += call.chunk;
            fill(call, call.done);
            if (call.done == call.prompt.prompt()) {
                first.add(call);
            }
        }
        List<Call> over = new ArrayList<>();
        for (Call call : decoding) {
            if (++call.answered == call.prompt.answer()) {
                over.add(call);
            }
        }
        prefilling.removeAll(first);
        decoding.removeAll(over);
        for (Call call : first) {
            call.answered = 1;
            call.client.firstToken(call.cached);
            (call.prompt.answer() == 1 ? over : decoding).add(call);
        }
        for (Call call : over) {
            fill(call, call.prompt.text().length);
            int all = Math.ceilDiv(call.prompt.text().length, Prompt.BLOCK);
            cache.release(call.prompt.chain(), call.named, all - call.named);
            call.client.ended(call.prompt.answer());
        }
        step();
    }

    /** Blocks up to this token are full. */
    private void fill(Call call, int tokens) {
        long[] chain = call.prompt.chain();
        int from = call.named;
        int to = tokens / Prompt.BLOCK;
        boolean isNew = false;
        for (; call.named < to; call.named++) {
            isNew |= cache.name(chain[call.named]);
        }
        if (isNew) {
            int[] text =
                    Arrays.copyOfRange(call.prompt.text(), from * Prompt.BLOCK, to * Prompt.BLOCK);
            events.accept(
                    new PrefixEvent.Stored(
                            slot,
                            Tier.GPU,
                            from > 0,
                            from > 0 ? chain[from - 1] : 0,
                            Arrays.copyOfRange(chain, from, to),
                            text,
                            Prompt.BLOCK,
                            PrefixSpace.NONE));
        }
    }

    /** Who hears of a request. */
    interface Client {
        /**
         * @param cachedTokens of the prompt
         */
        void firstToken(int cachedTokens);

        void ended(int answerTokens);
    }

    private static final class Call {
        private final Prompt prompt;
        private final Client client;
        private int cached;
        private int done;
        private int chunk;
        private int answered;
        private int named;

        Call(Prompt prompt, Client client) {
            this.prompt = prompt;
            this.client = client;
        }
    }
}
