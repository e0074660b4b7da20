package io.warmpath.api.admin;

/**
 * This process.
 *
 * @param id random: another one after a restart
 * @param version of the gateway
 */
public record GatewayInstance(String id, String version) {}
