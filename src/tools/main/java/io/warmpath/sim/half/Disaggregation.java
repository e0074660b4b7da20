package io.warmpath.sim.half;

import java.time.Duration;

/**
 * Which half of requests an engine does, and over what it meets the other one.
 *
 * @param bootstrapPort where a prefill engine is found by those that decode; 0 for a free one
 * @param bytesPerToken of KV cache
 * @param bytesPerSecond of its network, in each direction
 * @param setup what a transfer takes beside its bytes
 * @param timeout SGLANG_DISAGGREGATION_BOOTSTRAP_TIMEOUT and ..._WAITING_TIMEOUT
 */
public record Disaggregation(
        Mode mode,
        int bootstrapPort,
        int bytesPerToken,
        double bytesPerSecond,
        Duration setup,
        Duration timeout) {
    /** SGLang's own default. */
    public static final int BOOTSTRAP_PORT = 8998;

    /** {@code --disaggregation-mode}. */
    public enum Mode {
        PREFILL,
        DECODE
    }

    public Disaggregation {
        if (bytesPerToken < 1 || !(bytesPerSecond > 0) || timeout.isNegative()) {
            throw new IllegalArgumentException("a transfer needs bytes, a speed and a time-out");
        }
    }

    /** 128 KiB a token at 25 Gbit/s, 2 ms beside them, and the 300 s of SGLang. */
    public static Disaggregation of(Mode mode, int bootstrapPort) {
        return new Disaggregation(
                mode,
                bootstrapPort,
                128 << 10,
                25e9 / 8,
                Duration.ofMillis(2),
                Duration.ofMinutes(5));
    }

    /**
     * For the engine {@code i} after the first of one process: each that prefills is met at a port
     * of its own.
     */
    public Disaggregation nth(int i) {
        int port = bootstrapPort == 0 || mode == Mode.DECODE ? bootstrapPort : bootstrapPort + i;
        return new Disaggregation(mode, port, bytesPerToken, bytesPerSecond, setup, timeout);
    }

    /** How long so many tokens' KV is under way, alone. */
    long transferNanos(int tokens) {
        return setup.toNanos() + (long) (1e9 * tokens * bytesPerToken / bytesPerSecond);
    }
}
