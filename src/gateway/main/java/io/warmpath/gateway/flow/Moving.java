package io.warmpath.gateway.flow;

import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import io.warmpath.gateway.migration.Migration;
import io.warmpath.gateway.migration.MigrationOptions;
import io.warmpath.gateway.prompt.TokenLanes;
import io.warmpath.gateway.selfcheck.SelfCheck;
import io.warmpath.tokens.PromptTokens;

/**
 * What a stream needs that goes on elsewhere.
 *
 * @param tokens counts what was said
 * @param lanes for what takes its time
 * @param selfCheck which engines' templates are not to be asked
 */
public record Moving(
        Migration migration, PromptTokens tokens, TokenLanes lanes, SelfCheck selfCheck) {
    /** No stream goes on elsewhere. */
    Moving off() {
        return new Moving(
                new Migration(MigrationOptions.OFF, new SimpleMeterRegistry()),
                tokens,
                lanes,
                selfCheck);
    }
}
