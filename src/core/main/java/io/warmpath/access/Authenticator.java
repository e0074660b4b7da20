package io.warmpath.access;

/** Knows clients by what they show. Any thread, never blocks. */
@FunctionalInterface
public interface Authenticator {
    /** {@code credential}: key or token as the client sent it, not empty. */
    Verdict check(String credential);
}
