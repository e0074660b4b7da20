/** What gateways tell each other now and then, through reactive messaging over NATS. */
@org.jspecify.annotations.NullMarked
package io.warmpath.wiring.control;
