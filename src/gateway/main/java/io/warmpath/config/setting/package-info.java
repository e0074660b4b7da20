/** What a key is: name, type, unit, default, note; sizes and time spans as text. */
@NullMarked
package io.warmpath.config.setting;

import org.jspecify.annotations.NullMarked;
