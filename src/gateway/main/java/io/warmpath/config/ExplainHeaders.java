package io.warmpath.config;

/** When answers say in headers why their worker was chosen. */
public enum ExplainHeaders {
    OFF,
    ON_REQUEST,
    ALWAYS
}
