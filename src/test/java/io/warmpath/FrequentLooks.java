package io.warmpath;

import java.time.Duration;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.extension.BeforeAllCallback;
import org.junit.jupiter.api.extension.ExtensionContext;

/**
 * Tests look every 20 ms whether what they wait for has come. Awaitility's 100 ms, before the first
 * look too, are most of the time of a test of one request. JUnit finds this class by itself.
 */
public final class FrequentLooks implements BeforeAllCallback {
    @Override
    public void beforeAll(ExtensionContext context) {
        Awaitility.setDefaultPollInterval(Duration.ofMillis(20));
    }
}
