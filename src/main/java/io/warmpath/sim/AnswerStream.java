package io.warmpath.sim;

import io.warmpath.sim.engine.Sequence;
import io.warmpath.sim.http.Exchange;
import io.warmpath.sim.model.AnswerWriter;
import java.util.Arrays;
import org.jspecify.annotations.Nullable;

/** Writes one request's answer as its tokens come. Engine's thread only. */
final class AnswerStream implements Sequence.Listener {
    private final Exchange exchange;
    private final AnswerShape shape;
    private final AnswerShape.Head head;
    private final CompletionRequest request;
    private final AnswerWriter writer;
    private final int[] answer;
    private final int promptLength;
    private final AnswerShape.Finish finish;
    private final @Nullable Death death;
    private final StringBuilder text = new StringBuilder();
    private int cachedTokens;
    private int events;

    /**
     * A planned end in mid-answer.
     *
     * @param events still sent
     */
    record Death(int events, Runnable act) {}

    AnswerStream(
            Exchange exchange,
            AnswerShape shape,
            AnswerShape.Head head,
            CompletionRequest request,
            AnswerWriter writer,
            int[] answer,
            int promptLength,
            AnswerShape.Finish finish,
            @Nullable Death death) {
        this.exchange = exchange;
        this.shape = shape;
        this.head = head;
        this.request = request;
        this.writer = writer;
        this.answer = answer;
        this.promptLength = promptLength;
        this.finish = finish;
        this.death = death;
    }

    @Override
    public void started(int cached, int hostTokens) {
        cachedTokens = cached;
        if (!request.stream()) {
            return;
        }
        exchange.beginStream();
        if (request.chat()) {
            send(shape.role(head));
        }
    }

    @Override
    public void token(int index) {
        String piece = writer.piece(answer[index]);
        if (!request.stream()) {
            text.append(piece);
            return;
        }
        boolean last = index == answer.length - 1;
        send(
                shape.token(
                        head,
                        piece,
                        answer[index],
                        last ? finish : null,
                        index == 0,
                        writer.endToken()));
    }

    @Override
    public void finished() {
        AnswerShape.Usage usage = new AnswerShape.Usage(promptLength, answer.length, cachedTokens);
        if (!request.stream()) {
            if (death != null) {
                death.act().run();
                return;
            }
            exchange.json(
                    200,
                    shape.whole(
                            head,
                            text.toString(),
                            Arrays.copyOf(answer, answer.length),
                            finish,
                            usage,
                            writer.endToken()));
            return;
        }
        String end = shape.end(head, finish, writer.endToken());
        if (end != null) {
            send(end);
        }
        if (request.includeUsage()) {
            send(shape.usage(head, usage));
        }
        send("[DONE]");
        exchange.endStream();
    }

    private void send(String event) {
        if (!exchange.open()) {
            return;
        }
        if (death != null && events == death.events()) {
            death.act().run();
            return;
        }
        events++;
        exchange.event(event);
    }
}
