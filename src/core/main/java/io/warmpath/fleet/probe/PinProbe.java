package io.warmpath.fleet.probe;

import io.warmpath.fleet.PinSupport;
import io.warmpath.fleet.Worker;
import java.io.IOException;

/** Finds out how a kind of engine can be made to keep a prefix. Any thread; blocks. */
@FunctionalInterface
public interface PinProbe {
    /** Throws {@link IOException} when it cannot be asked. */
    PinSupport ask(Worker worker, EngineHttp http) throws IOException;
}
