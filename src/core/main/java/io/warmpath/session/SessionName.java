package io.warmpath.session;

/** A session as gateways name it to each other: 128 keyed bits of what it is called here. */
public record SessionName(long high, long low) {}
