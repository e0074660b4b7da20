package io.warmpath.gateway.request;

import io.vertx.core.buffer.Buffer;
import java.util.List;

/**
 * Where the body's JSON can be changed without parsing it again. All spans are of the top level's
 * members; of one given twice the last, as the engines read it.
 *
 * @param afterBrace just behind the opening brace of the top-level object
 * @param emptyObject the object has no member, so nothing follows an added one
 * @param hasRank a dp rank field is there already; then none is added
 * @param rank value of {@code routed_dp_rank}
 * @param model value of {@code model}
 * @param cacheSalt value of {@code cache_salt}
 * @param priority value of {@code priority}
 * @param temperature value of {@code temperature}
 * @param streamOptions value of {@code stream_options}
 * @param includeUsage value of {@code include_usage} in it
 * @param answer how the answer is wanted
 * @param nvext every {@code nvext}, from its name's opening quote to its value's end
 */
public record BodyEdits(
        int afterBrace,
        boolean emptyObject,
        boolean hasRank,
        ByteRange rank,
        ByteRange model,
        ByteRange cacheSalt,
        ByteRange priority,
        ByteRange temperature,
        ByteRange streamOptions,
        ByteRange includeUsage,
        Answer answer,
        List<ByteRange> nvext) {
    /** Values of the members of these names. */
    public record Answer(
            ByteRange stream,
            ByteRange maxTokens,
            ByteRange maxCompletionTokens,
            ByteRange minTokens) {
        public static final Answer UNSAID =
                new Answer(ByteRange.ABSENT, ByteRange.ABSENT, ByteRange.ABSENT, ByteRange.ABSENT);
    }

    /** The client wants the stream's usage itself. */
    public boolean asksForUsage(Buffer body) {
        return includeUsage.present() && body.getByte(includeUsage.start()) == 't';
    }
}
