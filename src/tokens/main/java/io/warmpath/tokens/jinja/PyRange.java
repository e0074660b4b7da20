package io.warmpath.tokens.jinja;

/** Python's range; at most 100,000 numbers, as Jinja's sandbox has it. */
record PyRange(long start, long stop, long step) {
    private static final int MAX_LENGTH = 100_000;

    static PyRange of(long start, long stop, long step) {
        if (step == 0) {
            throw TemplateException.failed("range() arg 3 must not be zero");
        }
        PyRange range = new PyRange(start, stop, step);
        if (range.exactLength() > MAX_LENGTH) {
            throw TemplateException.failed(
                    "Range too big. The sandbox blocks ranges larger than MAX_RANGE (100000).");
        }
        return range;
    }

    private double exactLength() {
        double span = step > 0 ? (double) stop - start : (double) start - stop;
        return span <= 0 ? 0 : Math.ceil(span / Math.abs((double) step));
    }

    int length() {
        return (int) exactLength();
    }

    Object at(int index) {
        return start + index * step;
    }

    boolean contains(Object value, Run run) {
        for (int i = 0; i < length(); i++) {
            if (Values.equal(at(i), value, run)) {
                return true;
            }
        }
        return false;
    }

    boolean same(PyRange other) {
        int n = length();
        return n == other.length()
                && (n == 0 || start == other.start)
                && (n < 2 || step == other.step);
    }

    PyRange slice(PySlice slice) {
        PySlice.Bounds b = slice.bounds(length());
        return new PyRange(start + b.start() * step, start + b.stop() * step, b.step() * step);
    }
}
