package io.warmpath.gateway.flow;

import io.warmpath.gateway.agent.NextTurn;
import io.warmpath.gateway.answer.AnswerReport;
import io.warmpath.gateway.pin.Pins;
import io.warmpath.gateway.request.Sender;
import io.warmpath.load.LoadBook;
import io.warmpath.upstream.EngineClient;
import java.util.function.LongSupplier;

/**
 * What a request meets at its worker.
 *
 * @param fallbacks workers that are named beside the chosen one, at most
 * @param namesPrefill who computes the prompt is only named, by {@link
 *     io.warmpath.gateway.request.Prefiller#HEADER}: what stands before the engine asks it
 * @param random 64 random bits
 * @param pins what clients want to have kept in cache
 * @param nextTurns what is computed ahead once an answer has ended
 * @param reports what is held against engines' own figures
 */
public record Sending(
        LoadBook load,
        EngineClient engines,
        int fallbacks,
        boolean namesPrefill,
        LongSupplier random,
        Pins pins,
        NextTurn.Parts nextTurns,
        AnswerReport.Parts reports) {
    Sending by(Sender sender) {
        return new Sending(
                load, sender.engines(), sender.fallbacks(), true, random, pins, nextTurns, reports);
    }
}
