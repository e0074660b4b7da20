package io.warmpath.wiring.settings;

import io.warmpath.config.http.AddressConfig;
import io.warmpath.fleet.address.AddressGuard;
import io.warmpath.fleet.address.AddressRules;
import org.jboss.logging.Logger;

/** Where workers may be, as configured. */
public final class AddressSetup {
    private static final Logger LOG = Logger.getLogger(AddressSetup.class);

    private AddressSetup() {}

    /**
     * @throws StartFailure naming the entry that is wrong
     */
    public static AddressGuard guard(AddressConfig config) {
        try {
            return new AddressGuard(AddressRules.of(config.allowed()), LOG::warn);
        } catch (IllegalArgumentException e) {
            throw new StartFailure(e.getMessage() + ".");
        }
    }
}
