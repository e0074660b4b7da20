package io.warmpath.api.client;

import io.warmpath.api.direct.DirectApi;
import io.warmpath.api.direct.TokenizeApi;
import io.warmpath.api.inference.InferenceEndpoint;
import io.warmpath.api.messages.MessagesApi;

/**
 * What the resources for clients need of a running gateway.
 *
 * @param requests how each request comes in
 */
public record ClientApis(
        ClientRequests requests,
        InferenceEndpoint inference,
        MessagesApi messages,
        DirectApi direct,
        TokenizeApi tokenize) {}
