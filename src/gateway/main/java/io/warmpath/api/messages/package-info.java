/** Anthropic's Messages API, translated to and from OpenAI's chats. */
@NullMarked
package io.warmpath.api.messages;

import org.jspecify.annotations.NullMarked;
