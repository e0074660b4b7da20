package io.warmpath.usage;

import java.util.ArrayList;
import java.util.EnumMap;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.atomic.AtomicLongArray;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;

/**
 * What the requests of each tenant for each model have used, over several windows. Any thread; one
 * lock, held for less than a microsecond by {@link #count}. So many tenants have rows of their own,
 * and there are {@value #MOST_ROWS} rows; what comes beyond is {@link #OTHER}. A row without a
 * request for 24 hours makes room when there is none.
 */
public final class UsageBook {
    /** Tenants, and models, that have no row of their own. */
    public static final String OTHER = "other";

    /** Pairs of tenant and model; each takes 3 kB. */
    public static final int MOST_ROWS = 1_000;

    private static final long IDLE_MILLIS = 24 * 3_600_000L;
    private static final long SWEEP_MILLIS = 60_000;
    private static final int NUMBERS = 8;

    /** Follows who has figures of its own. Called while the book is locked. */
    public interface Watch {
        Watch NONE = tenant -> () -> {};

        /** Returns called when the tenant has no figures any more. */
        Runnable came(Tenant tenant);
    }

    /** Pairs of a tenant and a model with requests in a window, and when that began. */
    public record Report(long sinceMillis, List<Row> rows) {}

    /**
     * @param tenant empty: requests of nobody in particular
     * @param model empty: requests for no model that is served
     */
    public record Row(String tenant, String model, Spent spent) {}

    private final int mostTenants;
    private final LongSupplier millis;
    private final Watch watch;
    private final long startedMillis;
    private final Tenant all = new Tenant("all");
    private final Map<String, Tenant> tenants = new HashMap<>(); // as all below, guarded by this
    private Spent gone = Spent.NOTHING; // of rows that have made room
    private int rows;
    private int named; // tenants with rows, beside none and others
    private long sweptMillis;

    /**
     * @param mostTenants with rows of their own; 0: tenants are not told apart
     * @param millis a clock's, since 1970
     */
    public UsageBook(int mostTenants, LongSupplier millis, Watch watch) {
        this.mostTenants = mostTenants;
        this.millis = millis;
        this.watch = watch;
        this.startedMillis = millis.getAsLong();
        this.sweptMillis = startedMillis;
    }

    public synchronized void count(RequestUse use) {
        long now = millis.getAsLong();
        Tenant tenant = tenants.get(use.tenant());
        if (tenant == null) {
            tenant = admit(use.tenant(), now);
        }
        Sums sums = tenant.models.get(use.model());
        if (sums == null) {
            sums = room(tenant, use.model(), now);
        }
        sums.add(use, now);
        tenant.total.add(use);
        all.total.add(use);
    }

    /** Every tenant's figures together. */
    public Tenant all() {
        return all;
    }

    private Tenant admit(String name, long now) {
        boolean common = isCommon(name);
        if (!common && named >= mostTenants) {
            sweep(now, null);
        }
        String as = common || named < mostTenants ? name : OTHER;
        Tenant there = tenants.get(as);
        if (there != null) {
            return there;
        }
        Tenant fresh = new Tenant(as);
        tenants.put(as, fresh);
        named += isCommon(as) ? 0 : 1;
        fresh.leaves = watch.came(fresh);
        return fresh;
    }

    /** Is there however many tenants there are. */
    private static boolean isCommon(String tenant) {
        return tenant.isEmpty() || tenant.equals(OTHER);
    }

    private Sums room(Tenant tenant, String model, long now) {
        if (rows >= MOST_ROWS) {
            sweep(now, tenant);
        }
        // One row of other models is there for each tenant, however many rows there are.
        String as = rows < MOST_ROWS ? model : OTHER;
        Sums there = tenant.models.get(as);
        if (there != null) {
            return there;
        }
        Sums fresh = new Sums(now);
        tenant.models.put(as, fresh);
        rows++;
        return fresh;
    }

    /**
     * Takes rows away that nothing has used for a day; once a minute at most.
     *
     * @param kept stays though it may have no row yet
     */
    private void sweep(long now, @Nullable Tenant kept) {
        if (now - sweptMillis < SWEEP_MILLIS) {
            return;
        }
        sweptMillis = now;
        for (Tenant tenant : new ArrayList<>(tenants.values())) {
            tenant.models
                    .values()
                    .removeIf(
                            sums -> {
                                boolean idle = now - sums.lastMillis >= IDLE_MILLIS;
                                if (idle) {
                                    gone = gone.plus(sums.total.spent());
                                    rows--;
                                }
                                return idle;
                            });
            if (tenant.models.isEmpty() && tenant != kept && !isCommon(tenant.name)) {
                tenants.remove(tenant.name);
                named--;
                tenant.leaves.run();
            }
        }
    }

    /** In no order. */
    public synchronized Report report(UsageWindow window) {
        long now = millis.getAsLong();
        List<Row> out = new ArrayList<>();
        for (Tenant tenant : tenants.values()) {
            tenant.models.forEach(
                    (model, sums) -> {
                        Spent spent = sums.in(window, now);
                        if (spent.requests() > 0) {
                            out.add(new Row(tenant.name, model, spent));
                        }
                    });
        }
        if (window == UsageWindow.TOTAL) {
            if (gone.requests() > 0) {
                out.add(new Row(OTHER, OTHER, gone));
            }
            return new Report(startedMillis, out);
        }
        long from = (Math.floorDiv(now, window.stepMillis) - window.before) * window.stepMillis;
        return new Report(Math.max(startedMillis, from), out);
    }

    /** One tenant's figures since it came. {@link #total} any thread. */
    public static final class Tenant {
        private final String name;
        private final Map<String, Sums> models = new LinkedHashMap<>();
        private final Total total = new Total();
        private Runnable leaves = () -> {};

        private Tenant(String name) {
            this.name = name;
        }

        /** Empty: requests of nobody in particular. */
        public String name() {
            return name;
        }

        /** Waits for nobody; its numbers may be a request apart. */
        public Spent total() {
            return total.spent();
        }
    }

    /** Of one tenant and one model. */
    private static final class Sums {
        private final Total total = new Total();
        private final Map<UsageWindow, StepSums> windows = new EnumMap<>(UsageWindow.class);
        private long lastMillis;

        Sums(long now) {
            for (UsageWindow w : UsageWindow.values()) {
                if (w != UsageWindow.TOTAL) {
                    windows.put(w, new StepSums(NUMBERS, w.before + 1, w.stepMillis, now));
                }
            }
        }

        void add(RequestUse use, long now) {
            lastMillis = now;
            total.add(use);
            for (int n = 0; n < NUMBERS; n++) {
                long amount = amount(use, n);
                if (amount != 0) {
                    for (StepSums w : windows.values()) {
                        w.add(now, n, amount);
                    }
                }
            }
        }

        Spent in(UsageWindow window, long now) {
            StepSums steps = windows.get(window);
            if (steps == null) {
                return total.spent();
            }
            long[] sums = new long[NUMBERS];
            for (int n = 0; n < NUMBERS; n++) {
                sums[n] = steps.sum(now, n, window.before);
            }
            return spent(sums);
        }
    }

    /** Added to under the book's lock, read by any thread. */
    private static final class Total {
        private final AtomicLongArray sums = new AtomicLongArray(NUMBERS);

        void add(RequestUse use) {
            for (int n = 0; n < NUMBERS; n++) {
                sums.setRelease(n, sums.getPlain(n) + amount(use, n));
            }
        }

        Spent spent() {
            long[] now = new long[NUMBERS];
            for (int n = 0; n < NUMBERS; n++) {
                now[n] = sums.getAcquire(n);
            }
            return UsageBook.spent(now);
        }
    }

    /** The numbers are those of {@link Spent}, in its order; the last one in microseconds. */
    private static long amount(RequestUse use, int number) {
        return switch (number) {
            case 0 -> 1;
            case 1 -> use.end() == RequestUse.End.ERROR ? 1 : 0;
            case 2 -> use.end() == RequestUse.End.REFUSED ? 1 : 0;
            case 3 -> use.promptTokens();
            case 4 -> use.cachedTokens();
            case 5 -> use.predictedTokens();
            case 6 -> use.outputTokens();
            default -> Math.round(1000 * use.savedMillis());
        };
    }

    private static Spent spent(long[] s) {
        return new Spent(s[0], s[1], s[2], s[3], s[4], s[5], s[6], s[7] / 1e3);
    }
}
