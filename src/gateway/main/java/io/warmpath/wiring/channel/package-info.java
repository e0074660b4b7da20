/** The channels of records as beans of reactive messaging. */
@NullMarked
package io.warmpath.wiring.channel;

import org.jspecify.annotations.NullMarked;
