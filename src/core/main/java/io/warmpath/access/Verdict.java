package io.warmpath.access;

import java.util.concurrent.CompletionStage;

/** What a credential is worth: a {@link Caller}, nothing, or not known yet. */
public sealed interface Verdict permits Caller, Verdict.Refused, Verdict.Busy, Verdict.Later {
    /** {@code why}: for the client; never holds what it has sent. */
    record Refused(String why) implements Verdict {}

    /** Nobody had time to look; a later try may be luckier. */
    record Busy(String why) implements Verdict {}

    /** {@code verdict}: comes on any thread, is neither Later nor a failure. */
    record Later(CompletionStage<Verdict> verdict) implements Verdict {}
}
