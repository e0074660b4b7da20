package io.warmpath.api.messages;

import static io.warmpath.api.error.InvalidRequest.bad;

import com.fasterxml.jackson.core.JsonProcessingException;
import io.vertx.core.buffer.Buffer;
import io.warmpath.api.error.InvalidRequest;
import io.warmpath.api.json.JsonTree;
import io.warmpath.fault.GatewayException;
import io.warmpath.net.HeapBytes;
import java.io.IOException;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;

/**
 * A body of Anthropic's Messages API as one of {@code /v1/chat/completions}. What is mapped to what
 * is listed in {@code src/docs/reference/anthropic.md}. Reads trees, so not on an event loop where
 * the body is large. One thread.
 */
final class MessagesRequest {
    /**
     * What the answer has to know of the request.
     *
     * @param chat the body for engines
     * @param model empty when the body names none; then it is refused later
     * @param stops {@code stop_sequences}
     */
    record Translated(Buffer chat, String model, List<String> stops) {}

    /** Read here, or meant for Anthropic's servers only. All others are passed on as they are. */
    private static final Set<String> OURS =
            Set.of(
                    ("system messages tools tool_choice stop_sequences metadata thinking"
                                    + " output_config output_format stream stream_options"
                                    + " max_tokens max_completion_tokens chat_template_kwargs"
                                    + " mcp_servers cache_control container context_management"
                                    + " inference_geo service_tier speed anthropic_version"
                                    + " anthropic_beta betas n")
                            .split(" ", -1));

    private final JsonMembers body;
    private final Map<String, @Nullable Object> out = new LinkedHashMap<>();
    private final MessagesHints hints = new MessagesHints();

    private MessagesRequest(JsonMembers body) {
        this.body = body;
    }

    /**
     * @param toCount only its tokens are wanted: {@code max_tokens} may be missing, nothing streams
     * @param laterSystem whether a model's template takes system messages behind others; asked only
     *     where there are such
     * @throws GatewayException BadRequest with the member's path
     */
    static Translated translate(Buffer anthropic, boolean toCount, Predicate<String> laterSystem) {
        HeapBytes bytes = HeapBytes.of(anthropic);
        InvalidRequest.rejectOtherEncodings(bytes);
        Map<String, @Nullable Object> body;
        try {
            body = JsonTree.object(bytes.array(), bytes.offset(), bytes.length());
        } catch (JsonProcessingException e) {
            throw InvalidRequest.notJson(e);
        } catch (IOException e) {
            throw bad("", "The request body cannot be read: " + e.getMessage() + ".");
        }
        return new MessagesRequest(new JsonMembers("", body)).translated(toCount, laterSystem);
    }

    private Translated translated(boolean toCount, Predicate<String> laterSystem) {
        String model = body.text("model");
        out.put("model", model);
        sampling(toCount);
        template();
        List<String> stops = stops();
        if (!body.list("mcp_servers").isEmpty()) {
            throw bad(
                    "mcp_servers",
                    "MCP servers are called by Anthropic's servers, not by engines; give their"
                            + " tools in `tools`.");
        }
        tools();
        for (Map.Entry<String, @Nullable Object> member : body.all().entrySet()) {
            if (!OURS.contains(member.getKey())) {
                out.putIfAbsent(member.getKey(), member.getValue());
            }
        }
        hints.cached(body);
        MessagesContent content = new MessagesContent(hints);
        content.chat(body, () -> laterSystem.test(model == null ? "" : model));
        Object nvext = hints.nvext(body.all().get("nvext"));
        if (nvext != null) {
            out.put("nvext", nvext);
        }
        out.put("messages", content.messages());
        if (content.endsInsideAnswer()) {
            out.put("add_generation_prompt", false);
            out.put("continue_final_message", true);
        }
        return new Translated(
                Buffer.buffer(JsonTree.bytes(out)), model == null ? "" : model, stops);
    }

    private void sampling(boolean toCount) {
        Long limit = body.whole("max_tokens");
        if (limit != null && limit >= 1) {
            out.put("max_tokens", limit);
        } else if (limit != null || !toCount) {
            throw bad("max_tokens", "You must provide `max_tokens`, an integer of 1 or more.");
        }
        Boolean stream = body.flag("stream");
        if (stream != null && stream && !toCount) {
            out.put("stream", true);
            out.put("stream_options", Map.of("include_usage", true));
        }
        JsonMembers metadata = body.object("metadata");
        String user = metadata == null ? null : metadata.text("user_id");
        if (user != null) {
            out.put("user", user);
            hints.user(user);
        }
    }

    private List<String> stops() {
        List<String> stops = new ArrayList<>();
        List<@Nullable Object> given = body.list("stop_sequences");
        for (int i = 0; i < given.size(); i++) {
            if (!(given.get(i) instanceof String text)) {
                throw bad("stop_sequences[" + i + "]", "A stop sequence must be a string.");
            }
            stops.add(text);
        }
        if (!stops.isEmpty()) {
            out.put("stop", stops);
        }
        return stops;
    }

    /** Thinking, effort and the form of the answer, as far as engines know them. */
    private void template() {
        Map<String, @Nullable Object> arguments = new LinkedHashMap<>();
        JsonMembers thinking = body.object("thinking");
        if (thinking != null) {
            boolean on = !"disabled".equals(thinking.text("type"));
            arguments.put("enable_thinking", on);
            arguments.put("thinking", on);
        }
        JsonMembers own = body.object("chat_template_kwargs");
        if (own != null) {
            arguments.putAll(own.all());
        }
        if (!arguments.isEmpty()) {
            out.put("chat_template_kwargs", arguments);
        }
        JsonMembers output = body.object("output_config");
        String effort = output == null ? null : output.text("effort");
        if (effort != null) {
            boolean known = effort.equals("low") || effort.equals("medium");
            out.put("reasoning_effort", known ? effort : "high");
        }
        JsonMembers format = output == null ? null : output.object("format");
        if (format == null) {
            format = body.object("output_format");
        }
        if (format != null) {
            Map<String, @Nullable Object> schema = new LinkedHashMap<>();
            schema.put("name", "answer");
            schema.put("schema", format.required("schema").all());
            out.put("response_format", members("type", "json_schema", "json_schema", schema));
        }
    }

    private void tools() {
        List<JsonMembers> given = body.objects("tools");
        List<@Nullable Object> tools = new ArrayList<>();
        for (JsonMembers tool : given) {
            String type = tool.text("type");
            if (type != null && !type.equals("custom")) {
                throw bad(
                        tool.path("type"),
                        "`"
                                + type
                                + "` is a tool of Anthropic's; engines know those with an"
                                + " `input_schema` only.");
            }
            hints.cached(tool);
            Map<String, @Nullable Object> function = new LinkedHashMap<>();
            function.put("name", tool.requiredText("name"));
            String description = tool.text("description");
            if (description != null) {
                function.put("description", description);
            }
            function.put("parameters", tool.required("input_schema").all());
            tools.add(members("type", "function", "function", function));
        }
        if (!tools.isEmpty()) {
            out.put("tools", tools);
        }
        JsonMembers choice = body.object("tool_choice");
        if (choice != null) {
            choose(choice, !tools.isEmpty());
        }
    }

    private void choose(JsonMembers choice, boolean tools) {
        String type = choice.requiredText("type");
        Object chosen =
                switch (type) {
                    case "auto", "none" -> type;
                    case "any" -> "required";
                    case "tool" ->
                            members(
                                    "type",
                                    "function",
                                    "function",
                                    Map.of("name", choice.requiredText("name")));
                    default ->
                            throw bad(
                                    choice.path("type"),
                                    "`" + type + "` is not auto, any, tool or none.");
                };
        if (tools) {
            out.put("tool_choice", chosen);
        } else if (!type.equals("auto") && !type.equals("none")) {
            throw bad("tool_choice", "A tool is asked for, but there are no `tools`.");
        }
        Boolean alone = choice.flag("disable_parallel_tool_use");
        if (tools && alone != null && alone) {
            out.put("parallel_tool_calls", false);
        }
    }

    static Map<String, @Nullable Object> members(String a, Object x, String b, Object y) {
        Map<String, @Nullable Object> members = new LinkedHashMap<>();
        members.put(a, x);
        members.put(b, y);
        return members;
    }
}
