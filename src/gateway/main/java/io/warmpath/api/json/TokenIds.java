package io.warmpath.api.json;

import static io.warmpath.api.error.InvalidRequest.bad;

import com.fasterxml.jackson.core.JsonParser;
import com.fasterxml.jackson.core.JsonToken;
import java.io.IOException;
import java.util.Arrays;

/** An array of token ids, each an unsigned number of 32 bits. Any thread. */
public final class TokenIds {
    private static final long MAX_TOKEN_ID = 0xffff_ffffL;

    private TokenIds() {}

    /** The current token is the array's first element or its end. */
    public static int[] read(String name, JsonParser json) throws IOException {
        int[] ids = new int[64];
        int n = 0;
        for (JsonToken t = json.currentToken(); t != JsonToken.END_ARRAY; t = json.nextToken()) {
            boolean fits =
                    t == JsonToken.VALUE_NUMBER_INT
                            && json.getNumberType() != JsonParser.NumberType.BIG_INTEGER
                            && json.getLongValue() >= 0
                            && json.getLongValue() <= MAX_TOKEN_ID;
            if (!fits) {
                throw bad(name, "`" + name + "[" + n + "]` is not a token id in 0..4294967295.");
            }
            if (n == ids.length) {
                ids = Arrays.copyOf(ids, n * 2);
            }
            ids[n++] = (int) json.getLongValue();
        }
        return Arrays.copyOf(ids, n);
    }
}
