/** Whether prompts are here what they are in the engines: lengths compared, trust lost and won. */
@NullMarked
package io.warmpath.gateway.selfcheck;

import org.jspecify.annotations.NullMarked;
