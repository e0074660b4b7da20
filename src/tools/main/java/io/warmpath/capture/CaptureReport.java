package io.warmpath.capture;

import java.util.EnumMap;
import java.util.List;
import java.util.Map;

/** All requests of one capture, compared. Immutable. */
public record CaptureReport(String file, String engine, List<CaptureRow> rows) {
    public CaptureReport {
        rows = List.copyOf(rows);
    }

    public long equal() {
        return rows.stream().filter(CaptureRow::equal).count();
    }

    public long different() {
        return rows.stream().filter(r -> r.comparable() && !r.equal()).count();
    }

    public long skipped() {
        return rows.stream().filter(r -> !r.comparable()).count();
    }

    /** Differences by cause, only causes that occur. */
    public Map<Cause, Integer> causes() {
        Map<Cause, Integer> out = new EnumMap<>(Cause.class);
        for (CaptureRow row : rows) {
            if (row.cause() != null) {
                out.merge(row.cause(), 1, Integer::sum);
            }
        }
        return out;
    }
}
