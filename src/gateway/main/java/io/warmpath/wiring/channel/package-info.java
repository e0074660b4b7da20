/** The channels of records as beans of reactive messaging. */
@org.jspecify.annotations.NullMarked
package io.warmpath.wiring.channel;
