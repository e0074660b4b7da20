package io.warmpath.api.admin;

import java.util.Optional;

/** What prompt tokens cost that are computed. {@code perMillionTokens}: empty: nobody has said. */
public record UsagePrice(Optional<Double> perMillionTokens, String currency) {}
