/** Anthropic's Messages API, translated to and from OpenAI's chats. */
@org.jspecify.annotations.NullMarked
package io.warmpath.api.messages;
