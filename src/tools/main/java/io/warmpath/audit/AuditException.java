package io.warmpath.audit;

/** A file that the audit cannot do without cannot be used; the message names it and says why. */
public final class AuditException extends Exception {
    private static final long serialVersionUID = 1;

    public AuditException(String message) {
        super(message);
    }
}
