#!/usr/bin/env python3
"""Render chat templates with real Jinja2, set up as engines set it up, for ChatMlRecogniserTest.

Writes src/test/resources/tokens/chat_golden.json: for each template whether it is of the linear form (so that
it has to be recognised), and its rendering of each conversation. Needs: pip install jinja2==3.1.6
"""
import json
import pathlib

import jinja2.sandbox

ROOT = pathlib.Path(__file__).resolve().parents[3]
SPECIALS = {"bos_token": "<|endoftext|>", "eos_token": "<|im_end|>"}
CONVERSATIONS = [
    [("user", "Hi")],
    [("system", "Be brief."), ("user", "Why is the sky blue?")],
    [("user", "  two\n\nlines \n"), ("assistant", "<|im_end|> & <b> {{ x }} {% y %}"), ("user", "Grüße 🙂 'q' \"d\" \\n")],
    [("system", ""), ("user", ""), ("assistant", "\n"), ("user", "\t tab")],
    [("user", "a"), ("tool", "{\"rows\": 3}"), ("user", "b")],
]
LOOP = "{% for message in messages %}"
EMIT = "{{ '<|im_start|>' + message['role'] + '\\n' + message['content'] + '<|im_end|>' + '\\n' }}"
END = "{% endfor %}"
GEN = "{% if add_generation_prompt %}{{ '<|im_start|>assistant\\n' }}{% endif %}"
DEFAULT = ("{% if loop.first and messages[0]['role'] != 'system' %}"
           "{{ '<|im_start|>system\\nYou are helpful.<|im_end|>\\n' }}{% endif %}")
# name, linear form?, source
TEMPLATES = [
    ("plain", True, LOOP + EMIT + END + GEN),
    ("default system", True, LOOP + DEFAULT + EMIT + END + GEN),
    ("default for add_generation_prompt", True,
     "{% if not add_generation_prompt is defined %}{% set add_generation_prompt = false %}{% endif %}" + LOOP + EMIT + END + GEN),
    ("dots, double quotes and parentheses", True,
     LOOP + '{{ ("<|im_start|>" + message.role + "\\n" + message["content"] + "<|im_end|>\\n") }}' + END + GEN),
    ("text instead of expressions", True,
     LOOP + "<|im_start|>{{ message['role'] }}\n{{ message['content'] }}<|im_end|>\n" + END
     + "{% if add_generation_prompt %}<|im_start|>assistant\n{% endif %}"),
    ("lines, indents and trim marks", True,
     "{%- for message in messages %}\n    {{- '<|im_start|>' + message.role + '\\n' }}\n    {{- message.content -}}\n"
     "    {{- '<|im_end|>\\n' }}\n{%- endfor %}\n{%- if add_generation_prompt %}\n    {{- '<|im_start|>assistant\\n' }}\n{%- endif %}\n"),
    ("lines without trim marks", True,
     "{% for message in messages %}\n  {% if loop.first and messages[0].role != \"system\" %}\nSYS\n  {% endif %}\n"
     "<|im_start|>{{ message.role }}\n\n{{ message.content }}<|im_end|>\n\n{% endfor %}\n{% if add_generation_prompt %}\nGO\n\n{% endif %}\n"),
    ("inline statement keeps its blanks", True,
     "{% for message in messages %} {{ message.role }}: {{ message.content }}; {% endfor %}{% if add_generation_prompt %} assistant: {% endif %}"),
    ("begins with a token", True, "{{ bos_token }}" + LOOP + EMIT + END + GEN),
    ("ends each message with a token", True,
     LOOP + "{{ '<|im_start|>' + message['role'] + '\\n' + message['content'] + eos_token + '\\n' }}" + END + GEN),
    ("comments", True, "{# c '' \" #}\n" + LOOP + "{#- d -#} " + EMIT + END + "{# e #}" + GEN),
    ("no generation prompt", True, LOOP + EMIT + END),
    ("other marks", True, LOOP + "{{ '[' + message['role'] + '] ' + message['content'] + ' [/] ' }}" + END
     + "{% if add_generation_prompt %}{{ '[assistant] ' }}{% endif %}"),
    ("plus marks", True, "{%+ for message in messages +%}\n{{ message.role }}\n{{ message.content }}\n{%+ endfor +%}\n"),
    ("carriage returns", True, LOOP + "{{ message.role }}\r\n{{ message.content }}\r{% endfor %}\r\n"),
    ("tag marks inside strings", True, LOOP + "{{ '%} }} {%' + message.role + ' {# ' + message.content + '+' }}" + END + GEN),
    ("content trimmed", False, LOOP + "{{ '<|im_start|>' + message['role'] + '\\n' + message['content'] | trim + '<|im_end|>\\n' }}" + END + GEN),
    ("end mark not on the last", False,
     LOOP + "{{ '<|im_start|>' + message['role'] + '\\n' + message['content'] }}{% if not loop.last %}{{ '<|im_end|>\\n' }}{% endif %}" + END + GEN),
    ("roles in capitals", False, LOOP + "{{ message['role'] | upper + ': ' + message['content'] + '\\n' }}" + END + GEN),
    ("only some roles", False, LOOP + "{% if message['role'] != 'tool' %}" + EMIT + "{% endif %}" + END + GEN),
    ("loop over a slice", False, "{% for message in messages[1:] %}" + EMIT + END + GEN),
    ("thinking off", False, LOOP + EMIT + END + GEN + "{% if add_generation_prompt and not enable_thinking %}{{ '<think></think>' }}{% endif %}"),
    ("text after the messages", False, LOOP + EMIT + END + "tail" + GEN),
    ("role twice", False, LOOP + "{{ message.role + message.role + message.content }}" + END),
    ("content before role", False, LOOP + "{{ message.content + message.role }}" + END),
    ("escape of another kind", False, LOOP + "{{ '\\x41' + message.role + message.content }}" + END),
    ("two strings side by side", False, LOOP + "{{ 'a' 'b' + message.role + message.content }}" + END),
    ("arithmetic", False, LOOP + "{{ message.role + message.content * 2 }}" + END),
    ("a line break inside a string", True, LOOP + "{{ '<|im_start|>' + message.role + '\n  x' + message.content }}" + END + GEN),
    ("default system after some text", False, LOOP + "x" + DEFAULT + EMIT + END + GEN),
]


def environment():
    return jinja2.sandbox.ImmutableSandboxedEnvironment(trim_blocks=True, lstrip_blocks=True, extensions=["jinja2.ext.loopcontrols"])


def main():
    cases = []
    for name, linear, source in TEMPLATES:
        template = environment().from_string(source)
        renderings = []
        for conversation in CONVERSATIONS:
            messages = [{"role": r, "content": c} for r, c in conversation]
            for generation in (True, False):
                text = template.render(messages=messages, add_generation_prompt=generation, tools=None, documents=None, **SPECIALS)
                renderings.append({"messages": messages, "addGenerationPrompt": generation, "text": text})
        cases.append({"name": name, "linear": linear, "template": source, "renderings": renderings})
    out = ROOT / "src/test/resources/tokens/chat_golden.json"
    out.write_text(json.dumps({"specialTokens": SPECIALS, "cases": cases}, indent=1) + "\n", encoding="utf-8")
    print(f"{out}: {len(cases)} templates")


if __name__ == "__main__":
    main()
