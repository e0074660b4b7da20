package io.warmpath.session;

/**
 * Names one session. Two tenants' equal ids are two sessions.
 *
 * @param scope whose it is
 * @param id as the client gave it
 */
public record SessionKey(Scope scope, String id) {
    /**
     * One model and one tenant; shared by all of their sessions.
     *
     * @param tenant the cache salt, empty when there is none; a secret, so never shown
     */
    public record Scope(String model, String tenant) {}
}
