/** Sessions, pins, and what several gateways tell each other of both. */
@org.jspecify.annotations.NullMarked
package io.warmpath.wiring.session;
