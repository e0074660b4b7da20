/** Which addresses a worker may have: ranges and rules against forged registrations. */
@NullMarked
package io.warmpath.fleet.address;

import org.jspecify.annotations.NullMarked;
