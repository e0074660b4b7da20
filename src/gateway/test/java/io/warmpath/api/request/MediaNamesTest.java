package io.warmpath.api.request;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertSame;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.vertx.core.MultiMap;
import io.vertx.core.buffer.Buffer;
import io.warmpath.fleet.EngineKind;
import io.warmpath.fleet.Worker;
import io.warmpath.gateway.request.BodyChanges;
import io.warmpath.gateway.request.EngineForm;
import io.warmpath.gateway.request.InferenceRequest;
import io.warmpath.prefix.WorkerSlot;
import io.warmpath.tokens.profile.ChatMedia;
import io.warmpath.tokens.template.PromptInput;
import java.net.URI;
import java.util.List;
import java.util.Set;
import org.junit.jupiter.api.Test;

/** Media get their names in the body that an engine is sent. */
class MediaNamesTest {
    private static final String BODY =
            """
            {"messages": [{"role": "user", "content": [{"type": "image_url"}]}], "model": "m",
             "x": {"content": [{"type": "image_url"}]},
             "messages": [
               {"role": "system", "content": "é"},
               {"role": "user", "content": [
                 {"type": "text", "text": "{\\"type\\": \\"image_url\\"}"},
                 { "type":"image_url","image_url":{"url":"data:image/png;base64,AAAA","type":"x"}},
                 {"image_url": {"url": "http://127.0.0.1/a.png"}, "type": "image_url"},
                 {"type": "image_url", "uuid": "mine", "image_url": "data:,b"},
                 {"type": "text", "type": "video_url", "video_url": {"url": "data:,é"}}]},
               {"content": [{"type": "image_url"}], "role": "user", "content": "twice"},
               {"role": "user", "content": [
                 {"type": "input_audio", "input_audio": {"data": "AA", "format": "wav"}}]}]}
            """;

    private static InferenceRequest request(String body) {
        return RequestParser.parse(
                RequestParser.Endpoint.CHAT,
                "id",
                "/v1/chat/completions",
                MultiMap.caseInsensitiveMultiMap(),
                Buffer.buffer(body),
                new RequestParser.Terms(false, true, true));
    }

    private static Buffer sent(InferenceRequest request, EngineKind kind, BodyChanges changes) {
        Worker worker =
                Worker.builder(1, "w", URI.create("http://w"))
                        .kind(kind)
                        .models(Set.of("m"))
                        .blockSize(16)
                        .ranks(List.of(new Worker.Rank(0, new WorkerSlot(0))))
                        .build();
        return EngineForm.AS_SENT.write(request, worker, changes).body();
    }

    private static ChatMedia told(InferenceRequest request) {
        PromptInput.Conversation chat =
                assertInstanceOf(PromptInput.Conversation.class, request.prompt());
        ChatMedia media = ChatMedia.of(chat.source().get());
        assertNotNull(media);
        chat.extent().media(media.media());
        return media;
    }

    @Test
    void what_an_engine_is_sent_has_the_name_of_each_medium_that_is_in_it() throws Exception {
        InferenceRequest request = request(BODY);
        assertSame(request.body(), sent(request, EngineKind.VLLM, BodyChanges.NONE));
        ChatMedia media = told(request);
        JsonNode read =
                new ObjectMapper()
                        .readTree(
                                sent(request, EngineKind.VLLM, BodyChanges.NONE.withModel("other"))
                                        .getBytes());
        assertEquals("other", read.path("model").asText());
        JsonNode parts = read.at("/messages/1/content");
        assertEquals(media.media().get(0).name(), parts.at("/1/uuid").textValue());
        assertEquals("image_url", parts.at("/1/type").textValue());
        assertEquals("data:image/png;base64,AAAA", parts.at("/1/image_url/url").textValue());
        assertNull(parts.at("/2/uuid").textValue());
        assertEquals("mine", parts.at("/3/uuid").textValue());
        assertEquals(media.media().get(3).name(), parts.at("/4/uuid").textValue());
        assertEquals(
                media.media().get(4).name(), read.at("/messages/3/content/0/uuid").textValue());
        assertEquals(5, media.media().size());
    }

    @Test
    void engines_that_take_no_names_and_bodies_without_media_are_sent_as_they_are() {
        InferenceRequest request = request(BODY);
        told(request);
        assertSame(request.body(), sent(request, EngineKind.SGLANG, BodyChanges.NONE));
        InferenceRequest plain =
                request("{\"model\":\"m\",\"messages\":[{\"role\":\"user\",\"content\":\"a\"}]}");
        assertSame(plain.body(), sent(plain, EngineKind.VLLM, BodyChanges.NONE));
    }
}
