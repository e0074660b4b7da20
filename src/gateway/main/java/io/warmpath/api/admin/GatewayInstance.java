package io.warmpath.api.admin;

import com.fasterxml.jackson.annotation.JsonProperty;

/**
 * This process.
 *
 * @param id random: another one after a restart
 * @param version of the gateway
 */
public record GatewayInstance(@JsonProperty("instance") String id, String version) {}
