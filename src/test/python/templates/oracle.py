"""Jinja2 as Hugging Face's transformers sets it up, from the documented behaviour: the oracle of the template tests."""
import copy
import datetime
import json
import re

import jinja2
import jinja2.ext
import jinja2.nodes
import jinja2.sandbox


# What Python prints of functions and generators, and so nobody else can.
ADDRESS = re.compile(r"<[^<>]* at 0x[0-9a-f]+>|<class '|<built-in (?:function|method)")


class Generation(jinja2.ext.Extension):
    """{% generation %}: prints its body, through a call block."""

    tags = {"generation"}

    def parse(self, parser):
        line = next(parser.stream).lineno
        body = parser.parse_statements(("name:endgeneration",), drop_needle=True)
        return jinja2.nodes.CallBlock(self.call_method("_body"), [], [], body).set_lineno(line)

    def _body(self, caller):
        return caller()


class Raised(Exception):
    """raise_exception was called."""


def environment(now):
    def raise_exception(message):
        raise Raised(str(message))

    def tojson(value, ensure_ascii=False, indent=None, separators=None, sort_keys=False):
        return json.dumps(value, ensure_ascii=ensure_ascii, indent=indent, separators=separators, sort_keys=sort_keys)

    env = jinja2.sandbox.ImmutableSandboxedEnvironment(
        trim_blocks=True, lstrip_blocks=True, extensions=[Generation, jinja2.ext.loopcontrols])
    env.filters["tojson"] = tojson
    env.globals["raise_exception"] = raise_exception
    env.globals["strftime_now"] = lambda format: now.strftime(format)
    return env


TAG = "CONTINUE_FINAL_MESSAGE_TAG "
_compiled = {}


def render(case):
    """One line of ./warmpath render; returns {"text"} or {"error", "kind"}."""
    now = datetime.datetime.fromisoformat(case.get("now") or "2026-01-31T12:34:56")
    key = (case["template"], now)
    if key not in _compiled:
        if len(_compiled) > 2000:
            _compiled.clear()
        try:
            _compiled[key] = environment(now).from_string(case["template"])
        except Exception as e:
            _compiled[key] = e
    template = _compiled[key]
    if isinstance(template, Exception):
        return {"error": f"{type(template).__name__}: {template}", "kind": "SYNTAX"}
    try:
        return {"text": _chat(template, case)}
    except Raised as e:
        return {"error": str(e), "kind": "RAISED"}
    except Exception as e:
        return {"error": f"{type(e).__name__}: {e}", "kind": "FAILED"}


def _chat(template, case):
    messages = case["messages"]
    if not messages:
        raise ValueError("no messages")
    continued = case.get("continue_final_message")
    if continued:
        if case.get("add_generation_prompt"):
            raise ValueError("both")
        messages = copy.deepcopy(messages)
        last = messages[-1]["content"]
        if isinstance(last, list):
            for part in reversed(last):
                if "text" in part:
                    last = part["text"]
                    part["text"] = part["text"] + TAG
                    break
            else:
                raise ValueError("no text to continue")
        else:
            messages[-1]["content"] = messages[-1]["content"] + TAG
    variables = {**(case.get("special_tokens") or {}), **(case.get("chat_template_kwargs") or {})}
    text = template.render(messages=messages, tools=case.get("tools"), documents=case.get("documents"),
                           add_generation_prompt=bool(case.get("add_generation_prompt")), **variables)
    if continued:
        if last.strip() not in text or TAG.strip() not in text:
            raise ValueError("last message not printed")
        at = text.rindex(TAG.strip())
        text = text[:at] if text[at:at + len(TAG)] == TAG else text[:at].rstrip()
    return text
