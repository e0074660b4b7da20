package io.warmpath.wiring.memory;

import com.sun.management.OperatingSystemMXBean;
import io.warmpath.config.MemoryConfig;
import io.warmpath.tokens.TokensOptions;
import java.lang.management.ManagementFactory;
import org.jboss.logging.Logger;

/**
 * How the process' memory is shared out. The heap is the JVM's own bound; what it and the JVM leave
 * of the limit is for what lies outside: indexes, what is remembered of prompts, buffers of
 * sockets. Immutable; all sizes in bytes.
 *
 * @param limit that the resident memory of the process may have
 * @param heap most of it that is Java's
 */
public record MemoryPlan(long limit, long heap) {
    private static final Logger LOG = Logger.getLogger(MemoryPlan.class);

    /** Classes, compiled code, threads, the JVM's own tables, tokenizers: 110 MiB were seen. */
    private static final long JVM_ITSELF = 128L << 20;

    /** With less than this there is no use in an index. */
    private static final long LEAST_OUTSIDE = 32L << 20;

    /** About a byte for a token of a conversation: 30 million tokens. */
    private static final long MOST_PROMPTS = 32L << 20;

    /** What a body takes while it arrives and is read, in bodies: buffers that grow, its texts. */
    private static final int LARGEST_BODY_SHARE = 16;

    /** What stays is to be less than where {@link MemoryWatch} says that memory is full. */
    private static final int PLANNED = 13;

    private static final int SIXTEENTHS = 16;

    /** A character may be a token, whose block has some hashes of 8 bytes in several places. */
    private static final int LONGEST_PROMPT_SHARE = 128;

    private static final int SHARE = 8;

    /**
     * Of a proxy, while it is open: with what the server itself keeps for it, three times 8 KiB.
     */
    private static final int STREAM_BYTES = 24 << 10;

    private static final int LEAST_STREAMS = 1024;

    /** As configured, for the heap that there is. */
    public static MemoryPlan of(MemoryConfig config) {
        long limit = config.limit().bytes();
        MemoryPlan plan =
                new MemoryPlan(limit > 0 ? limit : ofMachine(), Runtime.getRuntime().maxMemory());
        if (plan.outside() <= LEAST_OUTSIDE) {
            LOG.warnf(
                    "This process may have %d MiB of memory, and its heap %d of them (-Xmx): with the"
                            + " JVM's own %d MiB nothing is left for the prefix index. A smaller heap"
                            + " or a larger limit is needed",
                    plan.limit >> 20, plan.heap >> 20, JVM_ITSELF >> 20);
        }
        return plan;
    }

    /** The container's limit where there is one. */
    private static long ofMachine() {
        return ManagementFactory.getOperatingSystemMXBean() instanceof OperatingSystemMXBean system
                ? system.getTotalMemorySize()
                : Long.MAX_VALUE;
    }

    private long outside() {
        return Math.max(limit / SIXTEENTHS * PLANNED - heap - JVM_ITSELF, LEAST_OUTSIDE);
    }

    /** For what is known of engines' caches from their events. */
    public long index() {
        return outside() / SHARE * 3;
    }

    /** For what earlier decisions, or the texts of prompts, say of them: each of the two. */
    public long sideIndex() {
        return outside() / SHARE;
    }

    /** For the beginnings of prompts and their tokens. */
    public long prompts() {
        return Math.min(outside() / SHARE, MOST_PROMPTS);
    }

    /**
     * With less for what is remembered of texts, and for the longest prompt, where there is less.
     */
    public TokensOptions tokens(TokensOptions wanted) {
        return new TokensOptions(
                Math.min(wanted.cacheBytes(), heap / SHARE),
                (int) Math.min(wanted.maxPromptChars(), heap / LONGEST_PROMPT_SHARE),
                wanted.inlineNanos(),
                wanted.inlineChars());
    }

    /** For all bodies together that have no answer yet. */
    public long bodies() {
        return heap / SHARE;
    }

    /** For messages that have begun to arrive at one kind of socket, over all its connections. */
    public long messages() {
        return heap / LARGEST_BODY_SHARE;
    }

    /** Streams that proxies may have open together: 43,690 for a heap of 1 GiB. */
    public int streams() {
        return Math.clamp(heap / STREAM_BYTES, LEAST_STREAMS, Integer.MAX_VALUE);
    }

    /** What one body may have. {@code wanted}: as configured. */
    public long largestBody(long wanted) {
        return Math.min(wanted, heap / LARGEST_BODY_SHARE);
    }

    /**
     * For what one part of the gateway keeps on the heap beside running requests.
     *
     * @param wanted as configured
     */
    public long kept(long wanted) {
        return Math.min(wanted, heap / SHARE);
    }
}
