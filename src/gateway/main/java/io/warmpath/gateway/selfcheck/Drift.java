package io.warmpath.gateway.selfcheck;

import io.warmpath.fleet.EngineKind;

/** Whose prompts are compared. */
public record Drift(String model, EngineKind kind, PromptForm form) {}
