package io.warmpath.api.admin;

import com.fasterxml.jackson.annotation.JsonInclude;
import com.fasterxml.jackson.annotation.JsonRawValue;
import com.fasterxml.jackson.databind.PropertyNamingStrategies.SnakeCaseStrategy;
import com.fasterxml.jackson.databind.annotation.JsonNaming;
import io.warmpath.api.json.DecisionJson;
import io.warmpath.gateway.observe.DecisionLog.Logged;
import io.warmpath.load.PromptBlocks;
import java.util.HexFormat;
import java.util.List;
import org.eclipse.microprofile.openapi.annotations.media.Schema;
import org.jspecify.annotations.Nullable;

/**
 * One routing decision of the log.
 *
 * @param session as the client names it
 * @param decision an object
 * @param blockTokens in the file of decisions only
 * @param promptBlocks in the file of decisions only: what the prompt shares with others, half of
 *     each block's name, which is enough among the blocks that can follow one block. Without the
 *     process' secret nothing of the prompt is in it.
 */
@JsonNaming(SnakeCaseStrategy.class)
@JsonInclude(JsonInclude.Include.NON_NULL)
public record DecisionRow(
        long number,
        String time,
        String requestId,
        @Nullable String session,
        String model,
        @Schema(ref = "Decision") @JsonRawValue String decision,
        @Nullable Integer blockTokens,
        @Nullable String promptBlocks) {
    private static final HexFormat HEX = HexFormat.of();

    static DecisionRow of(Logged logged) {
        return new DecisionRow(
                logged.number(),
                logged.at().toString(),
                logged.requestId(),
                logged.session().isEmpty() ? null : logged.session(),
                logged.model(),
                DecisionJson.of(logged.decision(), List.of()),
                null,
                null);
    }

    /** With what the prompt shares with others. */
    static DecisionRow withPrompt(Logged logged) {
        DecisionRow row = of(logged);
        int blockSize = logged.decision().chosen().candidate().worker().blockSize();
        for (PromptBlocks named : logged.decision().request().prompts()) {
            if (named.blockSize() == blockSize && named.chain().length > 0) {
                StringBuilder names = new StringBuilder(8 * named.chain().length);
                for (long name : named.chain()) {
                    names.append(HEX.toHexDigits((int) name));
                }
                return new DecisionRow(
                        row.number,
                        row.time,
                        row.requestId,
                        row.session,
                        row.model,
                        row.decision,
                        blockSize,
                        names.toString());
            }
        }
        return row;
    }
}
