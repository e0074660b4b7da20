package io.warmpath.sim;

import io.warmpath.sim.cache.VllmBlockHasher;
import io.warmpath.sim.engine.Timing;
import io.warmpath.sim.half.Disaggregation;
import io.warmpath.sim.wire.WireFormat;
import java.time.Duration;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * What one simulated engine is like. Immutable; made by {@link #builder}.
 *
 * @param host address to listen on, HTTP and ZeroMQ
 * @param port HTTP port, 0 for a free one
 * @param eventsPort PUB port of rank 0, rank r listens r higher; 0 for free ones
 * @param replayPort ROUTER port of rank 0, likewise
 * @param topic first frame of every event message
 * @param bufferSteps batches that can be replayed
 * @param models names it answers to, the first is its own
 * @param blockSize tokens per KV block
 * @param gpuBlocks blocks in GPU memory, per rank
 * @param hostBlocks blocks in host memory, per rank; 0 for no host tier
 * @param wire whose events and answers it imitates
 * @param rawHashes vLLM only: block hashes as 32 bytes instead of 64-bit integers
 * @param hashSeed vLLM only: PYTHONHASHSEED
 * @param ranks data-parallel ranks, each with its own cache and sockets
 * @param maxBatch requests that run at the same time, per rank
 * @param batchTokens prompt tokens computed in one step, per rank
 * @param answerTokens length at which an answer ends by itself
 * @param streamsIncrements SGLang only: events of {@code /generate} tell what is new instead of all
 * @param seed of the answers' words and of ids
 * @param chats how a chat becomes text; null: as ChatML, without tools
 * @param pool shared with others; SGLang with host memory only; null: none
 * @param agents sessions and the like; SGLang only
 * @param disaggregation which half of requests it does; SGLang only; null: it answers whole ones
 */
public record SimOptions(
        String host,
        int port,
        int eventsPort,
        int replayPort,
        String topic,
        int bufferSteps,
        List<String> models,
        int blockSize,
        int gpuBlocks,
        int hostBlocks,
        WireFormat wire,
        boolean rawHashes,
        String hashSeed,
        int ranks,
        int maxBatch,
        int batchTokens,
        int answerTokens,
        boolean streamsIncrements,
        Timing timing,
        long seed,
        @Nullable ChatText chats,
        @Nullable SimPool pool,
        AgentFeatures agents,
        @Nullable Disaggregation disaggregation) {
    public SimOptions {
        models = List.copyOf(models);
        require(!models.isEmpty(), "a model name is needed");
        require(blockSize > 0, "block size must be above 0");
        require(gpuBlocks > 0, "GPU blocks must be above 0");
        require(hostBlocks >= 0, "host blocks must not be negative");
        require(ranks > 0, "data-parallel size must be above 0");
        require(maxBatch > 0, "batch limit must be above 0");
        require(batchTokens > 0, "tokens of a step must be above 0");
        require(answerTokens > 0, "answer tokens must be above 0");
        require(bufferSteps > 0, "buffer steps must be above 0");
        require(
                pool == null || (wire.sglang() && hostBlocks > 0),
                "a pool needs one of SGLang's wire formats and host blocks");
        require(
                wire.sglang() || agents.equals(AgentFeatures.NONE),
                "what is for agents needs one of SGLang's wire formats");
        require(
                wire.sglang() || disaggregation == null,
                "a role needs one of SGLang's wire formats");
    }

    private static void require(boolean holds, String otherwise) {
        if (!holds) {
            throw new IllegalArgumentException(otherwise);
        }
    }

    /** Longest prompt and answer together, in tokens. */
    public int maxModelLength() {
        return (int) Math.min(Integer.MAX_VALUE, (long) gpuBlocks * blockSize);
    }

    public static Builder builder() {
        return new Builder();
    }

    /** Starts with the defaults that {@code --help} lists. */
    public static final class Builder {
        private String host = "127.0.0.1";
        private int port;
        private int eventsPort;
        private int replayPort;
        private String topic = "kv-events";
        private int bufferSteps = 10_000;
        private List<String> models = List.of("demo");
        private int blockSize = 16;
        private int gpuBlocks = 4096;
        private int hostBlocks;
        private WireFormat wire = WireFormat.SGLANG_MAP;
        private boolean rawHashes;
        private String hashSeed = VllmBlockHasher.DEFAULT_SEED;
        private int ranks = 1;
        private int maxBatch = 32;
        private int batchTokens = 8192;
        private int answerTokens = 64;
        private boolean streamsIncrements;
        private double prefillTokensPerSecond = 20_000;
        private double hostLoadTokensPerSecond = 150_000;
        private Duration interToken = Duration.ofMillis(10);
        private double speed = 1;
        private long seed = 1;
        private @Nullable ChatText chats;
        private @Nullable SimPool pool;
        private AgentFeatures agents = AgentFeatures.NONE;
        private @Nullable Disaggregation disaggregation;

        private Builder() {}

        public Builder host(String value) {
            host = value;
            return this;
        }

        public Builder port(int value) {
            port = value;
            return this;
        }

        public Builder eventsPort(int value) {
            eventsPort = value;
            return this;
        }

        public Builder replayPort(int value) {
            replayPort = value;
            return this;
        }

        public Builder topic(String value) {
            topic = value;
            return this;
        }

        public Builder bufferSteps(int value) {
            bufferSteps = value;
            return this;
        }

        public Builder models(List<String> value) {
            models = value;
            return this;
        }

        public Builder blockSize(int value) {
            blockSize = value;
            return this;
        }

        public Builder gpuBlocks(int value) {
            gpuBlocks = value;
            return this;
        }

        public Builder hostBlocks(int value) {
            hostBlocks = value;
            return this;
        }

        public Builder wire(WireFormat value) {
            wire = value;
            return this;
        }

        public Builder rawHashes(boolean value) {
            rawHashes = value;
            return this;
        }

        public Builder hashSeed(String value) {
            hashSeed = value;
            return this;
        }

        public Builder ranks(int value) {
            ranks = value;
            return this;
        }

        public Builder maxBatch(int value) {
            maxBatch = value;
            return this;
        }

        public Builder batchTokens(int value) {
            batchTokens = value;
            return this;
        }

        public Builder answerTokens(int value) {
            answerTokens = value;
            return this;
        }

        public Builder streamsIncrements(boolean value) {
            streamsIncrements = value;
            return this;
        }

        public Builder prefillTokensPerSecond(double value) {
            prefillTokensPerSecond = value;
            return this;
        }

        public Builder hostLoadTokensPerSecond(double value) {
            hostLoadTokensPerSecond = value;
            return this;
        }

        public Builder interToken(Duration value) {
            interToken = value;
            return this;
        }

        public Builder speed(double value) {
            speed = value;
            return this;
        }

        public Builder chats(ChatText value) {
            chats = value;
            return this;
        }

        public Builder pool(SimPool value) {
            pool = value;
            return this;
        }

        public Builder agents(AgentFeatures value) {
            agents = value;
            return this;
        }

        public Builder disaggregation(@Nullable Disaggregation value) {
            disaggregation = value;
            return this;
        }

        public Builder seed(long value) {
            seed = value;
            return this;
        }

        /** Throws {@link IllegalArgumentException} when a value is out of its range. */
        public SimOptions build() {
            return new SimOptions(
                    host,
                    port,
                    eventsPort,
                    replayPort,
                    topic,
                    bufferSteps,
                    models,
                    blockSize,
                    gpuBlocks,
                    hostBlocks,
                    wire,
                    rawHashes,
                    hashSeed,
                    ranks,
                    maxBatch,
                    batchTokens,
                    answerTokens,
                    streamsIncrements,
                    new Timing(prefillTokensPerSecond, hostLoadTokensPerSecond, interToken, speed),
                    seed,
                    chats,
                    pool,
                    agents,
                    disaggregation);
        }
    }
}
