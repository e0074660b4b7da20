package io.warmpath.session;

/**
 * Which agent's turn a request is, as far as its body says ({@code nvext.agent_context}); headers
 * that say the same come before it.
 *
 * @param session names what the agent's turns have in common; empty when not said
 * @param parent the session that has called this agent; empty when not said
 * @param last no more turns will come
 */
public record AgentContext(String session, String parent, boolean last) {
    public static final AgentContext NONE = new AgentContext("", "", false);
}
