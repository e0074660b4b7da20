package io.warmpath.sim;

import java.time.Duration;

/**
 * What is to go wrong on purpose. Engine's thread only. Set by the control API; each fault names
 * how often it strikes.
 */
final class Faults {
    private static final int FOREVER = -1;

    private int failStatus;
    private int failures;
    private int retryAfterSeconds;

    /** What becomes of an answer that breaks off. */
    enum End {
        /** The engine dies with it. */
        ENGINE,
        /** Its connection is closed; the engine lives on. */
        CONNECTION,
        /** Nothing more comes; the connection stays. */
        STALL,
        /** What follows is neither HTTP nor an event, and then the connection is closed. */
        GARBAGE
    }

    private int chunksBeforeDeath = -1;
    private End end = End.ENGINE;
    private String templateStart = "";
    private boolean stopped;
    private Duration delay = Duration.ZERO;
    private int healthStatus = 200;
    private String healthText = "";

    /**
     * @param status answer to the next completion requests; 0 ends the fault
     * @param count how many, below 0 without end
     * @param retryAfter seconds for {@code Retry-After}, 0 for none
     */
    void fail(int status, int count, int retryAfter) {
        failStatus = status;
        failures = count < 0 ? FOREVER : count;
        retryAfterSeconds = retryAfter;
    }

    /** Status the next completion request fails with, 0 for none; counts one failure. */
    int nextFailure() {
        if (failStatus == 0 || failures == 0) {
            return 0;
        }
        if (failures != FOREVER) {
            failures--;
        }
        return failStatus;
    }

    int retryAfterSeconds() {
        return retryAfterSeconds;
    }

    /** The next answer breaks off. {@code chunks}: events that are still sent. */
    void dieAfter(int chunks, End how) {
        chunksBeforeDeath = chunks;
        end = how;
    }

    /** Takes the pending death: events allowed before it, below 0 when none is pending. */
    int takeDeath() {
        int chunks = chunksBeforeDeath;
        chunksBeforeDeath = -1;
        return chunks;
    }

    /** Connections are taken, and nothing is answered, as by a process that was sent SIGSTOP. */
    void stop(boolean now) {
        stopped = now;
    }

    boolean stopped() {
        return stopped;
    }

    /** Completion requests begin this much later than they came. */
    void delay(Duration by) {
        delay = by;
    }

    Duration delay() {
        return delay;
    }

    /** What {@code /health} answers. */
    void health(int status, String text) {
        healthStatus = status;
        healthText = text;
    }

    int healthStatus() {
        return healthStatus;
    }

    String healthText() {
        return healthText;
    }

    /** Chats begin with this from now on, as with another version of their template. */
    void startTemplateWith(String text) {
        templateStart = text;
    }

    String templateStart() {
        return templateStart;
    }

    End end() {
        return end;
    }
}
