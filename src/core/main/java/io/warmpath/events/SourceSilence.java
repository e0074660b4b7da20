package io.warmpath.events;

/**
 * For how long one publisher has said nothing, and whether it should have. {@link #computed} and
 * {@link #owed} any thread, the rest the feed's.
 */
final class SourceSilence {
    private final StallWatch stall;
    private final SourceStanding standing;
    private long quietSince;
    private boolean checked;
    private long unusable;
    private String form = "";

    /**
     * @param stallNanos how long requests may be answered without the events they must cause
     */
    SourceSilence(SourceStanding standing, long stallNanos, long now) {
        this.standing = standing;
        this.quietSince = now;
        this.stall = new StallWatch(stallNanos, now);
    }

    /** A request sent at {@code began} has been answered and must cause an event. */
    void computed(long began, long now) {
        stall.computed(began, now);
    }

    /** Requests without the events they must have caused. */
    int owed() {
        return stall.owed();
    }

    /** A batch has come. */
    void heard(long now) {
        quietSince = now;
        checked = false;
        stall.heard(now);
        if (standing.silent != null) {
            standing.silent = null;
            standing.settle("events come again");
        }
    }

    /** Something came that is no batch. {@code form}: what, in words. */
    void unusable(String came) {
        unusable++;
        form = came;
    }

    /** The publisher was asked, or has answered: silence counts from now on. */
    void begin(long now) {
        quietSince = now;
    }

    boolean longerThan(long nanos, long now) {
        return now - quietSince >= nanos;
    }

    /** Requests were answered and nothing was said about them, for the first time now. */
    boolean stalls(long now) {
        return stall.due(now) && standing.silent == null && standing.away == null;
    }

    /** True for who may ask the publisher first: once in a silence. */
    boolean mayAsk() {
        boolean first = !checked;
        checked = true;
        return first;
    }

    /** It has been asked because of its silence. */
    boolean checked() {
        return checked;
    }

    /** Asking has not helped, or nobody can be asked: it is not believed. */
    void freeze() {
        String asked = stall.owed() + " requests with new blocks were answered and no event came";
        standing.silent =
                unusable == 0
                        ? asked + "; check that the engine publishes KV events, and where"
                        : asked
                                + " that is usable; "
                                + unusable
                                + " message(s) came, the last with "
                                + form;
        standing.settle("silent");
    }
}
