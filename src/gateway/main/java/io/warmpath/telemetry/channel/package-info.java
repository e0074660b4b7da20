/** Records of requests and decisions for others' systems, through reactive messaging. */
@org.jspecify.annotations.NullMarked
package io.warmpath.telemetry.channel;
