package io.warmpath.wiring;

import io.warmpath.config.AddressConfig;
import io.warmpath.fleet.AddressGuard;
import io.warmpath.fleet.AddressRules;
import org.jboss.logging.Logger;

/** Where workers may be, as configured. */
final class AddressSetup {
    private static final Logger LOG = Logger.getLogger(AddressSetup.class);

    private AddressSetup() {}

    /**
     * @throws StartFailure naming the entry that is wrong
     */
    static AddressGuard guard(AddressConfig config) {
        try {
            return new AddressGuard(AddressRules.of(config.allowed()), LOG::warn);
        } catch (IllegalArgumentException e) {
            throw new StartFailure(e.getMessage() + ".");
        }
    }
}
