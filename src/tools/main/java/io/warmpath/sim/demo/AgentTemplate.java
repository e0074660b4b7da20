package io.warmpath.sim.demo;

import com.fasterxml.jackson.databind.JsonNode;

/**
 * The chat template of the agents' model: thinking is switched off by an empty thought in front of
 * an answer, which later prompts leave out. So what an engine has cached of an answer does not fit
 * the next turn. Written twice, for the gateway and, in other words, for the engines.
 */
final class AgentTemplate {
    /** For the gateway. */
    static final String JINJA =
            """
            {%- for message in messages -%}
                {{- '<|im_start|>' + message.role + '\\n' + message.content + '<|im_end|>\\n' -}}
            {%- endfor -%}
            {%- if add_generation_prompt -%}
                {{- '<|im_start|>assistant\\n<think>\\n\\n</think>\\n\\n' -}}
            {%- endif -%}
            """;

    private AgentTemplate() {}

    /** As an engine writes it. */
    static String text(JsonNode request) {
        StringBuilder text = new StringBuilder();
        for (JsonNode message : request.path("messages")) {
            text.append("<|im_start|>").append(message.path("role").asText()).append('\n');
            text.append(message.path("content").asText()).append("<|im_end|>\n");
        }
        return text.append("<|im_start|>assistant\n<think>\n\n</think>\n\n").toString();
    }
}
