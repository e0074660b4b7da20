/** What gateways tell each other now and then, through reactive messaging over NATS. */
@NullMarked
package io.warmpath.wiring.control;

import org.jspecify.annotations.NullMarked;
