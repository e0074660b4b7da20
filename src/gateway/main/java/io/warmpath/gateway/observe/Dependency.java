package io.warmpath.gateway.observe;

import java.util.concurrent.atomic.AtomicBoolean;
import org.jboss.logging.Logger;

/**
 * One helper that requests can do without: warns once when it begins to fail and says once when it
 * works again. Any thread.
 */
public final class Dependency {
    private final Logger log;
    private final String name;
    private final String consequence;
    private final AtomicBoolean failing = new AtomicBoolean();

    public Dependency(Logger log, String name, String consequence) {
        this.log = log;
        this.name = name;
        this.consequence = consequence;
    }

    public void failed(Throwable cause) {
        if (failing.compareAndSet(false, true)) {
            log.warnf(cause, "%s fails; %s until it works again", name, consequence);
        }
    }

    public void worked() {
        // Plain read first: what works must not write to a shared cache line.
        if (failing.get() && failing.compareAndSet(true, false)) {
            log.infof("%s works again", name);
        }
    }
}
