/** The routers, one a mode, and their choice among scored candidates. */
@NullMarked
package io.warmpath.routing.modes;

import org.jspecify.annotations.NullMarked;
