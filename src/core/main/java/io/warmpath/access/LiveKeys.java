package io.warmpath.access;

/** The ring of the moment; {@link #replace} makes another one count from the next request on. */
public final class LiveKeys implements Authenticator {
    private volatile Authenticator now;

    public LiveKeys(Authenticator first) {
        this.now = first;
    }

    public void replace(Authenticator next) {
        now = next;
    }

    @Override
    public Verdict check(String credential) {
        return now.check(credential);
    }
}
