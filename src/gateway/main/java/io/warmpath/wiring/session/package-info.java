/** Sessions, pins, and what several gateways tell each other of both. */
@NullMarked
package io.warmpath.wiring.session;

import org.jspecify.annotations.NullMarked;
