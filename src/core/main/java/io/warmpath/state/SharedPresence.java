package io.warmpath.state;

import java.io.IOException;
import java.util.Map;

/** Which gateways are alive. Any thread but an event loop; calls wait for the store. */
public interface SharedPresence {
    /** This one is; again well before the store forgets it. */
    void here(String gateway, String inWords) throws IOException;

    /** This one ends. */
    void gone(String gateway) throws IOException;

    /** What each has said of itself, by id. */
    Map<String, String> present() throws IOException;
}
