package io.warmpath.lab.workload;

/**
 * Something that is not as it should be with one engine.
 *
 * @param engine from 0; the one that joins is behind all others
 * @param at part of the arrivals' time that has passed by then
 * @param seconds a freeze lasts
 * @param speed from then on; 1 is the model's
 */
public record Fault(Kind kind, int engine, double at, double seconds, double speed) {
    /** What happens. */
    public enum Kind {
        /** Nothing moves; requests are still taken. */
        FREEZE,
        SPEED,
        /** It comes to the fleet, cold. */
        JOIN
    }

    static Fault freeze(int engine, double at, double seconds) {
        return new Fault(Kind.FREEZE, engine, at, seconds, 1);
    }

    static Fault speed(int engine, double speed) {
        return new Fault(Kind.SPEED, engine, 0, 0, speed);
    }

    static Fault join(int engine, double at) {
        return new Fault(Kind.JOIN, engine, at, 0, 1);
    }
}
