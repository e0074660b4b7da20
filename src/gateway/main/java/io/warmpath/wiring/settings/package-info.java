/** From configuration to the options that the domain's objects take, checked. */
@NullMarked
package io.warmpath.wiring.settings;

import org.jspecify.annotations.NullMarked;
