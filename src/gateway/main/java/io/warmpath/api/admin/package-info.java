/**
 * Operators' questions and commands, as REST resources: workers, sessions, pins, models, replicas,
 * event sources, decisions, thresholds. One filter asks who may, one mapper answers errors.
 */
@org.jspecify.annotations.NullMarked
package io.warmpath.api.admin;
