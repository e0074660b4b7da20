package io.warmpath.fleet.address;

import java.io.IOException;

/** Nothing is sent there: {@link AddressRules} refuse the address. The message says which one. */
public final class RefusedAddressException extends IOException {
    private static final long serialVersionUID = 1L;

    public RefusedAddressException(String message) {
        super(message);
    }
}
