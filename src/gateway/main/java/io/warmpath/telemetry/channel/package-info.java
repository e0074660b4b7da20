/** Records of requests and decisions for others' systems, through reactive messaging. */
@NullMarked
package io.warmpath.telemetry.channel;

import org.jspecify.annotations.NullMarked;
