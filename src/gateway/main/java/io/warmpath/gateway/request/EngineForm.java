package io.warmpath.gateway.request;

import io.vertx.core.buffer.Buffer;
import io.warmpath.fault.GatewayException;
import io.warmpath.fleet.EngineKind;
import io.warmpath.fleet.Worker;
import io.warmpath.tokens.template.PromptInput;
import io.warmpath.upstream.UpstreamListener;

/**
 * How one request is written for the engine that was chosen, and how that engine's answer is read.
 * On the request's event loop.
 */
public interface EngineForm {
    /** The client's bytes, with the few members changed that the engine has to find otherwise. */
    EngineForm AS_SENT =
            new EngineForm() {
                @Override
                public Written write(InferenceRequest request, Worker to, BodyChanges changes) {
                    PromptInput.Extent media =
                            to.kind() == EngineKind.VLLM
                                            && request.prompt()
                                                    instanceof PromptInput.Conversation chat
                                    ? chat.extent()
                                    : null;
                    Buffer body = BodyEditor.edit(request.body(), request.edits(), changes, media);
                    return new Written(request.target(), body);
                }

                @Override
                public UpstreamListener read(Worker from, UpstreamListener next) {
                    return next;
                }
            };

    /** What is sent: path and query, and the body. */
    record Written(String target, Buffer body) {}

    /** Throws {@link GatewayException} when this worker's engine cannot be asked so. */
    Written write(InferenceRequest request, Worker to, BodyChanges changes);

    /** Whether it can be written as what is new to an engine's session ({@link SessionAppend}). */
    default boolean appends(InferenceRequest request) {
        return false;
    }

    /** What was said before in its session was put in front of what the client has sent. */
    default boolean historyAdded() {
        return false;
    }

    /** The client's own request, which changes can be made to and whose answer it reads. */
    default boolean isAsSent() {
        return this == AS_SENT;
    }

    /** Nothing will be written any more: lets go of what only {@link #write} needs. */
    default void answered() {}

    /** What listens to the engine's answer and hands it to {@code next} as the client gets it. */
    UpstreamListener read(Worker from, UpstreamListener next);
}
