/**
 * What each engine does to a chat request before the model's template sees it: one pure normaliser
 * per engine kind, written for one version of the engine. JDK only.
 */
@org.jspecify.annotations.NullMarked
package io.warmpath.tokens.profile;
