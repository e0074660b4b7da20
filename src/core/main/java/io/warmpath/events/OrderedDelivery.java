package io.warmpath.events;

import io.warmpath.events.ReplayDialogue.About;
import io.warmpath.events.SourceTally.Of;
import io.warmpath.events.WaitingBatches.Batch;
import java.util.function.LongSupplier;

/**
 * Brings the batches of one publisher into their order: those that come live, those that come again
 * because they were asked for, and those that wait behind a hole. What a batch means is judged by
 * {@link SourceOrder}, what becomes of it is {@link SourceContent}'s. One thread.
 */
final class OrderedDelivery {
    private final SourceOrder order;
    private final SourceContent content;
    private final SourceStanding standing;
    private final SourceSilence silence;
    private final ReplayDialogue replay;
    private final EventCounters counters;
    private final SourceTally tally;
    private final LongSupplier nanoTime;
    private final WaitingBatches waiting = new WaitingBatches();

    /** What lies in between may have been overtaken: nobody can be asked, it is waited for. */
    private boolean overtaken;

    private long overtakenUntil;

    /** A batch was applied since something is waited for. */
    private boolean progress;

    private boolean everConnected;

    /** The batch applied last has come again, as it was, in answer to the newest question. */
    private boolean same;

    OrderedDelivery(
            SourceOrder order,
            SourceContent content,
            SourceStanding standing,
            SourceSilence silence,
            ReplayDialogue replay,
            EventCounters counters,
            SourceTally tally,
            LongSupplier nanoTime) {
        this.order = order;
        this.content = content;
        this.standing = standing;
        this.silence = silence;
        this.replay = replay;
        this.counters = counters;
        this.tally = tally;
        this.nanoTime = nanoTime;
    }

    /** A replay, or an overtaken batch, is on its way. */
    boolean replaying() {
        return overtaken || replay.open();
    }

    /** Batches that wait behind a hole. */
    int waiting() {
        return waiting.size();
    }

    /** There is, or was, a connection: that nothing comes does not mean that nobody is there. */
    void connected() {
        everConnected = true;
    }

    /** What has come so far is of the process that was connected. */
    void disconnected() {
        if (replay.hasHistory() || !replay.possible()) {
            waiting.clear();
        }
    }

    /** Another process of the engine speaks from now on. */
    void anotherProcess() {
        overtaken = false;
        replay.close();
        waiting.clear();
        content.forgetProcess();
    }

    /** Nobody is there who could answer the running replay. */
    void replayRefused() {
        if (replay.open()) {
            counters.replayFailures.increment();
            finish(false);
        }
    }

    /** A batch of the live stream. */
    void live(long sequence, byte[] payload) {
        Batch message = new Batch(sequence, payload);
        if (overtaken) {
            late(message);
        } else if (replay.open()) {
            waiting.add(message);
        } else {
            accept(message, true);
        }
    }

    /** A batch came again whose number was taken before; it was not looked at. */
    void duplicate() {
        counters.duplicates.increment();
        tally.add(Of.DUPLICATES, 1);
    }

    /**
     * Looks at the clock.
     *
     * @return false when nothing is waited for
     */
    boolean tick(long now) {
        if (overtaken) {
            if (replay.possible() ? !replay.mayStillCome() : now - overtakenUntil >= 0) {
                waitNoLonger();
            }
            return true;
        }
        if (replay.open()) {
            if (replay.givenUp(now)) {
                if (progress) {
                    askForTheRest("the replay stopped before its end");
                } else {
                    finish(false);
                }
            }
            return true;
        }
        return false;
    }

    /** Asks whether the publisher is the same, and what it has said since. */
    void askAgain(String why) {
        silence.begin(nanoTime.getAsLong());
        if (order.started()) {
            ask(About.AUDIT, content.proof(), why);
        } else if (replay.hasHistory()) {
            ask(About.HISTORY, 0, why);
        }
    }

    /**
     * A batch of the live stream that later ones have overtaken, where it is known to be of the
     * same process: its number would else be taken for a restart.
     */
    void overtaken(long sequence, byte[] payload) {
        if (!replaying() || Long.compareUnsigned(sequence, order.next()) < 0) {
            duplicate();
        } else if (sequence != order.next()) {
            waiting.insert(new Batch(sequence, payload));
        } else if (overtaken) {
            late(new Batch(sequence, payload));
        } else {
            take(sequence, payload);
            takeWaiting();
        }
    }

    /** A batch of the running replay. */
    void replayed(long sequence, byte[] payload) {
        if (!replay.open()) {
            return;
        }
        replay.answered();
        switch (order.replayed(sequence, payload)) {
            case FIRST -> take(sequence, payload);
            case NEXT -> {
                if (!same) {
                    content.goesOn();
                }
                take(sequence, payload);
            }
            case DUPLICATE -> {
                if (sequence == content.proof()) {
                    same = true;
                    content.proved();
                }
            }
            case GAP -> {
                if (progress) {
                    askForTheRest("batches " + range(sequence) + " were lost in a replay");
                } else {
                    content.lose("batches " + range(sequence) + " are gone from its replay buffer");
                    take(sequence, payload);
                }
            }
            case RESTART -> restarted();
        }
    }

    /**
     * Once more, from the last batch that came: a publisher's buffer has no holes, but the socket
     * that it answers on drops what its reader does not take at once (ZeroMQ's ROUTER, more than
     * 1,000 messages ahead). Ends, as it is done only after an answer that brought something.
     */
    private void askForTheRest(String why) {
        About about = replay.about();
        ask(about == null ? About.AUDIT : about, content.proof(), why);
    }

    /** The publisher has sent all it has. */
    void replayEnded() {
        if (!replay.open()) {
            return;
        }
        if (order.started() && !same && !progress) {
            neitherOldNorNew();
            return;
        }
        if (replay.about() == About.HISTORY && !order.started()) {
            standing.complete = true;
        }
        finish(true);
    }

    /** The batch applied last is asked for too, and has not come. */
    private void neitherOldNorNew() {
        if (replay.works()) {
            replay.works(false);
            restarted();
        } else if (replay.mayAskForAll()) {
            ask(About.AUDIT, 0, "asking for its first batch");
        } else {
            // Another process that has said nothing yet, or one that keeps nothing.
            finish(false);
            if (standing.unconfirmed && !replaying()) {
                standing.stranger =
                        "the connection was lost and a replay brings nothing: until a batch comes"
                                + " nobody knows whether this is the same process";
                standing.settle("nothing came");
            }
        }
    }

    private void accept(Batch m, boolean mayAsk) {
        switch (order.live(m.sequence(), m.payload())) {
            case FIRST -> first(m, mayAsk);
            case NEXT -> take(m.sequence(), m.payload());
            case DUPLICATE -> duplicate();
            case GAP -> gap(m, mayAsk);
            case RESTART -> {
                content.forgetProcess();
                // Judged again only to note its number as the newest of the new process.
                order.live(m.sequence(), m.payload());
                first(m, replay.possible());
            }
        }
        if (!replaying()) {
            standing.settle("caught up");
        }
    }

    private void first(Batch m, boolean mayAsk) {
        if (m.sequence() != 0 && replay.hasHistory() && mayAsk) {
            waiting.addFirst(m);
            ask(About.HISTORY, 0, "asking for what was said before");
            return;
        }
        take(m.sequence(), m.payload());
        standing.settle(
                standing.complete
                        ? "heard from its first batch on"
                        : "heard from batch " + m.sequence() + " on; what was before is not known");
    }

    private void gap(Batch m, boolean mayAsk) {
        if (mayAsk) {
            counters.gaps.increment();
            tally.add(Of.GAPS, 1);
            waiting.addFirst(m);
            standing.repairing = true;
            if (replay.possible() && !replay.mayStillCome()) {
                ask(About.GAP, content.proof(), "batches " + range(m.sequence()) + " were missed");
            } else {
                overtaken = true;
                progress = false;
                overtakenUntil = nanoTime.getAsLong() + WaitingBatches.OVERTAKEN_NANOS;
                standing.settle("batches " + range(m.sequence()) + " have not come");
            }
            return;
        }
        content.lose("batches " + range(m.sequence()) + " were missed");
        take(m.sequence(), m.payload());
    }

    /** While something is waited for without having asked. */
    private void late(Batch m) {
        if (m.sequence() != order.next()) {
            waiting.add(m);
            if (replay.possible() ? !replay.mayStillCome() : waiting.tooMany()) {
                waitNoLonger();
            }
            return;
        }
        take(m.sequence(), m.payload());
        takeWaiting();
        if (waiting.isEmpty()) {
            finish(true);
        }
    }

    /** Whatever waits and is the next one. */
    private void takeWaiting() {
        for (Batch next = waiting.remove(order.next());
                next != null;
                next = waiting.remove(order.next())) {
            take(next.sequence(), next.payload());
        }
    }

    /** What has not come by itself is asked for, where somebody can be asked. */
    private void waitNoLonger() {
        if (replay.possible()) {
            overtaken = false;
            ask(About.GAP, content.proof(), "batches from " + order.next() + " on were missed");
        } else {
            finish(false);
        }
    }

    private void take(long sequence, byte[] payload) {
        progress = true;
        if (!replay.open()) {
            content.unasked();
        }
        standing.reading &= replay.about() == About.HISTORY;
        content.take(sequence, payload);
    }

    /** Another process publishes now. */
    private void restarted() {
        content.forgetProcess();
        ask(About.HISTORY, 0, "the engine has restarted");
    }

    private void ask(About about, long from, String why) {
        progress = false;
        same = false;
        standing.reading = about == About.HISTORY;
        standing.settle(why);
        replay.ask(about, from);
    }

    /**
     * Nothing more is waited for: the batches that came meanwhile are applied now.
     *
     * @param well the publisher has told all it has, or the overtaken batch has come
     */
    private void finish(boolean well) {
        boolean moved = progress;
        boolean asked = replay.open();
        boolean history = replay.about() == About.HISTORY;
        overtaken = false;
        replay.close();
        silence.begin(nanoTime.getAsLong());
        if (moved && standing.repairing && !history) {
            tally.add(Of.REPAIRED, 1);
            counters.repaired.increment();
        }
        standing.repairing = false;
        if (well && asked) {
            content.confirm();
        }
        // Nobody there yet is no hole.
        standing.reading = !order.started() && !standing.complete && !everConnected;
        while (!replaying() && !waiting.isEmpty()) {
            // A second hole may be asked for only when the last answer brought something, else a
            // publisher whose buffer is empty would be asked for ever.
            accept(waiting.removeFirst(), moved);
        }
        if (replaying()) {
            return;
        }
        if (moved && asked) {
            silence.heard(nanoTime.getAsLong());
        } else if (silence.checked()) {
            silence.freeze();
        }
        standing.settle(
                well
                        ? moved ? "all caught up" : "nothing was missed"
                        : "the replay was not answered");
    }

    /** Of the batches from the one that should come now to before {@code until}, in words. */
    String range(long until) {
        long from = order.next();
        return from == until - 1
                ? Long.toUnsignedString(from)
                : Long.toUnsignedString(from) + " to " + Long.toUnsignedString(until - 1);
    }
}
