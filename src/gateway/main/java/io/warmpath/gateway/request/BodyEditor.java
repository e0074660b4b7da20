package io.warmpath.gateway.request;

import io.vertx.core.buffer.Buffer;
import io.warmpath.tokens.template.PromptInput;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Changes members of a JSON body by splicing bytes; every other byte stays as the client sent it.
 * What is absent is added in front, what is there is replaced in its place. One per edit.
 */
public final class BodyEditor {
    private static final String USAGE = "\"include_usage\":true";

    /** {@code text} instead of the bytes of {@code at}. */
    private record Splice(ByteRange at, String text) {}

    private final Buffer body;
    private final BodyEdits at;
    private final List<Splice> splices = new ArrayList<>(4);
    private final StringBuilder added = new StringBuilder();
    private boolean emptied;

    private BodyEditor(Buffer body, BodyEdits at) {
        this.body = body;
        this.at = at;
        this.emptied = at.emptyObject();
    }

    /** Returns the body itself when there is nothing to change. */
    public static Buffer edit(Buffer body, BodyEdits at, BodyChanges changes) {
        return edit(body, at, changes, null);
    }

    /** {@code media}: get their names, too; null: none does. */
    static Buffer edit(
            Buffer body, BodyEdits at, BodyChanges changes, PromptInput.@Nullable Extent media) {
        boolean changed = !changes.equals(BodyChanges.NONE);
        if (!changed && media == null) {
            return body;
        }
        BodyEditor editor = new BodyEditor(body, at);
        if (changed) {
            editor.collect(changes);
        }
        if (media != null) {
            media.names(
                    (place, member) ->
                            editor.splices.add(new Splice(new ByteRange(place, place), member)));
        }
        return editor.splices.isEmpty() ? body : editor.splice();
    }

    private void collect(BodyChanges changes) {
        if (changes.dpRank().isPresent() && !at.hasRank()) {
            set(at.rank(), "routed_dp_rank", Integer.toString(changes.dpRank().getAsInt()));
        }
        if (changes.cacheSalt() != null) {
            set(at.cacheSalt(), "cache_salt", GatewayJson.quoted(changes.cacheSalt()));
        }
        if (changes.model() != null) {
            model(changes.model());
        }
        if (changes.priority().isPresent()) {
            set(at.priority(), "priority", Integer.toString(changes.priority().getAsInt()));
        }
        if (changes.greedy()) {
            set(at.temperature(), "temperature", "0");
        }
        if (changes.sessionId() != null) {
            set(ByteRange.ABSENT, "session_id", GatewayJson.quoted(changes.sessionId()));
        }
        switch (changes.half()) {
            case null -> {}
            case Bootstrap meeting -> {
                set(ByteRange.ABSENT, "bootstrap_host", GatewayJson.quoted(meeting.host()));
                set(ByteRange.ABSENT, "bootstrap_port", Integer.toString(meeting.port()));
                set(ByteRange.ABSENT, "bootstrap_room", Long.toString(meeting.room()));
            }
            case Half.Keep keep -> prefillOnly(at.answer(), HandOff.WANTED);
            case Half.Offer offer -> prefillOnly(at.answer(), HandOff.of(offer));
            case Half.Take take -> set(ByteRange.ABSENT, HandOff.MEMBER, HandOff.of(take));
        }
        if (changes.includeUsage()) {
            includeUsage();
        }
        if (changes.dropNvext() && !at.nvext().isEmpty()) {
            dropNvext();
        }
        if (!added.isEmpty()) {
            if (!emptied) {
                added.append(',');
            }
            splices.add(
                    new Splice(new ByteRange(at.afterBrace(), at.afterBrace()), added.toString()));
        }
    }

    /** In a form, where it is no JSON, its value stands without quotes. */
    private void model(String name) {
        ByteRange old = at.model();
        if (old.present() && body.getByte(old.start()) != '"') {
            splices.add(new Splice(old, name));
        } else {
            set(old, "model", GatewayJson.quoted(name));
        }
    }

    /** One token in one piece; what the client wants of its answer is the other engine's. */
    private void prefillOnly(BodyEdits.Answer answer, String params) {
        set(answer.maxTokens(), "max_tokens", "1");
        if (answer.maxCompletionTokens().present()) {
            set(answer.maxCompletionTokens(), "max_completion_tokens", "1");
        }
        if (answer.minTokens().present()) {
            set(answer.minTokens(), "min_tokens", "0");
        }
        if (answer.stream().present()) {
            set(answer.stream(), "stream", "false");
        }
        if (at.streamOptions().present()) {
            set(at.streamOptions(), "stream_options", "null");
        }
        set(ByteRange.ABSENT, HandOff.MEMBER, params);
    }

    private void set(ByteRange old, String name, String value) {
        if (old.present()) {
            splices.add(new Splice(old, value));
        } else {
            added.append(added.isEmpty() ? "\"" : ",\"").append(name).append("\":").append(value);
        }
    }

    private void includeUsage() {
        ByteRange options = at.streamOptions();
        ByteRange usage = at.includeUsage();
        if (!options.present() || body.getByte(options.start()) != '{') {
            set(options, "stream_options", '{' + USAGE + '}');
        } else if (!usage.present()) {
            int inside = options.start() + 1;
            boolean empty = body.getByte(forward(inside)) == '}';
            splices.add(new Splice(new ByteRange(inside, inside), empty ? USAGE : USAGE + ','));
        } else if (body.getByte(usage.start()) != 't') {
            splices.add(new Splice(usage, "true"));
        }
    }

    /** With each member goes one comma: the one behind it, or before it when it is the last. */
    private void dropNvext() {
        Splice last = null;
        for (ByteRange member : at.nvext()) {
            int start = member.start();
            if (last != null && forward(last.at().end()) == start) {
                // The comma between the two is gone already.
                start = last.at().start();
                splices.remove(last);
            }
            int end = member.end();
            int next = forward(end);
            int before = backward(start - 1);
            if (body.getByte(next) == ',') {
                end = next + 1;
            } else if (body.getByte(before) == ',') {
                start = before;
            } else {
                emptied = true;
            }
            last = new Splice(new ByteRange(start, end), "");
            splices.add(last);
        }
    }

    private int forward(int p) {
        while (isSpace(body.getByte(p))) {
            p++;
        }
        return p;
    }

    private int backward(int p) {
        while (isSpace(body.getByte(p))) {
            p--;
        }
        return p;
    }

    private static boolean isSpace(byte c) {
        return c == ' ' || c == '\n' || c == '\r' || c == '\t';
    }

    private Buffer splice() {
        // An added member comes before what is cut out behind the brace.
        splices.sort(
                Comparator.<Splice>comparingInt(s -> s.at().start())
                        .thenComparingInt(s -> s.at().end()));
        int more = 0;
        for (Splice s : splices) {
            more += 3 * s.text().length();
        }
        Buffer out = Buffer.buffer(body.length() + more);
        int from = 0;
        for (Splice s : splices) {
            out.appendBuffer(body, from, s.at().start() - from);
            out.appendString(s.text());
            from = s.at().end();
        }
        return out.appendBuffer(body, from, body.length() - from);
    }
}
