package io.warmpath.lab.workload;

import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * Something that is not as it should be with one engine, or between the routers.
 *
 * @param engine from 0; meaningless where one joins, that is behind all others, or where routers
 *     are cut off
 * @param at seconds, or part of the arrivals' time, that have passed by then
 * @param isPart {@code at} is a part
 * @param seconds a freeze or a cut lasts
 * @param speed from then on; 1 is the model's
 */
public record Fault(
        Kind kind, int engine, double at, boolean isPart, double seconds, double speed) {
    private static final Pattern FORM =
            Pattern.compile("([a-z]+)@([0-9.]+)(s|%)(?::([0-9]+))?(?::([0-9.]+)(s)?)?");
    private static final Pattern CUT = Pattern.compile("cut@([0-9.]+)(s|%):([0-9.]+)s");
    private static final Pattern JOIN = Pattern.compile("join@([0-9.]+)(s|%)(?::([0-9.]+))?");

    /** What happens. */
    public enum Kind {
        /** Nothing moves; requests are still taken. */
        FREEZE,
        SPEED,
        /** It comes to the fleet, cold. */
        JOIN,
        /** It gets nothing new, and finishes what it has. */
        LEAVE,
        /** Routers hear nothing of each other. */
        CUT
    }

    static Fault freeze(int engine, double at, double seconds) {
        return new Fault(Kind.FREEZE, engine, at, true, seconds, 1);
    }

    static Fault speed(int engine, double speed) {
        return new Fault(Kind.SPEED, engine, 0, true, 0, speed);
    }

    static Fault join(int engine, double at) {
        return new Fault(Kind.JOIN, engine, at, true, 0, 1);
    }

    /** When it happens in a run whose arrivals take so long. */
    public double millis(double spanMillis) {
        return isPart ? at * spanMillis : at * 1000;
    }

    /** About an engine that is there from the beginning. */
    public boolean namesAnEngine() {
        return kind != Kind.JOIN && kind != Kind.CUT;
    }

    /**
     * {@code freeze@30s:3:10s}, {@code speed@0s:3:0.5}, {@code leave@50%:3}, {@code join@25%},
     * {@code join@25%:2} (twice as fast), {@code cut@30s:5s}.
     *
     * @throws IllegalArgumentException naming the text and the forms there are
     */
    public static Fault parse(String text) {
        Matcher cut = CUT.matcher(text);
        Matcher join = JOIN.matcher(text);
        Matcher other = FORM.matcher(text);
        try {
            if (cut.matches()) {
                return timed(Kind.CUT, -1, cut, 1, Double.parseDouble(cut.group(3)), 1);
            }
            if (join.matches()) {
                String speed = join.group(3);
                return timed(
                        Kind.JOIN, -1, join, 1, 0, speed == null ? 1 : Double.parseDouble(speed));
            }
            if (other.matches() && other.group(4) != null) {
                int engine = Integer.parseInt(other.group(4));
                boolean hasValue = other.group(5) != null;
                boolean inSeconds = other.group(6) != null;
                double value = hasValue ? Double.parseDouble(other.group(5)) : 0;
                switch (other.group(1)) {
                    case "freeze" -> {
                        if (inSeconds && value > 0) {
                            return timed(Kind.FREEZE, engine, other, 2, value, 1);
                        }
                    }
                    case "speed" -> {
                        if (hasValue && !inSeconds && value > 0) {
                            return timed(Kind.SPEED, engine, other, 2, 0, value);
                        }
                    }
                    case "leave" -> {
                        if (!hasValue) {
                            return timed(Kind.LEAVE, engine, other, 2, 0, 1);
                        }
                    }
                    default -> {
                        // said below
                    }
                }
            }
        } catch (NumberFormatException e) {
            throw new IllegalArgumentException(text + ": " + e.getMessage(), e);
        }
        throw new IllegalArgumentException(
                text
                        + ": freeze@TIME:ENGINE:SECONDSs, speed@TIME:ENGINE:FACTOR,"
                        + " leave@TIME:ENGINE, join@TIME[:SPEED] or cut@TIME:SECONDSs,"
                        + " TIME as 30s or 25%");
    }

    private static Fault timed(
            Kind kind, int engine, Matcher m, int group, double seconds, double speed) {
        boolean isPart = m.group(group + 1).equals("%");
        double at = Double.parseDouble(m.group(group));
        return new Fault(kind, engine, isPart ? at / 100 : at, isPart, seconds, speed);
    }
}
