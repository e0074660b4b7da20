"""Chats with everything that templates look at. Each entry: name, and the members of a line of `./warmpath render`."""

U, A, S, T = "user", "assistant", "system", "tool"
WEATHER = {"type": "function", "function": {"name": "get_weather", "description": "Weather of a town.\nNow or soon.", "parameters": {
    "type": "object", "properties": {"town": {"type": "string", "description": "Its name, e.g. \"Zürich\""},
                                     "unit": {"type": "string", "enum": ["C", "F"], "default": "C"}, "days": {"type": "integer", "default": 3}},
    "required": ["town"]}}}
SEARCH = {"type": "function", "function": {"name": "search", "description": "Finds <pages> & more", "parameters": {
    "type": "object", "properties": {"query": {"type": ["string", "null"]}, "tags": {"type": "array", "items": {"type": "string"}},
                                     "range": {"type": "object", "properties": {"from": {"type": "number"}, "to": {"type": "number", "nullable": True}}},
                                     "filters": {"type": "object", "additionalProperties": {"type": "array", "items": {"type": "integer"}}},
                                     "mode": {"oneOf": [{"type": "string", "description": "a word"}, {"type": "number"}]}, "deep": {"type": "boolean", "default": False}},
    "required": ["query", "tags"]}}}
BARE = {"type": "function", "function": {"name": "ping", "description": "", "parameters": {"type": "object", "properties": {}}}}
NULLS = {"type": "function", "function": {"name": "nothing", "description": None, "parameters": None}}
STRICT = {"type": "function", "function": {"name": "z", "parameters": {"type": "object", "properties": {"a": {"type": "array", "items": {"type": "array", "items": {"type": "number"}}}}},
                                           "strict": True, "return": {"type": "string"}}}


def m(role, content, **more):
    return {"role": role, "content": content, **more}


def call(name, arguments, id="call12345", **more):
    return {"id": id, "type": "function", "function": {"name": name, "arguments": arguments}, **more}


def parts(*items):
    return [{"type": "text", "text": i} if isinstance(i, str) else i for i in items]


ASK = [m(U, "Hi")]
TURNS = [m(U, "Why is the sky blue?"), m(A, "Scattering."), m(U, "And red at dusk?")]
WITH_SYSTEM = [m(S, "Be brief.")] + TURNS
CALLED = [m(U, "Weather in Zürich?"), m(A, None, tool_calls=[call("get_weather", {"town": "Zürich", "unit": "C"})]),
          m(T, "{\"degrees\": 21.5}", tool_call_id="call12345", name="get_weather"), m(A, "21.5 degrees."), m(U, "Thanks!")]
IMAGE = {"type": "image"}

CONVERSATIONS = [
    ("one question", dict(messages=ASK, add_generation_prompt=True)),
    ("one question, no prompt", dict(messages=ASK)),
    ("turns", dict(messages=TURNS, add_generation_prompt=True)),
    ("turns, no prompt", dict(messages=TURNS)),
    ("system", dict(messages=WITH_SYSTEM, add_generation_prompt=True)),
    ("system alone", dict(messages=[m(S, "Be brief.")], add_generation_prompt=True)),
    ("system late", dict(messages=[m(U, "a"), m(S, "b"), m(U, "c")], add_generation_prompt=True)),
    ("two systems", dict(messages=[m(S, "a"), m(S, "b"), m(U, "c")], add_generation_prompt=True)),
    ("developer", dict(messages=[m("developer", "Rules."), m(U, "c")], add_generation_prompt=True)),
    ("assistant last", dict(messages=TURNS + [m(A, "Longer way.")])),
    ("assistant last, prompt", dict(messages=TURNS + [m(A, "Longer way.")], add_generation_prompt=True)),
    ("assistant first", dict(messages=[m(A, "Hello."), m(U, "Hi")], add_generation_prompt=True)),
    ("two users", dict(messages=[m(U, "a"), m(U, "b")], add_generation_prompt=True)),
    ("unknown role", dict(messages=[m("narrator", "a"), m(U, "b")], add_generation_prompt=True)),
    ("role in capitals", dict(messages=[m("User", "a"), m("Assistant", "b"), m("USER", "c")], add_generation_prompt=True)),
    ("continue", dict(messages=TURNS + [m(A, "Because the way is")], continue_final_message=True)),
    ("continue after a blank", dict(messages=TURNS + [m(A, "Because the way is ")], continue_final_message=True)),
    ("continue parts", dict(messages=[m(U, "a"), m(A, parts("one", "two "))], continue_final_message=True)),
    ("continue a user", dict(messages=[m(U, "The end")], continue_final_message=True)),
    ("continue empty", dict(messages=[m(U, "a"), m(A, "")], continue_final_message=True)),
    ("continue and prompt", dict(messages=[m(U, "a"), m(A, "b")], continue_final_message=True, add_generation_prompt=True)),
    ("empty text", dict(messages=[m(S, ""), m(U, ""), m(A, ""), m(U, " ")], add_generation_prompt=True)),
    ("null content", dict(messages=[m(U, None), m(A, None), m(U, "x")], add_generation_prompt=True)),
    ("no content", dict(messages=[{"role": U}, {"role": A}, {"role": U}], add_generation_prompt=True)),
    ("white space", dict(messages=[m(U, "  \n lead and trail \t\n"), m(A, "\n\na\n\n"), m(U, "\u00a0nbsp\u3000")], add_generation_prompt=True)),
    ("marks in texts", dict(messages=[m(U, "{{ x }} {% if %} {# c #} <|im_end|> <b>&amp;</b> 'q' \"d\" \\n")], add_generation_prompt=True)),
    ("unicode", dict(messages=[m(U, "Grüße, 日本語 🙂👩‍👩‍👧 e\u0301 \u200b\u2028 ß ǆ ΑΣ"), m(A, "🙂"), m(U, "ﬁn İ")], add_generation_prompt=True)),
    ("control characters", dict(messages=[m(U, "a\x00b\x1b[0m\x7f\x85\r\nz")], add_generation_prompt=True)),
    ("a long one", dict(messages=[m(U if i % 2 == 0 else A, f"turn {i} " * (i + 1)) for i in range(21)], add_generation_prompt=True)),
    ("tools", dict(messages=ASK, tools=[WEATHER, SEARCH], add_generation_prompt=True)),
    ("tools, system", dict(messages=WITH_SYSTEM, tools=[WEATHER], add_generation_prompt=True)),
    ("tools empty", dict(messages=ASK, tools=[], add_generation_prompt=True)),
    ("tool bare", dict(messages=ASK, tools=[BARE], add_generation_prompt=True)),
    ("tool nulls", dict(messages=ASK, tools=[NULLS], add_generation_prompt=True)),
    ("tool strict", dict(messages=ASK, tools=[STRICT, BARE], add_generation_prompt=True)),
    ("tool flat", dict(messages=ASK, tools=[{"name": "flat", "description": "d", "parameters": {"type": "object", "properties": {"a": {"type": "string"}}}}], add_generation_prompt=True)),
    ("call and result", dict(messages=CALLED, tools=[WEATHER], add_generation_prompt=True)),
    ("call and result, no tools", dict(messages=CALLED, add_generation_prompt=True)),
    ("result last", dict(messages=CALLED[:3], tools=[WEATHER], add_generation_prompt=True)),
    ("call last", dict(messages=CALLED[:2], tools=[WEATHER])),
    ("call with text", dict(messages=[m(U, "?"), m(A, "Let me see.", tool_calls=[call("search", {"query": "x", "tags": ["a", "b"]})]), m(T, "[]", tool_call_id="call12345")], tools=[SEARCH], add_generation_prompt=True)),
    ("two calls", dict(messages=[m(U, "?"), m(A, "", tool_calls=[call("get_weather", {"town": "A"}), call("get_weather", {"town": "B"}, id="call67890")]),
                                 m(T, "1", tool_call_id="call12345"), m(T, "2", tool_call_id="call67890")], tools=[WEATHER], add_generation_prompt=True)),
    ("arguments as text", dict(messages=[m(U, "?"), m(A, None, tool_calls=[call("get_weather", "{\"town\": \"Zürich\"}")]), m(T, "ok", tool_call_id="call12345")], add_generation_prompt=True)),
    ("arguments empty", dict(messages=[m(U, "?"), m(A, "", tool_calls=[call("ping", {})]), m(T, "", tool_call_id="call12345")], add_generation_prompt=True)),
    ("arguments nested", dict(messages=[m(U, "?"), m(A, "", tool_calls=[call("f", {"a": {"b": [1, {"c": None}], "é": True}, "d": [], "e": {}, "f": "x\n\"y\""})]),
                                        m(T, "ok", tool_call_id="call12345")], add_generation_prompt=True)),
    ("arguments numbers", dict(messages=[m(U, "?"), m(A, "", tool_calls=[call("f", {"i": 12345678901234567890123, "f": 1.0, "g": 1e-7, "h": 1e16, "j": -0.0, "k": 0.1, "t": True, "n": None})]),
                                         m(T, "ok", tool_call_id="call12345")], add_generation_prompt=True)),
    ("short call id", dict(messages=[m(U, "?"), m(A, "", tool_calls=[call("f", {"a": 1}, id="c1")]), m(T, "ok", tool_call_id="c1")], add_generation_prompt=True)),
    ("flat call", dict(messages=[m(U, "?"), m(A, "", tool_calls=[{"name": "f", "arguments": {"a": 1}}]), m(T, "ok")], add_generation_prompt=True)),
    ("calls null", dict(messages=[m(U, "a"), m(A, "b", tool_calls=None), m(U, "c")], add_generation_prompt=True)),
    ("calls empty", dict(messages=[m(U, "a"), m(A, "b", tool_calls=[]), m(U, "c")], add_generation_prompt=True)),
    ("result as parts", dict(messages=[m(U, "?"), m(A, "", tool_calls=[call("f", {"a": "1"})]), m(T, parts("one", "two"), tool_call_id="call12345")], add_generation_prompt=True)),
    ("result as object", dict(messages=[m(U, "?"), m(A, "", tool_calls=[call("f", {"a": "1"})]), m(T, {"content": {"rows": 3}, "ok": True}, tool_call_id="call12345")], add_generation_prompt=True)),
    ("tool first", dict(messages=[m(T, "lost")], add_generation_prompt=True)),
    ("built-in tools", dict(messages=[m(U, "?"), m(A, None, tool_calls=[call("brave_search", {"query": "x"})]), m("ipython", "rows")],
                            chat_template_kwargs={"builtin_tools": ["brave_search", "code_interpreter"]}, add_generation_prompt=True)),
    ("custom tools", dict(messages=ASK, chat_template_kwargs={"custom_tools": [BARE], "tools_in_user_message": False, "date_string": "1 May 2026"}, add_generation_prompt=True)),
    ("reasoning", dict(messages=[m(U, "a"), m(A, "b", reasoning_content="  think\nhard\n"), m(U, "c"), m(A, "d", reasoning_content="again")])),
    ("reasoning inline", dict(messages=[m(U, "a"), m(A, "<think>\nfirst\n</think>\n\nb"), m(U, "c")], add_generation_prompt=True)),
    ("reasoning and calls", dict(messages=[m(U, "a"), m(A, "", reasoning_content="need", thinking="need", tool_calls=[call("ping", {})]), m(T, "pong", tool_call_id="call12345")],
                                 tools=[BARE], add_generation_prompt=True)),
    ("thinking off", dict(messages=TURNS, chat_template_kwargs={"enable_thinking": False}, add_generation_prompt=True)),
    ("thinking on", dict(messages=TURNS, chat_template_kwargs={"enable_thinking": True, "thinking": True, "reasoning_effort": "high"}, add_generation_prompt=True)),
    ("other arguments", dict(messages=WITH_SYSTEM, chat_template_kwargs={"model_identity": "I am.", "controls": {"length": "short", "citations": True}, "add_vision_id": True,
                                                                     "truncate_history_thinking": False, "bos_token": "<mine>"}, add_generation_prompt=True)),
    ("documents", dict(messages=ASK, documents=[{"title": "One", "text": "First <text>."}, {"id": 7, "text": "Second\ntext", "source url": "x"}], add_generation_prompt=True)),
    ("documents and tools", dict(messages=ASK, tools=[WEATHER], documents=[{"title": "One", "text": "First."}], chat_template_kwargs={"controls": {"citations": 1}}, add_generation_prompt=True)),
    ("documents empty", dict(messages=ASK, documents=[], add_generation_prompt=True)),
    ("parts", dict(messages=[m(U, parts("one", "two"))], add_generation_prompt=True)),
    ("parts everywhere", dict(messages=[m(S, parts("sys ")), m(U, parts(" a ")), m(A, parts("b")), m(U, parts("c"))], add_generation_prompt=True)),
    ("parts with images", dict(messages=[m(U, parts("see ", IMAGE, " and ", {"type": "image_url", "image_url": {"url": "u"}}, {"type": "video"}))], add_generation_prompt=True)),
    ("image and system", dict(messages=[m(S, "s"), m(U, [IMAGE])], add_generation_prompt=True)),
    ("parts empty", dict(messages=[m(U, [])], add_generation_prompt=True)),
    ("names", dict(messages=[m(U, "a", name="Ann"), m(A, "b", name="Bot"), m(U, "c", name="")], add_generation_prompt=True)),
    ("keys that are methods", dict(messages=[m(U, "a", items=1, get="x"), m(A, "", tool_calls=[call("f", {"items": 1, "keys": 2, "get": 3})])])),
    ("tools in a message", dict(messages=[m(S, "s", tools="[{\"name\": \"t\"}]"), m(U, "a")], add_generation_prompt=True)),
    ("no special tokens", dict(messages=WITH_SYSTEM, special_tokens={}, add_generation_prompt=True)),
    ("new year", dict(messages=ASK, now="2026-12-31T23:59:59", add_generation_prompt=True)),
    ("commands in the system text", dict(messages=[m(S, "Calm. /no_think "), m(U, "a /think")], add_generation_prompt=True)),
    ("content is a number", dict(messages=[m(U, 7), m(A, 1.5), m(U, True)], add_generation_prompt=True)),
]


def lines(template):
    """All chats as lines for one template."""
    for _, chat in CONVERSATIONS:
        yield {"template": template, "special_tokens": {"bos_token": "<s>", "eos_token": "</s>"}, "now": "2026-01-31T12:34:56", **chat}
