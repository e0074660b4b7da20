package io.warmpath.lab.policy;

import io.warmpath.prefix.PrefixEvent;
import io.warmpath.prefix.WorkerSlot;
import io.warmpath.routing.rates.FleetPressure;
import java.util.BitSet;
import java.util.List;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * Chooses an engine for each request. One thread, one run. A new rule extends this and gets a line
 * in {@link PolicyCatalog}. What it may look at is up to it: an honest one keeps to what a router
 * of its kind can know.
 */
public abstract class Policy implements AutoCloseable {
    private final BitSet gone = new BitSet();
    private @Nullable Why why;

    /** The engine, from 0, that the request goes to now. */
    public abstract int choose(Call call);

    /** Who computes prompts for whom; null: each engine does whole requests. */
    public @Nullable Halves halves() {
        return null;
    }

    /** The engine that computes the prompt of what was chosen last for another one; -1: it does. */
    public int prefiller() {
        return -1;
    }

    /** The prompt has been computed there. */
    public void prefilled(Call call) {}

    /** Writes down what it chooses by; before the first choice. */
    public final void explain(Why to) {
        why = to;
    }

    /** Somebody wants to know why this request goes where it goes. */
    final boolean explains(Call call) {
        return why != null && why.wants(call.number());
    }

    final void note(Call call, int engine, String term, double value) {
        if (why != null && why.wants(call.number())) {
            why.note(call.number(), engine, term, value);
        }
    }

    final void because(Call call, String reason) {
        if (why != null && why.wants(call.number())) {
            why.because(call.number(), reason);
        }
    }

    /** An engine is there from now on, with the next number. */
    public void joined() {}

    /** The engine gets nothing new from now on. */
    public void left(int engine) {
        gone.set(engine);
    }

    /** It may be chosen. */
    final boolean isHere(int engine) {
        return !gone.get(engine);
    }

    /**
     * Those that are heard of by {@link #sentByPeer}, from now on.
     *
     * @param place of this router among them, from 0
     * @param routers with this one
     */
    public void among(int place, int routers) {}

    /**
     * Another router has sent this request there, as this one hears now. {@link #firstToken},
     * {@link #ended} or {@link #forget} follow when they are heard of; nothing does for rules that
     * do not count requests.
     */
    public void sentByPeer(Call call, int engine) {}

    /** Nothing will be heard any more of what a peer has sent. */
    public void forget(Call call) {
        ended(call);
    }

    public void firstToken(Call call) {}

    public void ended(Call call) {}

    /** Of the engines that are here; empty for rules that do not know. */
    public Optional<FleetPressure> pressure() {
        return Optional.empty();
    }

    /** {@link #apply} is to be called, with slots as {@link #slot} names them. */
    public boolean followsEvents() {
        return false;
    }

    public WorkerSlot slot(int engine) {
        return new WorkerSlot(engine);
    }

    /** What engines have told, as it happened; before a choice that it has arrived for. */
    public void apply(List<PrefixEvent> events) {}

    @Override
    public void close() {}
}
