/** What a key is: name, type, unit, default, note; sizes and time spans as text. */
@org.jspecify.annotations.NullMarked
package io.warmpath.config.setting;
