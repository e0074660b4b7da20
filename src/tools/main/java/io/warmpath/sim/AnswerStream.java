package io.warmpath.sim;

import io.warmpath.sim.engine.Sequence;
import io.warmpath.sim.http.SimExchange;
import io.warmpath.sim.model.AnswerWriter;
import java.util.Arrays;

/** Writes one request's answer as its tokens come. Engine's thread only. */
final class AnswerStream implements Sequence.Listener {
    private final SimExchange exchange;
    private final AnswerShape shape;
    private final AnswerShape.Head head;
    private final CompletionRequest request;
    private final AnswerWriter writer;
    private final int[] answer;
    private final int promptLength;
    private final Stops.Ending ending;
    private final EventWriter events;
    private final StringBuilder text = new StringBuilder();
    private int cachedTokens;

    AnswerStream(
            SimExchange exchange,
            AnswerShape shape,
            AnswerShape.Head head,
            CompletionRequest request,
            AnswerWriter writer,
            int[] answer,
            int promptLength,
            Stops.Ending ending,
            EventWriter events) {
        this.exchange = exchange;
        this.shape = shape;
        this.head = head;
        this.request = request;
        this.writer = writer;
        this.answer = answer;
        this.promptLength = promptLength;
        this.ending = ending;
        this.events = events;
    }

    @Override
    public void started(int cached, int hostTokens) {
        cachedTokens = cached;
        if (!request.stream()) {
            return;
        }
        exchange.beginStream();
        if (request.chat()) {
            events.send(shape.role(head));
        }
    }

    @Override
    public void token(int index) {
        int said = Math.min(text.length(), ending.characters());
        text.append(writer.piece(answer[index]));
        if (!request.stream()) {
            return;
        }
        boolean last = index == answer.length - 1;
        events.send(
                shape.token(
                        head,
                        text.substring(said, Math.min(text.length(), ending.characters())),
                        answer[index],
                        last ? ending : null,
                        index == 0));
    }

    @Override
    public void finished() {
        AnswerShape.Usage usage = new AnswerShape.Usage(promptLength, answer.length, cachedTokens);
        if (!request.stream()) {
            events.whole(
                    shape.whole(
                            head,
                            text.substring(0, ending.characters()),
                            Arrays.copyOf(answer, answer.length),
                            ending,
                            usage));
            return;
        }
        String end = shape.end(head, ending);
        if (end != null) {
            events.send(end);
        }
        if (request.includeUsage()) {
            events.send(shape.usage(head, usage));
        }
        events.send("[DONE]");
        events.end();
    }
}
