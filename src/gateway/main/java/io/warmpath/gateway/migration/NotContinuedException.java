package io.warmpath.gateway.migration;

/** This stream cannot be gone on with. */
public final class NotContinuedException extends Exception {
    private static final long serialVersionUID = 1;

    private final WhyNot why;

    public NotContinuedException(WhyNot why) {
        super(why.name(), null, false, false);
        this.why = why;
    }

    public WhyNot why() {
        return why;
    }
}
