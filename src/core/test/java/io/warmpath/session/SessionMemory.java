package io.warmpath.session;

import io.warmpath.fleet.Candidate;
import io.warmpath.fleet.SessionSupport;
import java.lang.management.ManagementFactory;
import java.util.Arrays;
import java.util.List;
import java.util.UUID;

/** Heap that open sessions with ids of 36 characters take; {@code java ... SessionMemory}. */
final class SessionMemory {
    private static final int SESSIONS = 100_000;
    private static final int ATTEMPTS = 5;

    private SessionMemory() {}

    public static void main(String[] args) {
        System.out.printf("%.1f bytes a session%n", usual());
    }

    /**
     * Bytes a session; the median, as others may allocate beside, or what they left may be freed.
     */
    static double usual() {
        double[] all = new double[ATTEMPTS];
        for (int i = 0; i < ATTEMPTS; i++) {
            all[i] = once();
        }
        Arrays.sort(all);
        return all[ATTEMPTS / 2];
    }

    private static double once() {
        List<Candidate> ranks = Ranks.first(1);
        long before = used();
        ControlledSessions table =
                new ControlledSessions(
                        new ControlledSessions.Options(SESSIONS, 0, 0, 0.5),
                        System::nanoTime,
                        at -> {});
        for (int i = 0; i < SESSIONS; i++) {
            SessionKey key = Ranks.key("acme", UUID.randomUUID().toString());
            ControlledSession s = table.open(key, 300, false);
            if (s != null) {
                table.bind(s, ranks.get(i & 1), SessionSupport.RADIX);
                table.ended(s);
            }
        }
        long after = used();
        if (table.size() != SESSIONS) {
            throw new IllegalStateException(table.size() + " sessions");
        }
        return (double) (after - before) / SESSIONS;
    }

    private static long used() {
        for (int i = 0; i < 3; i++) {
            System.gc();
        }
        return ManagementFactory.getMemoryMXBean().getHeapMemoryUsage().getUsed();
    }
}
