/** The routers, one a mode, and their choice among scored candidates. */
@org.jspecify.annotations.NullMarked
package io.warmpath.routing.modes;
