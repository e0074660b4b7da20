package io.warmpath.sim;

/**
 * What an SGLang server is started with for agents.
 *
 * @param streamingSessions {@code --enable-streaming-session}: sessions whose KV no eviction
 *     reaches
 * @param radixSessions {@code --enable-session-radix-cache}: closing a {@code session_id} drops
 *     what only its requests have used
 */
public record AgentFeatures(boolean streamingSessions, boolean radixSessions) {
    public static final AgentFeatures NONE = new AgentFeatures(false, false);

    public AgentFeatures withStreamingSessions() {
        return new AgentFeatures(true, radixSessions);
    }

    public AgentFeatures withRadixSessions() {
        return new AgentFeatures(streamingSessions, true);
    }
}
