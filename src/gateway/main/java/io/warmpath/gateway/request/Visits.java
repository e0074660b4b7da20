package io.warmpath.gateway.request;

import io.vertx.core.Context;
import io.warmpath.access.Visit;
import org.jspecify.annotations.Nullable;

/**
 * Whose request runs on a context: each request has a context of its own, over the shared one of
 * its connection.
 */
public final class Visits {
    private static final Object KEY = new Object();

    private Visits() {}

    /** Before the request goes on; on its context. */
    public static void put(Context context, Visit visit) {
        context.putLocal(KEY, visit);
    }

    /** Null: everybody may do everything. */
    public static @Nullable Visit of(Context context) {
        return context.getLocal(KEY);
    }

    /** Whether its client may say what acts on engines; false where no client is known. */
    public static boolean mayHandOff(Context context) {
        Visit visit = of(context);
        return visit != null && visit.caller().grant().handOff();
    }
}
