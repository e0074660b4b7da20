/** Whether prompts are here what they are in the engines: lengths compared, trust lost and won. */
@org.jspecify.annotations.NullMarked
package io.warmpath.gateway.selfcheck;
