package io.warmpath.config;

/** How the log is written. */
public enum LogFormat {
    /** For people. */
    TEXT,
    /** One JSON object a line. */
    JSON
}
