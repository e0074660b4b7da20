#!/usr/bin/env python3
"""Writes src/test/resources/templates/content-formats.jsonl: what the engines themselves find out about templates, for ContentFormatsTest.

A line: name, template (absent: families/NAME.jinja), and the verdicts "string" or "openai" of
vLLM 0.32.0 (vllm.renderers.hf._detect_content_format) and
SGLang 0.5.23 (sglang.srt.parser.jinja_template_utils.detect_jinja_template_content_format).

    python3 src/test/python/templates/make_content_formats.py VLLM_PYTHON SGLANG_PYTHON

Both are Python executables of environments in which that engine is installed; no model and no accelerator is needed.
"""
import json
import pathlib
import random
import subprocess
import sys

TEMPLATES = pathlib.Path(__file__).resolve().parents[2] / "resources" / "templates"
RANDOM_CASES = 400
PARTS = "{% for p in X %}{{ p.text }}{% endfor %}"
CHAT = "{% for m in messages %}{{ CALL }}{% endfor %}"


def macro(signature, body, *calls):
    """A macro, and a chat for each call of it."""
    return "{% macro " + signature + " %}" + body + "{% endmacro %}" + "".join(CHAT.replace("CALL", call) for call in calls)


def over(what):
    return PARTS.replace("X", what)


def chat(body):
    return "{% for m in messages %}" + body + "{% endfor %}"


NAMED = {
    # Macros.
    "a positional argument": macro("f(c)", over("c"), "f(m.content)"),
    "a positional argument, the name before the macro": chat("{{ f(m.content) }}") + macro("f(c)", over("c")),
    "the second of three positional arguments": macro("f(a, b, c)", over("b"), "f(m.role, m.content, 1)"),
    "the other of two positional arguments": macro("f(a, b)", over("b"), "f(m.content, m.role)"),
    "more arguments than parameters": macro("f(a)", over("b"), "f(m.role, m.content)"),
    "a keyword argument": macro("f(a, c=none)", over("c"), "f(m.role, c=m.content)"),
    "a keyword that is no parameter": macro("f(a)", over("kwargs.c"), "f(m.role, c=m.content)"),
    "a keyword named content that is no parameter": macro("f(a)", over("content"), "f(m.role, content=m.content)"),
    "a default that is the content": macro("f(c=messages[0].content)", over("c"), "f()"),
    "a default that is the content of a loop's message": chat(macro("f(c=m.content)", over("c")) + "{{ f() }}"),
    "a parameter with a default, given": macro("f(c='')", over("c"), "f(m.content)"),
    "an item of the message": macro("f(c)", over("c"), "f(m['content'])"),
    "a filtered content": macro("f(c)", over("c"), "f(m.content | list)"),
    "a sliced content": macro("f(c)", over("c"), "f(m.content[1:])"),
    "a tested content": macro("f(c)", over("c"), "f(m.content is string)"),
    "a negated test of the content": macro("f(c)", over("c"), "f(m.content is not string)"),
    "one part of the content": macro("f(c)", over("c"), "f(m.content[0])"),
    "the content or nothing": macro("f(c)", over("c"), "f(m.content or [])"),
    "get of the content": macro("f(c)", over("c"), "f(m.get('content'))"),
    "the content of no message": macro("f(c)", over("c"), "f(tool.content)"),
    "the first message's content": macro("f(c)", over("c")) + "{{ f(messages[0].content) }}",
    "a star": macro("f(c)", over("c"), "f(*[m.content])"),
    "two stars": macro("f(c)", over("c"), "f(**{'c': m.content})"),
    "a list around the content": macro("f(c)", over("c"), "f([m.content])"),
    "the message as the argument": macro("f(m)", over("m.content"), "f(m)"),
    "the message under another name": macro("f(x)", over("x.content"), "f(m)"),
    "a loop over a filtered parameter": macro("f(c)", over("c | list"), "f(m.content)"),
    "a loop over a sliced parameter": macro("f(c)", over("c[1:]"), "f(m.content)"),
    "a loop over a member of the parameter": macro("f(c)", over("c.parts"), "f(m.content)"),
    "a loop under if": macro("f(c)", "{% if c is string %}{{ c }}{% else %}" + over("c") + "{% endif %}", "f(m.content)"),
    "a loop in a loop": macro("f(c, n)", "{% for i in range(n) %}" + over("c") + "{% endfor %}", "f(m.content, 2)"),
    "a loop over another parameter": macro("f(c, d)", over("d"), "f(m.content, m.tools)"),
    "a loop with two variables over the parameter": macro("f(c)", "{% for a, b in c %}{% endfor %}", "f(m.content)"),
    "a loop with two variables after a good one": macro("f(c)", over("c") + "{% for a, b in c %}{% endfor %}", "f(m.content)"),
    "a loop with two variables over something else first": macro("f(c)", "{% for a, b in c.x %}{% endfor %}" + over("c"), "f(m.content)"),
    "the parameter set to another name": macro("f(c)", "{% set d = c %}" + over("d"), "f(m.content)"),
    "the parameter set to itself": macro("f(c)", "{% set c = c %}" + over("c"), "f(m.content)"),
    "a parameter named content, never called": macro("f(content)", over("content")),
    "a parameter named content, given the content": macro("f(content)", over("content"), "f(m.content)"),
    "a parameter named content, given something else": macro("f(content)", over("content"), "f(m.role)"),
    "a parameter named content, given the content set": macro("f(content)", over("content")) + chat("{% set x = m.content %}{{ f(x) }}"),
    "a variable content in a macro": macro("f(m)", "{% set content = m.content %}" + over("content"), "f(m)"),
    "a variable content in a macro that is handed another content": macro("f(c)", "{% set content = c %}" + over("content"), "f(m.content)"),
    "a variable content outside of macros": chat("{% set content = m.content %}" + over("content")),
    "a variable content outside and a macro without": macro("f(c)", "{{ c }}", "f(m.role)") + chat("{% set content = m.content %}" + over("content")),
    "a variable of another name outside of macros": chat("{% set x = m.content %}" + over("x")),
    "a parameter's name outside of its macro": macro("f(c)", "{{ c }}", "f(m.content)") + over("c"),
    "a content block": chat("{% set content %}{{ m.content }}{% endset %}" + over("content")),
    "two macros, the other is given the content": macro("f(c)", over("c"), "f(m.role)") + macro("g(c)", "{{ c }}", "g(m.content)"),
    "two macros of one name": macro("f(c)", "{{ c }}") + macro("f(a, d)", over("d"), "f(m.content, m.content)"),
    "two macros of one name, the second's parameter elsewhere": macro("f(c)", over("c")) + macro("f(d)", "{{ d }}", "f(m.content)"),
    "a macro called by a macro": macro("f(c)", over("c")) + macro("g(d)", "{{ f(d) }}", "g(m.content)"),
    "a macro called by a macro, both with the content": macro("f(c)", over("c")) + macro("g(d)", chat("{{ f(m.content) }}"), "g(m.content)"),
    "a macro in a macro, the inner one called": macro("f(c)", macro("g(d)", over("d")) + "{{ g(c) }}", "f(m.content)"),
    "a macro in a macro, the outer one's parameter in the inner one": macro("f(c)", macro("g(d)", over("c")) + "{{ g(1) }}", "f(m.content)"),
    "a macro in a macro, both handed the content": macro("f(c)", macro("g(d)", over("c"), "g(m.content)"), "f(m.content)"),
    "a macro in a macro, both handed the content, its own": macro("f(c)", macro("g(d)", over("d"), "g(m.content)"), "f(m.content)"),
    "a macro in a loop over messages": chat(macro("f()", over("m.content")) + "{{ f() }}"),
    "a macro that is a variable": "{% set f = namespace(g=1) %}" + macro("g(c)", over("c"), "f.g(m.content)"),
    "a macro set to a variable": macro("g(c)", over("c")) + "{% set f = g %}" + chat("{{ f(m.content) }}"),
    "a call in a condition": macro("f(c)", over("c")) + chat("{% if f(m.content) %}{% endif %}"),
    "a call in a set": macro("f(c)", over("c")) + chat("{% set x = f(m.content) | trim %}{{ x }}"),
    "a call in an argument": macro("f(c)", over("c"), "g(a=[{'k': f(m.content)}])"),
    "a call in a loop's source": macro("f(c)", over("c")) + chat("{% for l in f(m.content).split(',') if l %}{% endfor %}"),
    "a call in a loop's condition": macro("f(c)", over("c")) + chat("{% for l in m.x if f(m.content) %}{% endfor %}"),
    "a call in a default": macro("f(c)", over("c")) + chat("{% macro g(x=f(m.content)) %}{% endmacro %}"),
    "a call in a filter block": macro("f(c)", over("c")) + chat("{% filter replace(f(m.content), '') %}{% endfilter %}"),
    "a call in a subscript": macro("f(c)", over("c"), "m[f(m.content)]"),
    "a call in a slice": macro("f(c)", over("c"), "m[f(m.content):]"),
    "a call in a choice": macro("f(c)", over("c"), "'' if f(m.content) else '-'"),
    "a call in a test": macro("f(c)", over("c"), "1 is eq(f(m.content))"),
    "a call in a comparison": macro("f(c)", over("c"), "1 < 2 == f(m.content)"),
    # Call blocks.
    "a call block": macro("f(c)", over("c") + "{{ caller() }}") + chat("{% call f(m.content) %}x{% endcall %}"),
    "a call block with a keyword": macro("f(a=1, c=2)", over("c") + "{{ caller() }}") + chat("{% call f(c=m.content) %}x{% endcall %}"),
    "a call block's own parameter": macro("f(c)", "{{ caller(c) }}") + chat("{% call(content) f(m.content) %}" + over("content") + "{% endcall %}"),
    "a call block's own parameter of another name": macro("f(c)", "{{ caller(c) }}") + chat("{% call(d) f(m.content) %}" + over("d") + "{% endcall %}"),
    "a call block in a macro": macro("g()", "{{ caller() }}") + macro("f(c)", "{% call g() %}" + over("c") + "{% endcall %}", "f(m.content)"),
    "a call block in a macro, over content": macro("g()", "{{ caller() }}") + macro("f(c)", "{% call g() %}" + over("content") + "{% endcall %}", "f(m.content)"),
    "caller given the content": chat("{{ caller(m.content) }}") + macro("caller(c)", over("c")),
    # Without macros.
    "no loop": "{{ messages[0].content }}",
    "a loop over the content": chat(over("m.content")),
    "a loop over the content of a slice": "{% for m in messages[1:] %}" + over("m.content") + "{% endfor %}",
    "a loop over the content of filtered messages": "{% for m in messages | selectattr('role') %}" + over("m['content']") + "{% endfor %}",
    "a loop over reversed messages": "{% for m in messages[::-1] | list %}" + over("m.content | reverse") + "{% endfor %}",
    "messages under two other names": "{% set b = a %}{% set a = messages %}{% for m in b %}" + over("m.content") + "{% endfor %}",
    "messages under a name set in a branch": "{% if tools %}{% set a = messages[1:] %}{% else %}{% set a = messages %}{% endif %}{% for x in a %}" + over("x.content") + "{% endfor %}",
    "messages plus something": "{% set a = messages + [] %}{% for x in a %}" + over("x.content") + "{% endfor %}",
    "messages in a block": "{% set a %}{{ messages }}{% endset %}{% for x in a %}" + over("x.content") + "{% endfor %}",
    "messages in a namespace": "{% set ns = namespace(m=1) %}{% set ns.m = messages %}" + chat(over("m.content")),
    "something else in a namespace": "{% set ns = namespace(m=1) %}{% set ns.m = tools %}" + chat(over("m.content")),
    "messages and something in two names": "{% set a, b = messages, 1 %}" + chat(over("m.content")),
    "two names from the messages": "{% set a, b = messages %}" + chat(over("m.content")),
    "messages in two variables": "{% for a, b in messages %}{% endfor %}" + chat(over("m.content")),
    "messages in two variables by a filter": "{% for a, b in messages | items %}{% endfor %}" + chat(over("m.content")),
    "parts in two variables": chat("{% for a, b in m.content %}{% endfor %}"),
    "parts in one variable and then in two": chat(over("m.content") + "{% for a, b in m.content %}{% endfor %}"),
    "indexed messages": "{% for i in range(messages | length) %}{% set m = messages[i] %}" + over("m.content") + "{% endfor %}",
    "a loop over the content of no message": over("m.content"),
    "a loop over content of a message after the loop": chat("") + over("m.content"),
    "a loop over a constant's content": chat(over("'m'.content")),
    "a loop over the content's parts": chat(over("m.content.parts")),
    "a loop over the message": chat(over("m")),
    "a loop over the content in else": chat("") .replace("{% endfor %}", "{% else %}" + over("m.content") + "{% endfor %}"),
    "a loop over the content with a condition": chat("{% for p in m.content if p.text %}{% endfor %}"),
    "a loop over the content in a condition's body": chat("{% if a %}{% elif b %}" + over("m.content") + "{% endif %}"),
    "a loop over the content in a block of a set": chat("{% set x %}" + over("m.content") + "{% endset %}"),
    "a loop over the content in a filter block": chat("{% filter trim %}" + over("m.content") + "{% endfilter %}"),
    "a loop over the content in generation": chat("{% generation %}" + over("m.content") + "{% endgeneration %}"),
    "media in the source": "{% if image %}{% endif %}",
    "a loop over message.content outside": "{% for message in messages %}" + over("message.content") + "{% endfor %}",
    "a syntax error": "{% for %}",
}


def random_template(seed):
    """Pieces that share few names, so that they meet. A set goes to a later name only: vLLM never ends on a circle."""
    r = random.Random(seed)
    lists = ["messages", "rest", "more"]
    items = ["m", "message", "x"]
    params = ["c", "content", "d", "x"]
    macros = ["f", "g"]

    def piece(depth):
        kind = r.randrange(7 if depth else 4)
        if kind == 0:
            return "{% for p in " + source() + " %}{% endfor %}"
        if kind == 1:
            i = r.randrange(2)
            return "{% set " + r.choice(lists[i + 1:]) + " = " + lists[i] + r.choice(["", "[1:]", " | list", " + []"]) + " %}"
        if kind == 2:
            return "{{ " + call() + " }}"
        if kind == 3:
            return "{% set " + r.choice(["content", "c", "ns.c", "y"]) + " = " + r.choice([r.choice(items) + ".content", call(), "1"]) + " %}"
        body = "".join(piece(depth - 1) for _ in range(r.randrange(1, 4)))
        if kind == 4:
            target = r.choice(items) if r.random() < 0.95 else "k, v"
            return "{% for " + target + " in " + r.choice(lists) + r.choice(["", "[1:]", ".x"]) + " %}" + body + "{% endfor %}"
        if kind == 5:
            names = r.sample(params, r.randrange(1, 3))
            default = "=" + r.choice(["1", "none", r.choice(items) + ".content"]) if r.random() < 0.3 else ""
            return "{% macro " + r.choice(macros) + "(" + ", ".join(names) + default + ") %}" + body + "{% endmacro %}"
        return "{% call " + call() + " %}" + body + "{% endcall %}"

    def source():
        what = r.choice([r.choice(params), r.choice(params), r.choice(items) + ".content", "x.parts"])
        return what + (r.choice([" | list", "[1:]"]) if r.random() < 0.2 else "")

    def argument():
        return r.choice(items) + r.choice([".content", ".content", "['content']", ".role", ".content | trim", ".content[0]", ""])

    def call():
        given = [argument() for _ in range(r.randrange(0, 3))]
        if r.random() < 0.4:
            given.append(r.choice(params) + "=" + argument())
        return r.choice(macros) + "(" + ", ".join(given) + ")"

    return "".join(piece(3) for _ in range(r.randrange(2, 7)))


def rows():
    for file in sorted((TEMPLATES / "families").glob("*.jinja")):
        yield {"name": file.stem}
    for name, template in NAMED.items():
        yield {"name": name, "template": template}
    for seed in range(RANDOM_CASES):
        yield {"name": f"seed {seed}", "template": random_template(seed)}


def source(row):
    return row.get("template") or (TEMPLATES / "families" / (row["name"] + ".jinja")).read_text(encoding="utf-8")


def verdicts(engine):
    """Runs in the engine's own Python: a verdict per line on file descriptor 3, which the engine's own words do not reach."""
    import logging
    import os

    if engine == "vllm":
        from vllm.renderers.hf import _detect_content_format

        def detect(template):
            return _detect_content_format(template, default="string")
    else:
        from sglang.srt.parser.jinja_template_utils import detect_jinja_template_content_format as detect
    logging.disable(logging.CRITICAL)
    for row in rows():
        os.write(3, (detect(source(row)) + "\n").encode())


def ask(engine, python):
    script = 'exec 3>"$0"; exec "$1" "$2" "$3"'
    out = pathlib.Path("/tmp") / f"content-formats.{engine}"
    subprocess.run(["sh", "-c", script, str(out), python, __file__, engine], check=True)
    return out.read_text().split()


def main():
    if len(sys.argv) == 2:
        return verdicts(sys.argv[1])
    vllm, sglang = ask("vllm", sys.argv[1]), ask("sglang", sys.argv[2])
    lines = [{**row, "vllm": v, "sglang": s} for row, v, s in zip(rows(), vllm, sglang, strict=True)]
    with open(TEMPLATES / "content-formats.jsonl", "w", encoding="utf-8") as out:
        for line in lines:
            out.write(json.dumps(line) + "\n")
    for engine in ("vllm", "sglang"):
        print(engine, "openai:", sum(line[engine] == "openai" for line in lines), "of", len(lines))


if __name__ == "__main__":
    main()
