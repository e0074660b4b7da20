/** From configuration to the options that the domain's objects take, checked. */
@org.jspecify.annotations.NullMarked
package io.warmpath.wiring.settings;
