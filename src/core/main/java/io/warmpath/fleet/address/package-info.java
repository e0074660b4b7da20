/** Which addresses a worker may have: ranges and rules against forged registrations. */
@org.jspecify.annotations.NullMarked
package io.warmpath.fleet.address;
