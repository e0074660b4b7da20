package io.warmpath.gateway.migration;

import com.fasterxml.jackson.core.JsonToken;
import com.fasterxml.jackson.databind.JsonNode;
import io.vertx.core.buffer.Buffer;
import io.warmpath.gateway.request.BodyMembers;
import io.warmpath.gateway.request.BodyMembers.Member;
import io.warmpath.gateway.request.GatewayJson;
import io.warmpath.upstream.answer.StreamText;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Objects;
import java.util.Set;

/**
 * A request as it is asked again when a part of its answer has been passed on: the part is put
 * behind the prompt, and the limits on length count it. A completion's prompt is lengthened by the
 * text. A chat gets an assistant's message with {@code continue_final_message}, which SGLang and
 * vLLM both understand. All other bytes stay as they were. Not on an event loop where the body is
 * large. One thread.
 */
public final class ContinuedBody {
    /** The engines' own, for completions that name none. */
    private static final int COMPLETION_TOKENS = 16;

    /** What makes an engine follow a grammar. */
    private static final Set<String> GRAMMARS =
            Set.of(
                    ("structured_outputs guided_json guided_regex guided_choice guided_grammar"
                                    + " json_schema regex ebnf structural_tag grammar")
                            .split(" ", -1));

    /** What an engine keeps, or another one has prepared for it. */
    private static final Set<String> SESSIONS =
            Set.of("session_params", "session_id", "kv_transfer_params", "bootstrap_room");

    private static final Set<String> LIMITS = Set.of("max_tokens", "max_completion_tokens");

    private final byte[] body;
    private final BodyMembers members;
    private final boolean chat;

    private record Splice(int from, int to, byte[] text) {}

    private ContinuedBody(byte[] body, BodyMembers members, boolean chat) {
        this.body = body;
        this.members = members;
        this.chat = chat;
    }

    /** {@code chat}: of {@code /v1/chat/completions}; else of {@code /v1/completions}. */
    public static ContinuedBody of(byte[] body, boolean chat) throws NotContinuedException {
        try {
            return new ContinuedBody(body, BodyMembers.of(body), chat);
        } catch (IOException e) {
            throw new NotContinuedException(WhyNot.PROMPT); // the engine has read more into it
        }
    }

    /** Looks for what forbids going on. {@code said}: what the client has. */
    public void check(StreamText said) throws NotContinuedException {
        refuseIf(said.isLost(), WhyNot.TOO_LARGE);
        refuseIf(said.hasOther() || forcesTool(), WhyNot.TOOL_CALLS);
        refuseIf(said.hasReasoning(), WhyNot.REASONING);
        refuseIf(
                members.isSet("logprobs")
                        || members.isAbove("top_logprobs", 0)
                        || members.isSet("prompt_logprobs")
                        || members.isSet("return_logprob"),
                WhyNot.LOGPROBS);
        refuseIf(
                members.isAbove("n", 1)
                        || members.isAbove("best_of", 1)
                        || members.isSet("use_beam_search"),
                WhyNot.SEVERAL);
        refuseIf(members.isSet("echo"), WhyNot.ECHO);
        refuseIf(
                GRAMMARS.stream().anyMatch(members::has) || hasResponseFormat(), WhyNot.STRUCTURED);
        refuseIf(SESSIONS.stream().anyMatch(members::has) || controlsSession(), WhyNot.SESSION);
        refuseIf(!canGrow(), WhyNot.PROMPT);
        refuseIf(endsInside(text(said.escaped())), WhyNot.STOP);
    }

    private static void refuseIf(boolean so, WhyNot why) throws NotContinuedException {
        if (so) {
            throw new NotContinuedException(why);
        }
    }

    private boolean forcesTool() {
        Member choice = members.get("tool_choice");
        Member call = members.get("function_call");
        return (choice != null
                        && (choice.kind() == JsonToken.START_OBJECT
                                || choice.text().equals("required")))
                || (call != null && call.kind() == JsonToken.START_OBJECT);
    }

    private boolean hasResponseFormat() {
        Member format = members.get("response_format");
        if (format == null || format.isNull()) {
            return false;
        }
        return !(format.kind() == JsonToken.START_OBJECT
                && "text".equals(tree(format).path("type").textValue()));
    }

    private boolean controlsSession() {
        Member nvext = members.get("nvext");
        return nvext != null
                && nvext.kind() == JsonToken.START_OBJECT
                && tree(nvext).hasNonNull("session_control");
    }

    private JsonNode tree(Member m) {
        return GatewayJson.tree(
                new String(body, m.start(), m.end() - m.start(), StandardCharsets.UTF_8));
    }

    private boolean canGrow() {
        if (chat) {
            Member messages = members.get("messages");
            return messages != null
                    && messages.kind() == JsonToken.START_ARRAY
                    && !messages.empty()
                    && !members.isSet("continue_final_message");
        }
        Member prompt = members.get("prompt");
        return prompt != null
                && prompt.kind() == JsonToken.VALUE_STRING
                && !members.has("suffix")
                && !members.has("prompt_embeds");
    }

    /** A stop text may have begun in what the client has; the next engine would not see that. */
    private boolean endsInside(String text) {
        for (String stop : stops()) {
            for (int n = Math.min(stop.length() - 1, text.length()); n > 0; n--) {
                if (text.endsWith(stop.substring(0, n))) {
                    return true;
                }
            }
        }
        return false;
    }

    private List<String> stops() {
        Member stop = members.get("stop");
        if (stop == null) {
            return List.of();
        }
        return switch (stop.kind()) {
            case VALUE_STRING -> List.of(stop.text());
            case START_ARRAY -> tree(stop).valueStream().map(JsonNode::asText).toList();
            default -> List.of(); // the engine has taken it for something else
        };
    }

    /** No token is left of what the client allows. */
    public boolean isSpent(int made) {
        return limit() >= 0 && limit() <= made;
    }

    /** Tokens that the answer may have; -1 when the request does not say. */
    private long limit() {
        long least = -1;
        for (String name : LIMITS) {
            long n = members.number(name);
            least = n < 0 ? least : least < 0 ? n : Math.min(least, n);
        }
        return least < 0 && !chat ? COMPLETION_TOKENS : least;
    }

    /** {@code said}: inside of a JSON string. {@code made}: how many tokens it has. */
    public Buffer write(byte[] said, int made) {
        List<Splice> splices = new ArrayList<>();
        StringBuilder added = new StringBuilder();
        if (chat) {
            Member messages = members.get("messages");
            if (messages == null) {
                throw new IllegalStateException("a chat without messages was not refused");
            }
            splices.add(
                    insert(
                            messages.end() - 1,
                            Buffer.buffer(",{\"role\":\"assistant\",\"content\":\"")
                                    .appendBytes(said)
                                    .appendString("\"}")
                                    .getBytes()));
            set("add_generation_prompt", "false", splices, added);
            set("continue_final_message", "true", splices, added);
        } else {
            Member prompt = members.get("prompt");
            if (prompt == null) {
                throw new IllegalStateException("a completion without prompt was not refused");
            }
            splices.add(insert(prompt.end() - 1, said));
            if (members.number("max_tokens") < 0) {
                set("max_tokens", Integer.toString(COMPLETION_TOKENS - made), splices, added);
            }
        }
        for (String name : LIMITS) {
            if (members.number(name) >= 0) {
                set(name, Long.toString(members.number(name) - made), splices, added);
            }
        }
        long least = members.number("min_tokens");
        if (least > 0) {
            set("min_tokens", Long.toString(Math.max(0, least - made)), splices, added);
        }
        if (!added.isEmpty()) {
            splices.add(
                    insert(
                            members.afterBrace(),
                            added.toString().getBytes(StandardCharsets.UTF_8)));
        }
        return splice(splices);
    }

    private static Splice insert(int at, byte[] text) {
        return new Splice(at, at, text);
    }

    private void set(String name, String value, List<Splice> splices, StringBuilder added) {
        Member old = members.get(name);
        if (old == null) {
            added.append('"').append(name).append("\":").append(value).append(',');
        } else {
            splices.add(new Splice(old.start(), old.end(), value.getBytes(StandardCharsets.UTF_8)));
        }
    }

    private Buffer splice(List<Splice> splices) {
        splices.sort(Comparator.comparingInt(Splice::from));
        Buffer out = Buffer.buffer(body.length + 256);
        int at = 0;
        for (Splice s : splices) {
            out.appendBytes(body, at, s.from() - at).appendBytes(s.text());
            at = s.to();
        }
        return out.appendBytes(body, at, body.length - at);
    }

    /** What the inside of a JSON string says. */
    public static String text(byte[] escaped) {
        String json = '"' + new String(escaped, StandardCharsets.UTF_8) + '"';
        return Objects.requireNonNull(GatewayJson.tree(json).textValue(), "not JSON");
    }
}
